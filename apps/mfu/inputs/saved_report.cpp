#include "inputs/saved_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "inputs/model_source.hpp"
#include "readers/input_format.hpp"

namespace mfu::app {
namespace {

using Json = nlohmann::json;
using Value = std::optional<double>;

constexpr std::string_view kReportSchema = "mfu.report/1";

Value number_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return {};
  return at->get<double>();
}

// Of what cannot be zero or less.
Value positive_at(const Json& object, const char* key) {
  const Value value = number_at(object, key);
  return value && std::isfinite(*value) && *value > 0 ? value : Value{};
}

std::string text_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

const Json& part(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  const auto at = object.find(key);
  return at != object.end() && at->is_object() ? *at : kNone;
}

std::optional<CalcStatus> status_in(const Json& report) {
  const std::string text = text_at(part(report, "headline"), "status");
  for (const CalcStatus status :
       {CalcStatus::ok, CalcStatus::impossible, CalcStatus::no_peak, CalcStatus::no_model}) {
    if (to_string(status) == text) return status;
  }
  return {};
}

// Values edited by hand or written by another program must not become a verdict.
void refuse_nonsense(const Json& object, const char* key, double most, const std::string& path,
                     const char* named) {
  const Value value = number_at(object, key);
  if (!value || (*value > 0.0 && *value <= most)) return;
  Place place;
  place.file = path;
  place.what = named;
  throw Error(ErrorKind::format,
              fmt::format("{:.4g} is impossible: the report is not as mfu wrote it", *value),
              std::move(place), "save one with mfu log FILE --json > old.json");
}

void refuse_nonsense(const Json& report, const std::string& path) {
  const Json& headline = part(report, "headline");
  const Json& setup = part(report, "setup");
  // An MFU that the report itself calls impossible is refused as that.
  if (status_in(report) != CalcStatus::impossible) {
    refuse_nonsense(headline, "mfu", 1.0, path, "headline.mfu");
  }
  refuse_nonsense(headline, "step_seconds", 1e9, path, "headline.step_seconds");
  refuse_nonsense(setup, "tokens_per_step", 1e18, path, "setup.tokens_per_step");
  refuse_nonsense(setup, "gpus", 1e9, path, "setup.gpus");
}

const Json& list(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto at = object.find(key);
  return at != object.end() && at->is_array() ? *at : kNone;
}

std::optional<Interval> interval_at(const Json& object, const char* key) {
  const Json& ends = list(object, key);
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) return {};
  const Interval interval{ends[0].get<double>(), ends[1].get<double>()};
  // Of relative differences, all of them.
  if (!(interval.lo > -1.0 && interval.lo <= interval.hi && interval.hi < 1e6)) return {};
  return interval;
}

std::vector<SideFactor> factors_of(const Json& all) {
  std::vector<SideFactor> factors;
  for (const Json& entry : all) {
    if (!entry.is_object()) continue;
    SideFactor factor;
    factor.id = text_at(entry, "id");
    factor.value = positive_at(entry, "value");
    factor.seconds = number_at(entry, "loss_seconds").value_or(0.0);
    factor.relative_ci = interval_at(entry, "relative_ci");
    factor.parts = factors_of(list(entry, "parts"));
    factors.push_back(std::move(factor));
  }
  return factors;
}

void take_setup(const Json& report, Side& side) {
  const Json& setup = part(report, "setup");
  side.fingerprint = parse_fingerprint(text_at(setup, "fingerprint"));
  side.status = status_in(report);
  side.peak_flops_per_gpu = positive_at(setup, "peak_flops_per_gpu");
  side.split = text_at(setup, "split");
  side.job = text_at(setup, "job");
  side.model = text_at(setup, "model");
  side.chip = text_at(setup, "chip");
  side.recompute = text_at(setup, "recompute");
  side.params = positive_at(setup, "params");
  side.seq_len = positive_at(setup, "seq_len");
  side.global_batch = positive_at(setup, "global_batch");
  side.tokens_per_step = positive_at(setup, "tokens_per_step");
  side.flops_per_step = positive_at(setup, "flops_per_step");
  side.gpus = positive_at(setup, "gpus");
  side.nodes = positive_at(setup, "nodes");
  side.microbatches = positive_at(setup, "microbatches");
  for (const auto& [axis, size] : part(setup, "layout").items()) {
    if (size.is_number_integer()) side.layout[axis] = size.get<std::int64_t>();
  }
}

