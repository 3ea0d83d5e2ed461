#include "mfu/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compare/comparison.hpp"
#include "compare/setup.hpp"
#include "compare/side.hpp"
#include "compare/spread.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/step_terms.hpp"
#include "statistics/robust.hpp"

namespace mfu {
namespace {

using namespace comparison;
using Value = std::optional<double>;

constexpr double kNormal95 = 1.959963984540054;
constexpr double kPlain = 2.0;  // times the least change
constexpr std::array<std::string_view, 15> kFactors{
    "single_gpu", "clock",           "kernels",         "balance",    "persistent",
    "moving",     "stage",           "within_stage",    "own_stall",  "transfer",
    "dependency", "schedule_bubble", "dependency_rest", "usual_step", "slow_steps"};

// Of a saved report no steps are left, but two measurements do not agree in all digits of every
// factor. What is worked back from a report is off by a few roundings.
bool same_figures(const Side& a, const Side& b) {
  const auto same = [](const Value& x, const Value& y) {
    return x.has_value() == y.has_value() && (!x || same_number(*x, *y, 1e-13));
  };
  return same(a.mfu, b.mfu) && same(a.step_seconds, b.step_seconds) && a.steps == b.steps &&
         same(a.tokens_per_second_per_gpu, b.tokens_per_second_per_gpu) &&
         std::equal(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(),
                    [&](const SideFactor& x, const SideFactor& y) {
                      return x.id == y.id && same(x.value, y.value);
                    });
}

bool has_steps(const Side& side) { return !side.terms.empty() || !side.costs.empty(); }

// Everything that the sides say: two such are one measurement read twice.
bool same_measurement(const Side& a, const Side& b) {
  if (a.measure != b.measure || !same_figures(a, b)) return false;
  if (has_steps(a) != has_steps(b)) return a.steps > 1;
  const auto same_terms = [](const StepTerms& x, const StepTerms& y) {
    return x.reference == y.reference && x.balance == y.balance && x.own_stall == y.own_stall &&
           x.transfer == y.transfer && x.step == y.step;
  };
  return a.mfu == b.mfu && a.step_seconds == b.step_seconds &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), same_terms) &&
         a.costs == b.costs && a.weights == b.weights;
}

// Resampled sides of a comparison, or the widths that are left of them.
class Noise {
 public:
  Noise(const Side& before, const Side& after, const CompareOptions& options)
      : before_(before), after_(after) {
    // The faster side takes the first stream, whichever comes first: swapping the sides must
    // change nothing but the sign, and a change of unit nothing at all.
    const double slower = before.step_seconds.value_or(0.0) - after.step_seconds.value_or(0.0);
    const bool before_first = slower < 0.0 || (slower == 0.0 && before.name <= after.name);
    before_drawn_ = resample(before, options.replicates, options.seed + (before_first ? 0U : 1U));
    after_drawn_ = resample(after, options.replicates, options.seed + (before_first ? 1U : 0U));
  }

  // The interval around `log_ratio`.
  [[nodiscard]] std::optional<Interval> of_speed(double log_ratio) const {
    return interval(log_ratio, before_drawn_ ? &before_drawn_->speed : nullptr,
                    after_drawn_ ? &after_drawn_->speed : nullptr, before_.relative_ci,
                    after_.relative_ci);
  }
  // `k`: the factor's place on either side, which is that of the resampled ones.
  [[nodiscard]] std::optional<Interval> of_factor(std::size_t k, double log_ratio) const {
    const auto pick = [k](const std::optional<Replicates>& drawn) {
      return drawn && k < drawn->factors.size() ? &drawn->factors[k] : nullptr;
    };
    return interval(log_ratio, pick(before_drawn_), pick(after_drawn_),
                    before_.factors[k].relative_ci, after_.factors[k].relative_ci);
  }

