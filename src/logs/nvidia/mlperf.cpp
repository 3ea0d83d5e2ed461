// MLPerf: ":::MLLOG {"time_ms": .., "event_type": .., "key": .., "value": .., "metadata": {..}}".
// Step times are in tracked_stats ("train_step_timing in s", later "train_step_time"), or else lie
// between events that count samples: train_loss, blocks, evaluations. metadata.step is no
// iteration: tokens in GPT-3, samples elsewhere. Every rank may print; one rank's lines are taken.
#include <algorithm>
#include <cmath>

#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Mlperf : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find(":::MLLOG")) return;
    const std::string_view event = at.rest();
    const std::string_view key = json_value(event, "key");
    if (key.size() < 2 || key == "\"init_start\"") return;
    // The launcher may name its processes only after the first lines, and a process that prints
    // first need not be the one that has the times.
    const bool ours = line.origin == origin_ || !started_;
    const bool first_named = !ours && origin_ == 0 && timed_ == 0 && derived_.empty();
    const bool has_times =
        !ours && line.origin != 0 &&
        ((!marked_ && marks_time(key)) || (timed_ == 0 && key == "\"tracked_stats\"" &&
                                           step_time(json_value(event, "value")).has_value()));
    const bool unnamed_setup = !ours && line.origin == 0 && !marks_time(key);
    started_ = true;
    if (ours || first_named || has_times) {
      if (line.origin != 0) origin_ = line.origin;
      marked_ = marked_ || marks_time(key);
    } else if (!unnamed_setup) {
      notes.add(NoteCode::ranks_merged, "other ranks print the same events",
                Place{.line = line.number});
      return;
    }
    const auto time = LogText(json_value(event, "time_ms")).number(-3);
    const std::string_view value = json_value(event, "value");
    const std::string_view metadata = json_value(event, "metadata");
    LogLine timed = line;
    timed.timestamp_s = time;
    take_event(key.substr(1, key.size() - 2), value, metadata, timed);
  }

  void end() override {
    if (timed_ > 0) return;
    // Without a time for each step: what lies between two events that count.
    if (!derived_.empty()) {
      notes.add(NoteCode::times_from_events,
                "no step times: events that count samples, over the time between them",
                Place{.line = derived_.front().line});
      for (const LoggedStep& step : derived_) steps.add(step, 0);
      return;
    }
    if (!rate_) return;
    notes.add(NoteCode::throughput_only,
              "throughput only: one figure of the whole run, no time of a step",
              Place{.line = rate_->line});
    found.said_by["speed"] =
        "throughput of the whole run, the log has no step times; MLLOG, line " +
        std::to_string(rate_->line);
    steps.add(*rate_, 0);
  }

 private:
  static constexpr std::size_t kMostDerived = 500'000;

  static std::optional<double> step_time(std::string_view value) {
    const auto seconds = positive(LogText(json_value(value, "train_step_timing in s")).number());
    return seconds ? seconds : positive(LogText(json_value(value, "train_step_time")).number());
  }
  static bool marks_time(std::string_view key) {
    for (const std::string_view word : {"tracked_stats", "_start\"", "_stop\"", "train_loss"}) {
      if (key.find(word) != std::string_view::npos) return true;
    }
    return false;
  }

  void take_event(std::string_view key, std::string_view value, std::string_view metadata,
                  const LogLine& line) {
    const auto number = LogText(value).number();
    if (key == "global_batch_size") {
      set(found.global_batch, "global_batch", positive(number), "MLLOG", line.number);
    } else if (key == "max_sequence_length") {
      set(found.seq_len, "seq_len", positive(number), "MLLOG", line.number);
    } else if (key == "gradient_accumulation_steps") {
      set(found.microbatches, "microbatches", positive(number), "MLLOG", line.number);
    } else if (key == "submission_benchmark" && value.size() > 2) {
      found.model_name = value.substr(1, value.size() - 2);
      say("model", "MLLOG", line.number);
    } else if (key == "submission_platform" && value.size() > 2) {
      found.device_name = value.substr(1, value.size() - 2);
      say("device_name", "MLLOG", line.number);
    } else if (key == "tracked_stats") {
      take_stats(value, metadata, line);
    } else if (key == "train_loss") {
      // Samples so far, every few steps.
      count_to(LogText(json_value(metadata, "samples_count")).number(), line);
    } else if (key == "block_start" || key == "epoch_start" || key == "run_start" ||
               key == "eval_stop") {
      if (key == "eval_stop" && eval_started_ && line.timestamp_s) {
        LogLine at = line;
        at.iteration = timed_ > 0 ? timed_ : std::fabs(done_) < 1e15 ? std::llround(done_) : 0;
        pause("evaluation", at, std::max(0.0, *line.timestamp_s - *eval_started_));
        eval_started_.reset();
      }
      start_at(metadata, line);
    } else if (key == "block_stop" || key == "eval_start") {
      stop_at(metadata, line);
      if (key == "eval_start") eval_started_ = line.timestamp_s;
    }
  }

  void take_stats(std::string_view value, std::string_view metadata, const LogLine& line) {
    const auto seconds = step_time(value);
    if (seconds) {
      LoggedStep step = step_at(line, ++timed_);
      step.step_s = seconds;
      step.global_batch = found.global_batch;
      steps.add(step, 0);
      return;
    }
    const auto rate = positive(LogText(json_value(value, "throughput")).number());
    if (!rate || found.model_name == "gpt3") return;  // GPT-3's counts tokens and the whole run
    LoggedStep step = step_at(line, timed_ + 1);
    step.samples_per_s = rate;
    const std::string_view at = json_value(metadata, "step");
    if (at.starts_with("[")) {
      const std::size_t comma = at.rfind(',');
      if (comma != std::string_view::npos) {
        if (const auto last = LogText(at.substr(comma + 1)).integer(); last && *last > 0) {
          step.iteration = *last;
          step.steps_averaged = static_cast<int>(std::min<std::int64_t>(*last, 1'000'000'000));
        }
      }
    }
    rate_ = step;
  }

  // What an event counts, in steps; GPT-3's blocks count tokens.
  [[nodiscard]] std::optional<double> to_steps(std::optional<double> counted) const {
    if (!counted || !found.global_batch) return std::nullopt;
    double per_step = *found.global_batch;
    if (found.model_name == "gpt3") {
      if (!found.seq_len) return std::nullopt;
      per_step *= *found.seq_len;
    }
    return *counted / per_step;
  }

  void start_at(std::string_view metadata, const LogLine& line) {
    if (!line.timestamp_s) return;
    const auto number = LogText(json_value(metadata, "step_num")).number();
    const auto samples = LogText(json_value(metadata, "samples_count")).number();
    if (number) {
      done_ = *number;
    } else if (line.text.find("block_start") != std::string_view::npos && samples) {
      done_ = to_steps(samples).value_or(done_);
    }
    since_ = line.timestamp_s;
    // "epoch_count": how much the block that starts here will count.
    block_ = line.text.find("block_start") != std::string_view::npos
                 ? to_steps(LogText(json_value(metadata, "epoch_count")).number())
                 : std::nullopt;
  }

  void stop_at(std::string_view metadata, const LogLine& line) {
    const auto number = LogText(json_value(metadata, "step_num")).number();
    if (number) {
      add_derived(*number - done_, line);
    } else if (block_ && *block_ >= 1.0) {
      add_derived(*block_, line);
    }
    since_.reset();
    block_.reset();
  }

  void count_to(std::optional<double> samples, const LogLine& line) {
    const auto at = to_steps(samples);
    if (!at) return;
    if (since_ && *at > done_) {
      add_derived(*at - done_, line);
    } else {
      done_ = *at;
    }
    since_ = line.timestamp_s;
  }

  // `count` steps end here.
  void add_derived(double count, const LogLine& line) {
    const double end = done_ + count;
    if (since_ && line.timestamp_s && count >= 1.0 && count < 1e9 && end < 1e15 &&
        derived_.size() < kMostDerived) {
      const double elapsed = *line.timestamp_s - *since_;
      if (elapsed > 0.0) {
        LoggedStep step = step_at(line, static_cast<std::int64_t>(std::llround(end)));
        step.step_s = std::round(elapsed * 1e6) / 1e6 / count;
        step.steps_averaged = static_cast<int>(std::lround(count));
        step.global_batch = found.global_batch;
        derived_.push_back(step);
      }
    }
    done_ = end;
  }

  bool started_ = false;
  bool marked_ = false;  // an event of this process marks a time
  std::uint64_t origin_ = 0;
  std::int64_t timed_ = 0;
  std::optional<LoggedStep> rate_;
  std::vector<LoggedStep> derived_;
  double done_ = 0.0;                   // steps
  std::optional<double> since_;         // seconds; training has gone on since then
  std::optional<double> block_;         // steps
  std::optional<double> eval_started_;  // seconds
};

}  // namespace

LogFormatRow mlperf_format() {
  return {"mlperf",
          "MLPerf :::MLLOG",
          LogTier::framework,
          {":::MLLOG"},
          {":::MLLOG", "tracked_stats"},
          make_format<Mlperf>};
}

}  // namespace mfu