void take_run(const Json& report, Side& side) {
  const Json& headline = part(report, "headline");
  const Json& setup = part(report, "setup");
  side.measure = Measure::run;
  side.reference = text_at(setup, "reference");
  side.stages = positive_at(setup, "stages");
  side.mfu = positive_at(headline, "mfu");
  side.step_seconds = positive_at(headline, "step_seconds");
  side.relative_ci = interval_at(headline, "step_relative_ci");
  if (const Value rate = positive_at(headline, "tokens_per_second"); rate && side.gpus) {
    side.tokens_per_second_per_gpu = *rate / *side.gpus;
  }
  side.factors = factors_of(list(report, "factors"));
  for (const Json& entry : list(report, "parts")) {
    if (!entry.is_object()) continue;
    side.parts.push_back({text_at(entry, "id"), number_at(entry, "seconds").value_or(0.0)});
  }
  if (!side.mfu && !side.parts.empty() && side.parts.front().id == "compute") {
    SideFactor compute;
    compute.id = "single_gpu";
    compute.seconds = side.parts.front().seconds;
    side.factors.insert(side.factors.begin(), std::move(compute));
  }
  side.steps = static_cast<std::int64_t>(list(part(report, "steps"), "used").size());
  if (side.flops_per_step && side.tokens_per_step && !is_unnamed(side.fingerprint)) {
    side.counts.push_back({side.fingerprint.convention, side.fingerprint.settings,
                           *side.flops_per_step / *side.tokens_per_step});
  }
}

// Nothing: of a command that measures nothing.
std::optional<SavedCommand> command_in(const Json& report) {
  const std::string text = text_at(report, "command");
  for (const SavedCommand command :
       {SavedCommand::diagnose, SavedCommand::log, SavedCommand::calc, SavedCommand::whatif}) {
    if (to_string(command) == text) return command;
  }
  return {};
}

void take_counts(const Json& report, Side& side) {
  for (const Json& entry : list(report, "results")) {
    if (!entry.is_object()) continue;
    const Value each = positive_at(entry, "flops_per_token");
    if (!each) continue;
    side.counts.push_back({text_at(entry, "convention"), text_at(entry, "settings"), *each});
  }
}

void take_single(const Json& report, Side& side) {
  const Json& headline = part(report, "headline");
  side.measure = Measure::single;
  side.mfu = positive_at(headline, "mfu");
  side.step_seconds = positive_at(headline, "step_seconds");
  side.tokens_per_second_per_gpu = positive_at(headline, "tokens_per_second_per_gpu");
  side.steps = 1;
  take_counts(report, side);
}

void take_log(const Json& report, Side& side) {
  take_single(report, side);
  side.measure = Measure::log;
  const Json& steps = part(report, "steps");
  side.steps = static_cast<std::int64_t>(number_at(steps, "used").value_or(0));
  const Value usual = positive_at(steps, "p50_seconds");
  const Value mean = positive_at(steps, "mean_seconds");
  Value mean_over_usual = positive_at(steps, "mean_over_p50");
  if (!mean_over_usual && usual && mean) mean_over_usual = *mean / *usual;
  // A report that does not say what its headline is of was made when it was the median.
  const std::string statistic = text_at(part(report, "headline"), "statistic");
  side.statistic = statistic.empty() ? LogStatistic::median : parse_log_statistic(statistic);
  side.headline_mfu = side.mfu;
  side.headline_step_seconds = positive_at(part(report, "headline"), "step_seconds");
  side.headline_relative = interval_at(
      steps, side.statistic == LogStatistic::median ? "p50_relative_ci" : "mean_relative_ci");
  if (side.statistic == LogStatistic::wall) side.headline_relative.reset();
  // The headline's cost over that of the usual step.
  Value over_usual = 1.0;
  if (side.statistic == LogStatistic::mean) over_usual = mean_over_usual;
  if (side.statistic == LogStatistic::wall) {
    const Value wall = positive_at(part(report, "headline"), "wall_seconds");
    over_usual = wall && usual ? Value(*wall / *usual) : Value{};
  }
  const auto times = [](const Value& value, const Value& factor) {
    return value && factor ? Value(*value * *factor) : Value{};
  };
  side.mfu = times(side.mfu, over_usual);
  side.tokens_per_second_per_gpu = times(side.tokens_per_second_per_gpu, over_usual);
  SideFactor usual_step;
  usual_step.id = "usual_step";
  usual_step.value = side.mfu;
  usual_step.seconds = usual.value_or(0.0);
  usual_step.relative_ci = interval_at(steps, "p50_relative_ci");
  side.usual_step_seconds = usual;
  side.step_seconds = mean;
  side.relative_ci = interval_at(steps, "mean_relative_ci");
  side.factors.push_back(std::move(usual_step));
  if (!mean_over_usual) return;
  // What the job gets is the mean.
  side.mfu = times(side.mfu, 1 / *mean_over_usual);
  side.tokens_per_second_per_gpu = times(side.tokens_per_second_per_gpu, 1 / *mean_over_usual);
  SideFactor slow_steps;
  slow_steps.id = "slow_steps";
  slow_steps.value = 1 / *mean_over_usual;
  slow_steps.seconds = mean && usual ? *mean - *usual : 0.0;
  slow_steps.relative_ci = interval_at(steps, "slow_steps_relative_ci");
  side.factors.push_back(std::move(slow_steps));
  if (!statistic.empty()) return;
  // An older report holds enough to say what its mean is.
  side.statistic = LogStatistic::mean;
  side.headline_mfu = side.mfu;
  side.headline_step_seconds = side.step_seconds;
  side.headline_relative = side.relative_ci;
}

}  // namespace