 private:
  // Width and skew are the resampled ones; they lie around what was measured.
  [[nodiscard]] static std::optional<Interval> interval(double log_ratio,
                                                        const std::vector<double>* before,
                                                        const std::vector<double>* after,
                                                        const std::optional<Interval>& before_ci,
                                                        const std::optional<Interval>& after_ci) {
    if (before != nullptr && after != nullptr) {
      std::vector<double> change(before->size());
      for (std::size_t i = 0; i < change.size(); ++i) change[i] = (*after)[i] - (*before)[i];
      const double middle = median(change);
      const Interval ends = central_interval(change);
      return Interval{log_ratio + (ends.lo - middle), log_ratio + (ends.hi - middle)};
    }
    const Value one = before != nullptr ? Value(deviation(*before)) : log_deviation(before_ci);
    const Value other = after != nullptr ? Value(deviation(*after)) : log_deviation(after_ci);
    if (!one || !other) return {};
    const double half = kNormal95 * std::hypot(*one, *other);
    return Interval{log_ratio - half, log_ratio + half};
  }

  const Side& before_;
  const Side& after_;
  std::optional<Replicates> before_drawn_, after_drawn_;
};

double log_of(const Value& before, const Value& after) {
  return std::log(*after) - std::log(*before);
}

// Parts of a factor: values alone.
std::vector<FactorChange> part_changes(const std::vector<SideFactor>& before,
                                       const std::vector<SideFactor>& after) {
  std::vector<FactorChange> all;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    const SideFactor& a = before[i];
    const SideFactor& b = after[i];
    if (a.id != b.id || !a.value || !b.value || !(*a.value > 0) || !(*b.value > 0)) return {};
    FactorChange change;
    change.id = a.id;
    change.before = a.value;
    change.after = b.value;
    change.log_ratio = log_of(a.value, b.value);
    change.seconds = b.seconds - a.seconds;
    change.parts = part_changes(a.parts, b.parts);
    all.push_back(std::move(change));
  }
  return before.size() == after.size() ? all : std::vector<FactorChange>{};
}

bool same_ids(const std::vector<SideFactor>& a, const std::vector<SideFactor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SideFactor& x, const SideFactor& y) { return x.id == y.id; });
}

struct Scales {
  double before = 1.0;
  double after = 1.0;
};

void change_factors(const Side& before, const Side& after, const Scales& scales, const Noise& noise,
                    double least, Comparison& result) {
  if (before.factors.empty() || !same_ids(before.factors, after.factors)) return;
  double others = 0.0;
  for (std::size_t k = 0; k < before.factors.size(); ++k) {
    const SideFactor& a = before.factors[k];
    const SideFactor& b = after.factors[k];
    FactorChange change;
    change.id = a.id;
    change.seconds = b.seconds - a.seconds;
    const bool valued = a.value && b.value && *a.value > 0 && *b.value > 0;
    // Work and peak are in the first factor alone.
    if (valued) {
      change.before = *a.value * (k == 0 ? scales.before : 1.0);
      change.after = *b.value * (k == 0 ? scales.after : 1.0);
      change.log_ratio = log_of(change.before, change.after);
      change.parts = part_changes(a.parts, b.parts);
    } else if (k > 0) {
      result.factors.clear();
      return;
    }
    if (k > 0) others += change.log_ratio;
    result.factors.push_back(std::move(change));
  }
  // Without work or peak the first factor is known up to a constant, which is the same on either
  // side: its ratio is what the others leave.
  FactorChange& first = result.factors.front();
  if (!first.before) first.log_ratio = result.log_ratio - others;
  for (std::size_t k = 0; k < result.factors.size(); ++k) {
    FactorChange& change = result.factors[k];
    change.log_ci =
        result.detail->same_data ? std::optional(Interval{}) : noise.of_factor(k, change.log_ratio);
    const bool large = std::fabs(change.log_ratio) >= least;
    const bool certain = !change.log_ci || change.log_ci->lo > 0.0 || change.log_ci->hi < 0.0;
    change.significant = large && certain;
  }
  // A factor can have moved for sure in steps that are too few to change the whole for sure: it is
  // named all the same where it is plain to see.
  double largest = result.outcome == Outcome::no_change ? kPlain * least : 0.0;
  if (result.detail->same_data) return;
  for (const FactorChange& change : result.factors) {
    if (!change.significant || std::fabs(change.log_ratio) <= largest) continue;
    largest = std::fabs(change.log_ratio);
    result.moved = change.id;
  }
}

