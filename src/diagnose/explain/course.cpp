#include "diagnose/explain/course.hpp"

#include <algorithm>
#include <cmath>

#include "diagnose/thresholds.hpp"
#include "statistics/level_split.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kBurstSigmas = 6.0;
constexpr double kMostBurstSteps = 0.45;  // share of the steps

double linear_fit_explained(std::span<const double> y) {
  std::vector<double> x(y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const double r = correlation(x, y);
  return std::isnan(r) ? 0.0 : r * r;
}

bool is_onset(std::span<const double> y, const LevelSplit& split) {
  constexpr double kMostBefore = 0.35;  // of the level after it
  if (split.at == 0 || split.after <= 0.0 || split.before > kMostBefore * split.after) return false;
  const double middle = 0.5 * (split.before + split.after);
  std::size_t high_before = 0;
  std::size_t high_after = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i < split.at) high_before += y[i] >= middle;
    if (i >= split.at) high_after += y[i] > middle;
  }
  // What came and went before has no onset the last time.
  const double most_before = std::max(1.0, 0.05 * static_cast<double>(split.at));
  return static_cast<double>(high_before) <= most_before &&
         static_cast<double>(high_after) >= 0.8 * static_cast<double>(y.size() - split.at);
}

}  // namespace

std::optional<double> period_of(const std::vector<bool>& on, std::span<const std::int64_t> ids) {
  std::vector<double> starts;
  for (std::size_t i = 0; i < on.size(); ++i) {
    if (on[i] && (i == 0 || !on[i - 1])) starts.push_back(static_cast<double>(ids[i]));
  }
  if (starts.size() < 3) return std::nullopt;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < starts.size(); ++i) gaps.push_back(starts[i] - starts[i - 1]);
  const double gap = median(gaps);
  if (gap < 2.0) return std::nullopt;
  const double tolerance = std::max(0.5, 0.1 * gap);
  std::size_t single = 0;
  for (const double g : gaps) {
    const double times = std::max(1.0, std::round(g / gap));
    if (std::fabs(g - times * gap) > tolerance * times) return std::nullopt;
    single += times == 1.0;
  }
  if (3 * single < 2 * gaps.size()) return std::nullopt;
  return gap;
}

double BurstSplit::mean_excess() const {
  return sum(excess) / static_cast<double>(std::max<std::size_t>(1, on_count));
}

Course course_of_bursts(const BurstSplit& split, std::span<const std::int64_t> ids) {
  Course course;
  course.persistence = Persistence::bursts;
  course.on = split.on;
  course.on_count = split.on_count;
  course.period_steps = period_of(split.on, ids);
  return course;
}

BurstSplit split_bursts(std::span<const double> series, double floor) {
  BurstSplit result;
  result.on.assign(series.size(), false);
  result.excess.assign(series.size(), 0.0);
  if (series.empty()) return result;
  const double middle = median(series);
  const double limit = middle + std::max(kBurstSigmas * robust_sigma(series), floor);
  std::vector<double> usual;
  for (std::size_t i = 0; i < series.size(); ++i) {
    result.on[i] = series[i] > limit;
    if (!result.on[i]) usual.push_back(series[i]);
  }
  result.on_count = series.size() - usual.size();
  result.level = usual.empty() ? middle : median_inplace(usual);
  if (static_cast<double>(result.on_count) > kMostBurstSteps * static_cast<double>(series.size())) {
    result.on.assign(series.size(), false);
    result.on_count = 0;
    result.level = middle;
    return result;
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (result.on[i]) result.excess[i] = series[i] - result.level;
  }
  return result;
}

namespace {

// Do the quick steps come back after the same number of steps?
bool come_regularly(std::span<const double> series, double middle) {
  std::vector<bool> quick;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < series.size(); ++i) {
    quick.push_back(series[i] <= middle);
    places.push_back(static_cast<std::int64_t>(i));
  }
  return period_of(quick, places).has_value();
}

}  // namespace