std::string_view to_string(SavedCommand command) noexcept {
  switch (command) {
    case SavedCommand::diagnose:
      return "diagnose";
    case SavedCommand::log:
      return "log";
    case SavedCommand::calc:
      return "calc";
    case SavedCommand::whatif:
      return "whatif";
  }
  return "";
}

SavedReport parse_report(const std::string& text, const std::string& path) {
  Place place;
  place.file = path;
  const Json report = Json::parse(text, nullptr, false);
  const bool named =
      detect_format(std::string_view(text).substr(0, kHeadBytes)).format == InputFormat::report;
  if (report.is_discarded() && named) {
    throw Error(ErrorKind::format, "is an mfu report that is cut off or broken", place,
                "save it again: mfu log FILE --json > old.json");
  }
  if (!report.is_object() || text_at(report, "schema").rfind("mfu.report/", 0) != 0) {
    throw Error(ErrorKind::format, "is not an mfu report", place,
                "save one with mfu log FILE --json > old.json");
  }
  if (text_at(report, "schema") != kReportSchema) {
    throw Error(ErrorKind::unsupported,
                "is a report from another version: " + text_at(report, "schema").substr(0, 40),
                place);
  }
  if (report.contains("error")) {
    throw Error(ErrorKind::insufficient, "is the report of a command that failed", place,
                text_at(part(report, "error"), "message").substr(0, 200));
  }
  SavedReport saved;
  const std::optional<SavedCommand> command = command_in(report);
  if (command) {
    if (text_at(part(report, "setup"), "fingerprint").empty()) {
      throw Error(ErrorKind::format, "is not a complete report: it does not say what was measured",
                  place, "save one with mfu log FILE --json > old.json");
    }
    refuse_nonsense(report, path);
  }
  saved.side.name = path;
  take_setup(report, saved.side);
  if (!command) {
    const std::string name = text_at(report, "command");
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "is a report from mfu {}, which measures nothing: no baseline, nothing to compare",
            name.empty() ? "(no command)" : name.substr(0, 40)),
        place, "save one of diagnose, log or calc with --json");
  }
  saved.command = *command;
  if (*command == SavedCommand::diagnose) {
    take_run(report, saved.side);
    saved.verdict = text_at(part(report, "verdict"), "family");
    saved.recorded_ranks = positive_at(part(report, "setup"), "recorded_ranks");
  } else if (*command == SavedCommand::log) {
    take_log(report, saved.side);
  } else {
    take_single(report, saved.side);
  }
  return saved;
}

SavedReport read_report(const std::string& path, InputInfo& info) {
  ByteSource source = ByteSource::open(path);
  return read_report(source, info);
}

SavedReport read_report(ByteSource& source, InputInfo& info) {
  info.format = std::string(kReportSchema);
  return parse_report(read_text(source, info), source.name());
}

}  // namespace mfu::app
