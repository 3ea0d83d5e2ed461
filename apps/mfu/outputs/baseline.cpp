#include "outputs/baseline.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "compare/side.hpp"
#include "inputs/saved_report.hpp"
#include "measure/log_summary.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

// Half the width of an interval of log ratios, from one of relative differences.
double half_width(const Interval& relative) {
  return 0.5 * (std::log1p(relative.hi) - std::log1p(relative.lo));
}

std::optional<Interval> relative_interval(const LogSection& now) {
  const LogSummary& s = now.summary;
  if (!s.interval_known) return {};
  return Interval{s.median_ci.lo / s.median_cost - 1, s.median_ci.hi / s.median_cost - 1};
}

}  // namespace

Baseline read_baseline(const std::string& path, InputInfo& info) {
  const SavedReport saved = read_report(path, info);
  const Side& side = saved.side;
  Place place;
  place.file = path;
  if (saved.command != SavedCommand::log && saved.command != SavedCommand::calc) {
    throw Error(ErrorKind::format,
                fmt::format("is a report from mfu {}, which is not a baseline for a log",
                            to_string(saved.command)),
                place, "save one with mfu log FILE --json > old.json");
  }
  if (side.status == CalcStatus::impossible) {
    throw Error(ErrorKind::insufficient, "its MFU is impossible, so it is not a baseline", place);
  }
  Baseline baseline;
  baseline.path = path;
  baseline.of_log = saved.command == SavedCommand::log;
  baseline.fingerprint = side.fingerprint;
  baseline.tokens_per_step = side.tokens_per_step;
  baseline.gpus = side.gpus;
  baseline.mfu = side.mfu;
  baseline.step_seconds = side.step_seconds;
  if (baseline.of_log) {
    // The usual step is less at the mercy of chance than the mean.
    baseline.mfu = side.factors.front().value;
    baseline.step_seconds = side.usual_step_seconds;
    baseline.relative_ci = side.factors.front().relative_ci;
  }
  return baseline;
}

Gate judge_regression(const Baseline& before, const LogSection& now, double limit,
                      const std::string& limit_text) {
  Place place;
  place.what = "--baseline";
  if (before.fingerprint != now.calc.fingerprint) {
    throw Error(
        ErrorKind::usage,
        fmt::format("the two are not comparable: {} was measured as [{}], this run as [{}]",
                    before.path, to_text(before.fingerprint), to_text(now.calc.fingerprint)),
        place, "measure both with the same --convention, --chip or --peak, --precision, --clock");
  }
  const Calculation& c = now.calc.calculation;
  const std::optional<double> mfu = c.mfu();
  double slower = 0.0;  // log of the slowdown
  std::string text;
  const auto same = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && std::fabs(*a / *b - 1) <= 1e-6;
  };
  if (mfu && before.mfu && *mfu > 0 && *before.mfu > 0) {
    slower = std::log(*before.mfu / *mfu);
    text = fmt::format("MFU {} -> {}", format_percent(*before.mfu, 2), format_percent(*mfu, 2));
  } else if (now.p50_seconds && before.step_seconds && *before.step_seconds > 0 &&
             same(before.tokens_per_step, c.tokens_per_step) && same(before.gpus, c.input.gpus)) {
    slower = std::log(*now.p50_seconds / *before.step_seconds);
    text = fmt::format("step {} -> {}", format_seconds(*before.step_seconds),
                       format_seconds(*now.p50_seconds));
  } else {
    throw Error(ErrorKind::insufficient,
                "nothing that both have can be compared: no MFU, and not the same tokens per step "
                "on the same GPUs",
                place, now.calc.mfu_missing);
  }
  // As a share of the speed: MFU down by 3 % of what it was.
  const double worse = 1 - std::exp(-slower);
  const std::optional<Interval> own = relative_interval(now);
  const bool sure_of_before = before.relative_ci.has_value() || !before.of_log;
  Gate gate{"max-regression", limit_text, worse, "", true};
  text +=
      fmt::format(": {} {}", format_percent(std::fabs(worse), 2), worse >= 0 ? "slower" : "faster");
  if (!own || !sure_of_before) {
    text += "; too few steps to tell it from noise";
    gate.value_text = text;
    return gate;
  }
  const double half =
      std::hypot(half_width(*own), before.relative_ci ? half_width(*before.relative_ci) : 0.0);
  const double low = 1 - std::exp(-(slower - half));
  const double high = 1 - std::exp(-(slower + half));
  text += fmt::format(" (95 %: {:+.2f} to {:+.2f} %)", 100 * low, 100 * high);
  if (before.gpus && c.input.gpus && !same(before.gpus, c.input.gpus)) {
    text += fmt::format("; on {} GPUs before, on {} now", format_grouped(*before.gpus),
                        format_grouped(*c.input.gpus));
  }
  const bool certain = low > 0;
  if (worse > limit && !certain) {
    text += "; beyond the limit, but not distinguishable from noise";
  } else if (worse > 0 && worse <= limit && certain) {
    text += "; within the limit";
  }
  gate.passed = !(worse > limit && certain);
  gate.value_text = text;
  return gate;
}

}  // namespace mfu::app