BurstSplit split_modes(std::span<const double> series) {
  constexpr double kClear = 0.9;       // share of the variance between the modes
  constexpr double kApart = 1.1;       // times the lower mode
  constexpr double kLeastSteps = 0.1;  // of all, in each mode
  constexpr double kMostSlow = 0.6;    // of all: beyond it quick steps can be the odd ones
  BurstSplit result;
  result.on.assign(series.size(), false);
  result.excess.assign(series.size(), 0.0);
  if (series.empty()) return result;
  std::vector<double> sorted(series.begin(), series.end());
  std::sort(sorted.begin(), sorted.end());
  result.level = median(sorted);
  const auto least = static_cast<std::size_t>(
      std::max(3.0, std::ceil(kLeastSteps * static_cast<double>(sorted.size()))));
  const LevelSplit modes = best_split(sorted, least);
  if (modes.at == 0 || modes.explained < kClear || modes.after < kApart * modes.before) {
    return result;
  }
  const double middle = 0.5 * (modes.before + modes.after);
  if (static_cast<double>(sorted.size() - modes.at) >
          kMostSlow * static_cast<double>(sorted.size()) &&
      come_regularly(series, middle)) {
    return result;
  }
  result.level = modes.before;
  for (std::size_t i = 0; i < series.size(); ++i) {
    result.on[i] = series[i] > middle;
    result.on_count += result.on[i];
    if (result.on[i]) result.excess[i] = series[i] - result.level;
  }
  return result;
}

namespace {

// Is the effect nearly gone in many steps, although it carries the median?
bool leaves_out_steps(std::span<const double> effect, const Course& course) {
  Sum on;
  Sum off;
  for (std::size_t i = 0; i < effect.size(); ++i) (course.on[i] ? on : off).add(effect[i]);
  const std::size_t quiet = effect.size() - course.on_count;
  if (course.on_count == 0 ||
      static_cast<double>(quiet) < limits::kLeastQuietSteps * static_cast<double>(effect.size())) {
    return false;
  }
  return off.value() / static_cast<double>(quiet) <
         limits::kMostInQuiet * on.value() / static_cast<double>(course.on_count);
}

}  // namespace

Course course_of(std::span<const double> effect, std::span<const std::int64_t> ids) {
  Course result;
  const std::size_t n = effect.size();
  if (n == 0) return result;
  const double average = mean(effect);
  const double middle = median(effect);

  // Half of the strongest twentieth: a threshold that a few bursts set as well as a steady effect.
  std::vector<double> sorted(effect.begin(), effect.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const std::size_t top = std::min(n, std::max<std::size_t>(3, n / 20));
  const bool level_carries = middle >= 0.5 * average;
  const double threshold =
      0.5 * (level_carries ? middle : mean(std::span<const double>(sorted).first(top)));
  result.on.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    result.on[i] = effect[i] > threshold;
    result.on_count += result.on[i];
  }

  const std::size_t edge = std::max<std::size_t>(3, n / 20);
  const LevelSplit split = best_split(effect, edge);
  const double linear = linear_fit_explained(effect);
  if (is_onset(effect, split) && split.explained >= linear && split.explained > 0.5) {
    result.persistence = Persistence::onset;
    result.onset = split.at;
    result.before = split.before;
    result.after = split.after;
    return result;
  }
  const std::size_t fifth = std::max<std::size_t>(1, n / 5);
  const double first = mean(effect.first(fifth));
  const double last = mean(effect.last(fifth));
  if (mann_kendall_z(effect) > 3.0 && linear > 0.4 && last - first > 0.5 * average) {
    result.persistence = Persistence::drift;
    result.before = first;
    result.after = last;
    return result;
  }
  if (level_carries && !leaves_out_steps(effect, result)) return result;
  result.persistence = Persistence::bursts;
  result.period_steps = period_of(result.on, ids);
  return result;
}

}  // namespace mfu::diagnosis