// Model math and what the kernels need beyond it, together: where one side has no MFU.
std::vector<SidePart> without_math(const std::vector<SidePart>& parts) {
  std::vector<SidePart> merged;
  SidePart compute{"compute", 0.0};
  for (const SidePart& part : parts) {
    const bool math = part.id == "model_math" || part.id == "kernels_below_peak" ||
                      part.id == "recomputation" || part.id == "compute";
    if (math) {
      compute.seconds += part.seconds;
    } else {
      merged.push_back(part);
    }
  }
  merged.insert(merged.begin(), compute);
  return merged;
}

// Model math against another peak or by another count is another share of the same seconds.
std::vector<SidePart> rescaled(std::vector<SidePart> parts, double scale) {
  if (scale == 1.0 || parts.size() < 2 || parts[0].id != "model_math" ||
      parts[1].id != "kernels_below_peak") {
    return parts;
  }
  const double both = parts[0].seconds + parts[1].seconds;
  parts[0].seconds *= scale;
  parts[1].seconds = both - parts[0].seconds;
  return parts;
}

void change_parts(const Side& before, const Side& after, const Scales& scales, Comparison& result) {
  std::vector<SidePart> a = rescaled(before.parts, scales.before);
  std::vector<SidePart> b = rescaled(after.parts, scales.after);
  const auto same = [](const SidePart& x, const SidePart& y) { return x.id == y.id; };
  if (a.empty() || b.empty()) return;
  if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) {
    a = without_math(a);
    b = without_math(b);
  }
  if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) return;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.detail->parts.push_back({a[i].id, a[i].seconds, b[i].seconds});
  }
}

bool stands(const std::vector<Reason>& reasons, Obstacle obstacle) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const Reason& reason) { return reason.obstacle == obstacle; });
}

void judge(Comparison& result, double least) {
  if (result.detail->same_data) {
    result.log_ci = Interval{};
    result.outcome = Outcome::no_change;
    return;
  }
  if (!result.log_ci) {
    // Two figures that agree need no spread; a restatement rounds them.
    constexpr double kRounding = 1e-12;
    result.outcome =
        std::fabs(result.log_ratio) <= kRounding ? Outcome::no_change : Outcome::unknown;
    return;
  }
  const bool certain = result.log_ci->lo > 0.0 || result.log_ci->hi < 0.0;
  if (!certain || std::fabs(result.log_ratio) < least) {
    result.outcome = Outcome::no_change;
  } else {
    result.outcome = result.log_ratio > 0.0 ? Outcome::better : Outcome::worse;
  }
}

// Where the wanted factor or part is, and under which factor.
const FactorChange* find_change(const std::vector<FactorChange>& among, std::string_view id,
                                bool& largest) {
  double most = 0.0;
  for (const FactorChange& change : among) most = std::max(most, std::fabs(change.log_ratio));
  for (const FactorChange& change : among) {
    if (change.id == id) {
      largest = std::fabs(change.log_ratio) >= most;
      return &change;
    }
    const FactorChange* part = find_change(change.parts, id, largest);
    if (part == nullptr) continue;
    largest = largest && std::fabs(change.log_ratio) >= most;
    return part;
  }
  return nullptr;
}

bool holds(const FactorChange& change, std::string_view id) {
  return change.id == id || std::any_of(change.parts.begin(), change.parts.end(),
                                        [&](const FactorChange& part) { return holds(part, id); });
}

}  // namespace

std::string_view to_string(Measure measure) noexcept {
  switch (measure) {
    case Measure::run:
      return "run";
    case Measure::log:
      return "log";
    case Measure::single:
      return "single";
  }
  return "";
}

std::string_view to_string(Obstacle obstacle) noexcept {
  switch (obstacle) {
    case Obstacle::impossible:
      return "impossible";
    case Obstacle::unmeasured:
      return "unmeasured";
    case Obstacle::convention:
      return "convention";
    case Obstacle::formula:
      return "formula";
    case Obstacle::peak:
      return "peak";
    case Obstacle::clock:
      return "clock";
    case Obstacle::precision:
      return "precision";
    case Obstacle::gpus:
      return "gpus";
    case Obstacle::tokens:
      return "tokens";
    case Obstacle::work:
      return "work";
    case Obstacle::reference:
      return "reference";
    case Obstacle::missing_mfu:
      return "missing-mfu";
  }
  return "";
}

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::better:
      return "better";
    case Outcome::worse:
      return "worse";
    case Outcome::no_change:
      return "no-change";
    case Outcome::unknown:
      return "unknown";
  }
  return "";
}

