#include "inputs/log_input.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/note_code.hpp"
#include "measure/disagreement.hpp"
#include "mfu/chip.hpp"
#include "mfu/model.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

using Value = std::optional<double>;

constexpr double kFewestParams = 1e5;

Place in_log(const TrainingLog& log, const char* what) {
  Place place;
  place.file = log.path;
  place.what = what;
  return place;
}

std::string said(const TrainingLog& log, const char* key, std::string_view otherwise) {
  const auto at = log.said_by.find(key);
  return at == log.said_by.end() ? std::string(otherwise) : at->second;
}

std::string number_text(double value) {
  return value == std::floor(value) ? format_grouped(value) : fmt::format("{:.6g}", value);
}

bool known_precision(const std::string& name) {
  try {
    (void)parse_precision(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Texts that the options leave empty and the log fills, so that both are read by the same rules.
class Gathering {
 public:
  Gathering(const CalcText& text, const TrainingLog& log, Problems& problems, Notes& notes)
      : given_(text), text_(text), log_(log), problems_(problems), notes_(notes) {}

  LogInput gather() {
    take_model();
    take_chip();
    take_precision();
    take_recompute();
    take_trainable();
    ParsedCalc parsed = parse_calc(text_, problems_, notes_);
    out_.input = std::move(parsed.input);
    out_.files = std::move(parsed.files);
    if (out_.input.model && out_.input.model->name.empty()) {
      out_.input.model->name = log_.model_name;
    }
    name_model();
    take_numbers();
    name_peak();
    return std::move(out_);
  }

 private:
  void source(std::string what, std::string value, std::string from) {
    out_.sources.push_back({std::move(what), std::move(value), std::move(from)});
  }

  void take_model() {
    if (!given_.model.empty() || !given_.params.empty()) return;
    if (!log_.model_json.empty()) {
      Notes own;
      try {
        (void)parse_model(log_.model_json, log_.path, own, MissingKeys::leave);
        text_.model = log_.model_json;
        out_.model_from_log = true;
        return;
      } catch (const Error& error) {
        notes_.add(NoteCode::log_model_unclear,
                   "the model that the log describes cannot be counted: " + error.message(),
                   in_log(log_, "model"));
      }
    }
    if (log_.model_name.empty()) {
      take_params();
      return;
    }
    try {
      (void)find_model(log_.model_name);
      text_.model = log_.model_name;
      out_.model_from_log = true;
    } catch (const Error&) {
      notes_.add(NoteCode::log_model_unknown,
                 "the log names the model '" + log_.model_name.substr(0, 80) +
                     "', which is not a preset; --model gives its shape",
                 in_log(log_, "model"));
      take_params();
    }
  }

  // A number of parameters is less than a shape, and better than nothing.
  void take_params() {
    if (!log_.params || *log_.params < kFewestParams) return;
    text_.params = fmt::format("{:.0f}", *log_.params);
    params_from_log_ = true;
  }

  // What trains a part of the weights costs less than what trains all.
  void take_trainable() {
    if (!log_.frozen_weights || !given_.trainable.empty()) return;
    const bool bare = text_.model.empty() && !text_.params.empty();
    try {
      const Convention& convention = find_convention(
          !given_.convention.empty() ? given_.convention
                                     : std::string(bare ? "6n" : kDefaultConvention));
      if (!convention.defaults.trainable) return;
      text_.trainable = "lora";
    } catch (const Error&) {
      return;  // the option is wrong, and said to be so elsewhere
    }
  }

  void name_model() {
    const std::size_t place = out_.sources.size();
    say_model();
    if (out_.sources.size() > place) out_.model_source = place;
    if (log_.frozen_weights) {
      std::string value = "LoRA: most weights are frozen";
      if (log_.trainable_params) {
        value = number_text(*log_.trainable_params) + " parameters, LoRA: the others are frozen";
      }
      source("trainable", std::move(value),
             !given_.trainable.empty()
                 ? "--trainable " + given_.trainable + "; " + said(log_, "trainable", "the log")
                 : said(log_, "trainable", "the log"));
    }
  }

  void say_model() {
    if (!given_.model.empty() || !given_.params.empty()) {
      const std::string name = out_.input.model ? out_.input.model->name : std::string();
      std::string value = name.empty() ? std::string("as given") : name;
      if (given_.model.empty()) value = given_.params + " parameters";
      source("model", value,
             std::string(given_.model.empty() ? "--params" : "--model") +
                 (out_.files.empty() ? "" : " (" + out_.files.front().path + ")"));
      return;
    }
    if (params_from_log_) {
      source("model", number_text(*log_.params) + " parameters", said(log_, "params", "the log"));
    }
    if (!out_.model_from_log || !out_.input.model) return;
    const ModelShape& model = *out_.input.model;
    const bool shape = text_.model == log_.model_json;
    std::string value = model.name.empty() ? std::string() : model.name + ", ";
    value += fmt::format("{} layers of {}", model.layers, model.hidden);
    source("model", value,
           said(log_, shape ? "model_json" : "model_name",
                said(log_, shape ? "model" : "model", "the log").c_str()));
  }

  void take_chip() {
    if (!given_.chip.empty() || !given_.peak.empty() || log_.device_name.empty()) return;
    try {
      (void)match_chip(log_.device_name);
      text_.chip = log_.device_name;
    } catch (const Error& error) {
      notes_.add(NoteCode::log_chip_unknown,
                 "the device that the log names is not used: " + error.message(),
                 in_log(log_, "device"));
    }
  }

  void take_precision() {
    if (!given_.precision.empty() || text_.chip.empty() || !given_.peak.empty()) return;
    if (log_.precision.empty() || !known_precision(log_.precision)) return;
    // fp32 in a log is as often the type of the weights as that of the products.
    text_.precision = log_.precision;
    precision_from_log_ = true;
  }

  void take_recompute() {
    if (!given_.recompute.empty() || log_.recompute.empty()) return;
    // Only where the convention knows it; what it does not know takes nothing from the MFU.
    try {
      const Convention& convention = find_convention(
          given_.convention.empty() ? std::string(kDefaultConvention) : given_.convention);
      if (convention.defaults.recompute && !convention.hardware_count &&
          (log_.recompute == "full" || log_.recompute == "selective")) {
        text_.recompute = log_.recompute;
        recompute_from_log_ = true;
      }
    } catch (const Error&) {
      return;  // the option is wrong, and said to be so elsewhere
    }
  }

  void number(const char* what, const char* option, const char* key, const std::string& given,
              Value& field, const Value& of_log) {
    if (!given.empty()) {
      std::string from = option;
      if (of_log && field && std::fabs(*of_log / *field - 1) > 1e-9) {
        from += "; the log says " + number_text(*of_log) + " (" + said(log_, key, "a line") + ")";
      }
      if (field) source(what, number_text(*field), std::move(from));
      return;
    }
    field = of_log;
    if (field) source(what, number_text(*field), said(log_, key, "the log"));
  }

  void take_numbers() {
    number("sequence", "--seq-len", "seq_len", given_.seq_len, out_.input.seq_len, log_.seq_len);
    number("GPUs", "--gpus", "gpus", given_.gpus, out_.input.gpus, log_.gpus);
    if (!out_.input.accumulation) out_.input.accumulation = log_.microbatches;
  }

  void name_peak() {
    if (!out_.input.peak) return;
    const PeakUsed& peak = *out_.input.peak;
    const std::string value = peak.chip != nullptr
                                  ? std::string(peak.chip->name)
                                  : fmt::format("{:.5g} TFLOP/s", peak.flops / 1e12);
    source(peak.given ? "peak" : "chip",
           peak.given ? fmt::format("{:.5g} TFLOP/s", peak.flops / 1e12) : value,
           !given_.peak.empty()   ? "--peak"
           : !given_.chip.empty() ? "--chip"
                                  : said(log_, "device_name", "the log"));
    if (!peak.given && peak.precision) {
      source("precision", std::string(to_string(*peak.precision)),
             !given_.precision.empty() ? "--precision"
             : precision_from_log_     ? said(log_, "precision", "the log")
                                       : "assumed: not stated");
      if (given_.precision.empty() && !precision_from_log_) {
        notes_.add(NoteCode::precision_assumed, Severity::info,
                   "neither an option nor the log gives the precision: bf16 is assumed",
                   in_log(log_, "precision"));
      }
    }
    if (recompute_from_log_) {
      source("recompute", log_.recompute, said(log_, "recompute", "the log"));
    }
  }

  const CalcText& given_;
  CalcText text_;
  const TrainingLog& log_;
  Problems& problems_;
  Notes& notes_;
  LogInput out_;
  bool precision_from_log_ = false;
  bool recompute_from_log_ = false;
  bool params_from_log_ = false;
};

bool near(double a, double b) { return std::fabs(a / b - 1) <= kAgreement; }

}  // namespace

LogInput gather_log_input(const CalcText& text, const TrainingLog& log, Problems& problems,
                          Notes& notes) {
  return Gathering(text, log, problems, notes).gather();
}

void add_measurement(LogInput& gathered, const CalcText& text, const TrainingLog& log,
                     const LogSummary& summary, Notes& notes) {
  CalcInput& input = gathered.input;
  const auto source = [&](std::string what, std::string value, std::string from) {
    gathered.sources.push_back({std::move(what), std::move(value), std::move(from)});
  };
  const Value batch = summary.global_batch ? summary.global_batch : log.global_batch;
  if (!text.batch.empty()) {
    std::string from = "--batch";
    if (batch && input.batch && !near(*batch, *input.batch)) {
      from += "; the log says " + number_text(*batch);
    }
    source("batch", number_text(input.batch.value_or(0)), std::move(from));
  } else if (batch && text.tokens_per_step.empty()) {
    input.batch = batch;
    source("batch", number_text(*batch) + (*batch == 1 ? " sequence" : " sequences"),
           summary.global_batch ? std::string("the step lines")
                                : said(log, "global_batch", "the log"));
  }
  if (!text.tokens_per_step.empty()) {
    if (text.batch.empty()) input.batch.reset();
    source("tokens", number_text(input.tokens_per_step.value_or(0)) + " a step",
           "--tokens-per-step");
  } else if (summary.tokens_per_step && text.batch.empty() && text.seq_len.empty()) {
    // Printed tokens are what was trained on; a batch of sequences may be padded.
    const Value product =
        input.batch && input.seq_len ? Value(*input.batch * *input.seq_len) : Value{};
    if (!product) {
      input.tokens_per_step = summary.tokens_per_step;
      source("tokens", number_text(*summary.tokens_per_step) + " a step", "the step lines");
    } else if (!near(*product, *summary.tokens_per_step)) {
      notes.add(NoteCode::log_tokens_disagree,
                fmt::format("the log prints {} tokens per step, batch x sequence length is {}: the "
                            "latter is used; --tokens-per-step settles it",
                            number_text(*summary.tokens_per_step), number_text(*product)),
                in_log(log, "tokens"));
    }
  }

  const double cost = summary.cost;
  std::string value;
  switch (summary.basis) {
    case StepBasis::step:
      input.step_seconds = cost;
      value = format_seconds(cost) + " a step";
      break;
    case StepBasis::token:
      input.tokens_per_second = 1 / cost;
      value = format_grouped(1 / cost) + " tokens/s";
      break;
    case StepBasis::token_per_gpu:
      input.tokens_per_second_per_gpu = 1 / cost;
      value = format_grouped(1 / cost) + " tokens/s per GPU";
      break;
    case StepBasis::sample:
      if (input.batch) input.step_seconds = *input.batch * cost;
      if (!input.batch && input.seq_len) input.tokens_per_second = *input.seq_len / cost;
      value = fmt::format("{:.4g} samples/s", 1 / cost);
      break;
    case StepBasis::flop:
      input.achieved_flops = 1 / cost;
      value = fmt::format("{:.5g} TFLOP/s per GPU", 1e-12 / cost);
      break;
  }
  const std::string lines =
      summary.statistic == LogStatistic::wall
          ? std::string("the time stamps of the step lines")
          : "the " + std::string(to_string(summary.statistic)) + " of the step lines";
  if (log.said_by.count("speed") > 0) {
    source("speed", value, log.said_by.at("speed"));
  } else {
    source("speed", value,
           summary.basis == StepBasis::step && log.said_by.count("step_time") > 0
               ? lines + ": " + log.said_by.at("step_time")
               : lines);
  }

  // Tokens for a GPU and for the job tell how many GPUs there are, where nothing else does.
  if (!input.gpus && summary.tokens_per_s && summary.tokens_per_s_per_gpu) {
    const double ratio = *summary.tokens_per_s / *summary.tokens_per_s_per_gpu;
    const double whole = std::round(ratio);
    if (whole >= 1 && std::fabs(ratio - whole) <= 0.02 * whole) {
      input.gpus = whole;
      source("GPUs", number_text(whole), "tokens/s of the job over tokens/s per GPU");
    }
  }
  // Without the tokens of a step, the log's own rate is a second measurement.
  if (input.step_seconds && !input.tokens_per_step && !(input.batch && input.seq_len)) {
    if (summary.tokens_per_s) {
      input.tokens_per_second = summary.tokens_per_s;
    } else if (summary.tokens_per_s_per_gpu) {
      input.tokens_per_second_per_gpu = summary.tokens_per_s_per_gpu;
    }
  }
}

Calculation calculate_log(LogInput& gathered, const TrainingLog& log, const LogSummary& summary,
                          Notes& notes) {
  CalcInput& input = gathered.input;
  const std::vector<const Convention*> others = usual_conventions();
  const auto attempt = [&]() -> Calculation {
    try {
      return calculate(input, others);
    } catch (const Error& error) {
      if (!gathered.model_from_log) throw;
      notes.add(NoteCode::log_model_unclear,
                "the model that the log describes cannot be counted: " + error.message() +
                    "; --model gives the whole shape",
                in_log(log, "model"));
      gathered.model_from_log = false;
      input.model.reset();
      if (gathered.model_source) {
        gathered.sources.erase(gathered.sources.begin() +
                               static_cast<std::ptrdiff_t>(*gathered.model_source));
        gathered.model_source.reset();
      }
      return calculate(input, others);
    }
  };
  Calculation calculation = attempt();
  if (!input.model && !input.params && summary.model_flops_per_s_per_gpu) {
    input.achieved_flops = summary.model_flops_per_s_per_gpu;
    calculation = calculate(input, others);
    notes.add(NoteCode::flops_as_logged,
              "no model to count: the log's own FLOP/s are compared with the peak",
              in_log(log, "FLOP/s"));
  }
  // The log's other figures check what was put together here.
  const Value& rate = calculation.tokens_per_second;
  if (summary.tokens_per_s && rate && !input.tokens_per_second &&
      !near(*rate, *summary.tokens_per_s)) {
    notes.add(
        NoteCode::log_rate_disagrees,
        fmt::format(
            "the log prints {} tokens/s, its step time and tokens make {}: the latter is used",
            format_grouped(*summary.tokens_per_s), format_grouped(*rate)),
        in_log(log, "tokens/s"));
  }
  const Value& each = calculation.tokens_per_second_per_gpu;
  if (summary.tokens_per_s_per_gpu && each && !input.tokens_per_second_per_gpu &&
      !near(*each, *summary.tokens_per_s_per_gpu)) {
    notes.add(NoteCode::log_rate_disagrees,
              fmt::format("the log prints {} tokens/s per GPU, its step time, tokens and GPUs make "
                          "{}: the latter is used",
                          format_grouped(*summary.tokens_per_s_per_gpu), format_grouped(*each)),
              in_log(log, "tokens/s per GPU"));
  }
  return calculation;
}

}  // namespace mfu::app
