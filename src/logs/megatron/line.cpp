#include "logs/megatron/megatron.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

void take_field(MegatronLine& out, std::string_view key, std::string_view value) {
  LogText at(value);
  switch (key.empty() ? '\0' : key.front()) {
    case 'a':
      if (key == "approx flops per GPU") out.approx_flops = at.number(12);
      break;
    case 'c':
      if (key == "consumed tokens") {
        out.consumed_tokens = at.number();
      } else if (key == "compute per GPU (TFLOP/s/GPU)") {
        out.tflops = at.number();
        out.compute_per_gpu = true;
      }
      break;
    case 'e':
      if (key.starts_with("elapsed time per iteration (")) {
        out.in_seconds = key.ends_with("(s)");
        const int shift = out.in_seconds ? 0 : -3;
        const std::string_view printed = trimmed(at.rest());
        out.iteration_s = positive(at.number(shift));
        // A time of 0 or nan is missing, but its line is still a step.
        out.without_time = !out.iteration_s && !printed.empty();
        if (at.take("/")) out.iteration_mean_s = positive(at.number(shift));
      }
      break;
    case 'g':
      if (key == "global batch size") out.global_batch = positive(at.number());
      break;
    case 'h':
      if (key.starts_with("hip mem usage")) out.compute_per_gpu = true;
      break;
    case 'l':
      if (key.starts_with("lm") && key.find("loss") != std::string_view::npos) out.loss = true;
      break;
    case 's':
      if (key == "samples per second" || key == "samples/sec") {
        out.samples_per_s = positive(at.number());
      }
      break;
    case 't':
      if (key == "throughput per GPU (TFLOP/s/GPU)") {
        out.tflops = at.number();
        if (at.take("/")) out.compute_per_gpu = true;
      } else if (key == "tokens/s/GPU inst/harmonic mean" ||
                 key == "tokens per GPU (tokens/s/GPU)") {
        out.tokens_per_s_per_gpu = positive(at.number());
        out.compute_per_gpu = true;
      }
      break;
    case 'T':
      if (key == "TFLOPs") out.hardware_tflops = positive(at.number());
      break;
    default:
      break;
  }
}

}  // namespace

std::optional<MegatronLine> parse_megatron_line(std::string_view text) {
  // The number has blanks or a slash around it: "iteration 34/   10000 |".
  std::size_t word = text.find("iteration ");
  MegatronLine out;
  for (;;) {
    if (word == std::string_view::npos) return std::nullopt;
    LogText at(text.substr(word + 10));
    const auto iteration = at.integer();
    at.blanks();
    if (iteration && *iteration >= 0 && at.take("/") && at.integer()) {
      at.blanks();
      if (at.take("|")) {
        out.iteration = *iteration;
        const std::string_view before = text.substr(0, word);
        const std::size_t samples = before.find("samples/sec:");
        if (samples != std::string_view::npos) {
          out.samples_first = true;
          out.samples_per_s = positive(number_after(before, "samples/sec:"));
        }
        text = at.rest();
        break;
      }
    }
    word = text.find("iteration ", word + 1);
  }
  for (std::size_t from = 0; from < text.size();) {
    std::size_t bar = text.find('|', from);
    if (bar == std::string_view::npos) bar = text.size();
    const std::string_view field = trimmed(text.substr(from, bar - from));
    from = bar + 1;
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos) continue;
    // Primus' keys have colons of their own only behind the first one: "hip mem usage/free/...:".
    take_field(out, field.substr(0, colon), field.substr(colon + 1));
  }
  return out;
}

std::vector<std::string_view> megatron_words(std::initializer_list<std::string_view> own) {
  // Argument lines have at least three dots between name and value.
  std::vector<std::string_view> words{"... ", "padded vocab", "save-checkpoint", "evaluate",
                                      "Saved Kineto trace"};
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

void MegatronFamily::line(const LogLine& line) {
  if (line.text.find("iteration ") != std::string_view::npos) {
    if (const auto parsed = parse_megatron_line(line.text)) {
      LoggedStep step = step_at(line, parsed->iteration);
      step.step_s = parsed->iteration_s;
      step.global_batch = parsed->global_batch;
      step.samples_per_s = parsed->samples_per_s;
      step.tokens_per_s_per_gpu = parsed->tokens_per_s_per_gpu;
      step.tokens = parsed->consumed_tokens;  // finish() takes the differences
      if (parsed->tflops && *parsed->tflops > 0.0) {
        step.model_flops_per_s_per_gpu = *parsed->tflops * 1e12;
      }
      // Megatron leaves the loss out where every update of the interval was skipped.
      step.skipped =
          !parsed->loss && line.text.find("skipped iterations:") != std::string_view::npos;
      if ((step.step_s || parsed->without_time) && accept(*parsed, step, line)) {
        steps.add(step, line.origin);
      }
      return;
    }
  }
  take_pause(line);
  if (!arguments_.take(line)) other(line);
}

void MegatronFamily::take_pause(const LogLine& line) {
  if (line.text.find("Saved Kineto trace") != std::string_view::npos) {
    pause("profiler", line, 0.0);
    return;
  }
  // "save-checkpoint ......: (24895.07, 24895.13)": all ranks wait for the slowest. Old:
  // "time (ms) | save-checkpoint: 0.35".
  for (const auto& [timer, kind] :
       {std::pair<std::string_view, const char*>{"save-checkpoint", "checkpoint"},
        {"evaluate", "evaluation"}}) {
    LogText at(line.text);
    if (!at.find(timer)) continue;
    at.blanks();
    const bool dotted = at.peek() == '.';
    while (at.take(".")) {
    }
    if (!at.take(":")) continue;
    at.blanks();
    std::optional<double> value;
    if (at.take("(")) {
      value = at.number(-3);
      if (at.take(",")) value = at.number(-3);
    } else if (dotted || line.text.find("time (ms)") != std::string_view::npos) {
      value = at.number(-3);
    }
    if (value && *value >= 0.0) pause(kind, line, *value);
  }
}

void MegatronFamily::end() { arguments_.apply(found, notes); }

void MegatronFamily::finish(std::vector<LogSegment>& segments) {
  tokens_from_total(segments);
  if (const auto interval = arguments_.number("log_interval");
      interval && *interval >= 1.0 && *interval <= 1e6) {
    for (LogSegment& segment : segments) {
      for (LoggedStep& step : segment.steps) {
        if (step.steps_averaged == 1) step.steps_averaged = static_cast<int>(*interval);
      }
    }
  } else {
    averages_from_distance(segments);
  }
  if (found.seq_len) return;
  // Where tokens are counted beside samples, their ratio is the sequence length.
  std::optional<double> length;
  std::int64_t line = 0;
  for (const LogSegment& segment : segments) {
    for (const LoggedStep& step : segment.steps) {
      if (!step.tokens || !step.global_batch) continue;
      const double one = *step.tokens / *step.global_batch;
      if (length && *length != one) return;
      if (!length) line = step.line;
      length = one;
    }
  }
  set(found.seq_len, "seq_len", length, "consumed tokens over global batch size", line);
}

}  // namespace mfu
