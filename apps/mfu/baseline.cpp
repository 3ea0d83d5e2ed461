#include "baseline.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "mfu/quantity.hpp"
#include "model_source.hpp"

namespace mfu::app {
namespace {

using Json = nlohmann::json;

std::optional<double> number_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return {};
  return at->get<double>();
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

// What a hand or another program put there must not become a verdict.
std::optional<double> positive_at(const Json& object, const char* key, double most,
                                  const std::string& path, const char* named) {
  const std::optional<double> value = number_at(object, key);
  if (!value) return value;
  if (*value > 0.0 && *value <= most) return value;
  Place place;
  place.file = path;
  place.what = named;
  throw Error(ErrorKind::format,
              fmt::format("{:.4g} cannot be: the report is not as mfu wrote it", *value),
              std::move(place), "save one with mfu log FILE --json > old.json");
}

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
  info.format = "mfu.report/1";
  const std::string text = read_text(path, info);
  Place place;
  place.file = path;
  const Json report = Json::parse(text, nullptr, false);
  if (!report.is_object() || text_at(report, "schema").rfind("mfu.report/", 0) != 0) {
    throw Error(ErrorKind::format, "is no report of mfu", place,
                "save one with mfu log FILE --json > old.json");
  }
  if (text_at(report, "schema") != "mfu.report/1") {
    throw Error(ErrorKind::unsupported,
                "is a report of another version: " + text_at(report, "schema").substr(0, 40),
                place);
  }
  if (report.contains("error")) {
    throw Error(ErrorKind::insufficient, "is the report of a command that failed", place,
                text_at(part(report, "error"), "message").substr(0, 200));
  }
  const Json& headline = part(report, "headline");
  const Json& setup = part(report, "setup");
  const Json& steps = part(report, "steps");
  Baseline baseline;
  baseline.path = path;
  baseline.command = text_at(report, "command");
  baseline.fingerprint = text_at(setup, "fingerprint");
  if (baseline.command != "log" && baseline.command != "calc") {
    throw Error(
        ErrorKind::format,
        "is a report of mfu " + baseline.command.substr(0, 40) + ", which is no baseline of a log",
        place, "save one with mfu log FILE --json > old.json");
  }
  if (baseline.fingerprint.empty()) {
    throw Error(ErrorKind::format, "is no whole report: it does not say what was measured", place,
                "save one with mfu log FILE --json > old.json");
  }
  if (text_at(headline, "status") == "impossible") {
    throw Error(ErrorKind::insufficient, "its MFU is impossible, so it is no baseline", place);
  }
  baseline.mfu = positive_at(headline, "mfu", 1.0, path, "headline.mfu");
  baseline.step_seconds = positive_at(headline, "step_seconds", 1e9, path, "headline.step_seconds");
  baseline.tokens_per_step =
      positive_at(setup, "tokens_per_step", 1e18, path, "setup.tokens_per_step");
  baseline.gpus = positive_at(setup, "gpus", 1e9, path, "setup.gpus");
  const auto interval = steps.find("p50_relative_ci");
  if (interval != steps.end() && interval->is_array() && interval->size() == 2 &&
      (*interval)[0].is_number() && (*interval)[1].is_number()) {
    const double lo = (*interval)[0].get<double>();
    const double hi = (*interval)[1].get<double>();
    if (lo > -1.0 && lo <= hi && hi < 1e6) baseline.relative_ci = Interval{lo, hi};
  }
  return baseline;
}

Gate judge_regression(const Baseline& before, const LogSection& now, double limit,
                      const std::string& limit_text) {
  Place place;
  place.what = "--baseline";
  if (before.fingerprint != now.calc.fingerprint) {
    throw Error(ErrorKind::usage,
                fmt::format("the two are not comparable: {} was measured as [{}], this run as [{}]",
                            before.path, before.fingerprint, now.calc.fingerprint),
                place,
                "measure both with the same --convention, --chip or --peak, --precision, --clock");
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
                "nothing that both have can be compared: no MFU, and not the same tokens a step on "
                "the same GPUs",
                place, now.calc.mfu_missing);
  }
  // As a share of the speed: MFU down by 3 % of what it was.
  const double worse = 1 - std::exp(-slower);
  const std::optional<Interval> own = relative_interval(now);
  const bool sure_of_before = before.relative_ci.has_value() || before.command == "calc";
  Gate gate{"max-regression", limit_text, worse, "", true};
  text += fmt::format(": {} {}", format_percent(std::fabs(worse), 2),
                      worse >= 0 ? "slower" : "quicker");
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
    text += "; beyond the limit, but not told from noise";
  } else if (worse > 0 && worse <= limit && certain) {
    text += "; within the limit";
  }
  gate.passed = !(worse > limit && certain);
  gate.value_text = text;
  return gate;
}

}  // namespace mfu::app