double Comparison::relative_change() const noexcept { return std::expm1(log_ratio); }

std::optional<Interval> Comparison::relative_ci() const noexcept {
  if (!log_ci) return {};
  return Interval{std::expm1(log_ci->lo), std::expm1(log_ci->hi)};
}

std::span<const std::string_view> expectable_factors() noexcept { return kFactors; }

bool is_as_expected(const Comparison& comparison, std::string_view factor) {
  for (const FactorChange& change : comparison.factors) {
    if (change.id != comparison.moved || !holds(change, factor)) continue;
    if (change.id == factor) return change.log_ratio > 0.0;
    bool largest = false;
    const FactorChange* part = find_change(change.parts, factor, largest);
    return part != nullptr && largest && part->log_ratio > 0.0;
  }
  return false;
}

Regression regression_of(const Comparison& comparison, double limit) noexcept {
  Regression result;
  // As a share of the speed: MFU down by 3 % of what it was. No change is 0, and not -0.
  const auto lost = [](double log_ratio) { return 0.0 - std::expm1(log_ratio); };
  result.slowdown = lost(comparison.log_ratio);
  result.beyond_limit = result.slowdown > limit;
  if (comparison.log_ci) {
    result.interval = Interval{lost(comparison.log_ci->hi), lost(comparison.log_ci->lo)};
    result.certain = comparison.log_ci->hi < 0.0;
  }
  return result;
}

Comparison compare(const Side& before, const Side& after, const CompareOptions& options) {
  Comparison result;
  ComparisonDetail& detail = result.detail.emplace();
  detail.before = before;
  detail.after = after;
  result.least_change = options.least_change;
  result.reasons = obstacles_between(before, after);
  detail.differences = differences_between(before, after);
  for (const Difference& difference : detail.differences) {
    const bool known = difference.cause.empty() ||
                       std::find(detail.causes.begin(), detail.causes.end(), difference.cause) !=
                           detail.causes.end();
    if (!known) detail.causes.push_back(difference.cause);
  }
  result.step_before = before.step_seconds;
  result.step_after = after.step_seconds;
  result.mfu_before = before.mfu;
  result.mfu_after = after.mfu;
  detail.split_differs =
      !before.split.empty() && !after.split.empty() && before.split != after.split;

  Scales scales;
  const double least = std::log1p(options.least_change);
  if (!result.reasons.empty()) {
    if (!options.reconvert) return result;
    const bool only_reference =
        result.reasons.size() == 1 && result.reasons.front().obstacle == Obstacle::reference;
    if (!only_reference) {
      const std::optional<Restated> restated = restate(before, after, result.reasons);
      if (!restated) return result;
      detail.restated = restated->how;
      detail.restated_convention = restated->convention;
      result.mfu_before = restated->mfu_before;
      result.mfu_after = restated->mfu_after;
      result.log_ratio = restated->log_ratio;
      scales = {restated->before_scale, restated->after_scale};
      detail.per_gpu = stands(result.reasons, Obstacle::gpus) ||
                       stands(result.reasons, Obstacle::tokens) ||
                       stands(result.reasons, Obstacle::work);
    }
  }
  if (detail.restated == Restatement::none) {
    if (before.mfu && after.mfu) {
      result.log_ratio = log_of(before.mfu, after.mfu);
    } else if (before.step_seconds && after.step_seconds) {
      result.log_ratio = log_of(after.step_seconds, before.step_seconds);
    } else {
      result.reasons.push_back({Obstacle::unmeasured, {}, {}, before.name, after.name});
      return result;
    }
  }
  result.comparable = true;
  // What had to be restated is not one measurement, though its figures may agree.
  detail.same_data = detail.restated == Restatement::none && same_measurement(before, after);
  const Noise noise(before, after, options);
  result.log_ci = noise.of_speed(result.log_ratio);
  judge(result, least);
  if (!stands(result.reasons, Obstacle::reference)) {
    change_factors(before, after, scales, noise, least, result);
  }
  change_parts(before, after, scales, result);
  return result;
}

}  // namespace mfu
