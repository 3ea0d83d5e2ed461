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

// The side's figures of a statistic. Nothing: its report does not hold them.
void take_figures(const Side& side, LogStatistic statistic, Baseline& baseline) {
  if (statistic == side.statistic) {
    baseline.mfu = side.headline_mfu;
    baseline.step_seconds = side.headline_step_seconds;
    baseline.relative_ci = side.headline_relative;
  } else if (statistic == LogStatistic::mean && side.factors.size() > 1) {
    baseline.mfu = side.mfu;
    baseline.step_seconds = side.step_seconds;
    baseline.relative_ci = side.relative_ci;
  } else if (statistic == LogStatistic::median) {
    baseline.mfu = side.factors.front().value;
    baseline.step_seconds = side.usual_step_seconds;
    baseline.relative_ci = side.factors.front().relative_ci;
  }
  if (baseline.mfu || baseline.step_seconds) return;
  throw Error(ErrorKind::usage,
              fmt::format("is of the {} step and cannot be told as {}: it does not hold its steps",
                          to_string(side.statistic), to_string(statistic)),
              Place{.file = baseline.path},
              fmt::format("save it again, or use --statistic {}", to_string(side.statistic)));
}

}  // namespace

Baseline read_baseline(const std::string& path, LogStatistic statistic, InputInfo& info) {
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
    baseline.mfu.reset();
    baseline.step_seconds.reset();
    take_figures(side, statistic, baseline);
  }
  return baseline;
}

Gate judge_regression(const Baseline& before, const LogSection& now, const RegressionLimit& limit) {
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
  } else if (now.headline_seconds && before.step_seconds && *before.step_seconds > 0 &&
             same(before.tokens_per_step, c.tokens_per_step) && same(before.gpus, c.input.gpus)) {
    slower = std::log(*now.headline_seconds / *before.step_seconds);
    text = fmt::format("step {} -> {}", format_seconds(*before.step_seconds),
                       format_seconds(*now.headline_seconds));
  } else {
    throw Error(ErrorKind::insufficient,
                "nothing that both have can be compared: no MFU, and not the same tokens per step "
                "on the same GPUs",
                place, now.calc.mfu_missing);
  }
  // As a share of the speed: MFU down by 3 % of what it was.
  const double worse = 1 - std::exp(-slower);
  const std::optional<Interval>& own = now.headline_relative;
  const bool sure_of_before = before.relative_ci.has_value() || !before.of_log;
  Gate gate{"max-regression", limit.text.limit, worse, "", limit.passes(worse, false)};
  text +=
      fmt::format(": {} {}", format_percent(std::fabs(worse), 2), worse >= 0 ? "slower" : "faster");
  if (!own || !sure_of_before) {
    text += "; how much of it is noise is not known";
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
  if (worse > limit.ratio && !certain) {
    text += "; beyond the limit, but noise alone could do that";
  } else if (worse > 0 && worse <= limit.ratio && certain) {
    text += "; within the limit";
  }
  gate.passed = limit.passes(worse, certain);
  gate.value_text = text;
  return gate;
}

}  // namespace mfu::app
