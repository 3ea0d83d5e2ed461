// Two speeds among the steps of a log, whatever their order.
#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/log_series.hpp"
#include "statistics/level_split.hpp"
#include "statistics/robust.hpp"

namespace mfu::measurement {

namespace {

constexpr double kClear = 0.85;      // share of the variance between the two speeds
constexpr double kApart = 1.1;       // times the quicker one
constexpr double kLeastShare = 0.1;  // of the lines, at each speed
constexpr std::size_t kLeast = 5;    // lines at each speed
constexpr double kRegular = 0.8;     // of the distances between slow lines are the usual one

// Lines from one slow one to the next, where that is nearly always as many.
std::optional<double> period_of(const std::vector<bool>& slow) {
  std::vector<double> gaps;
  std::size_t last = slow.size();
  for (std::size_t i = 0; i < slow.size(); ++i) {
    const bool begins = slow[i] && (i == 0 || !slow[i - 1]);
    if (!begins) continue;
    if (last < slow.size()) gaps.push_back(static_cast<double>(i - last));
    last = i;
  }
  if (gaps.size() < 4) return {};
  const double usual = median(gaps);
  const auto same = std::count(gaps.begin(), gaps.end(), usual);
  if (static_cast<double>(same) < kRegular * static_cast<double>(gaps.size())) return {};
  return usual;
}

}  // namespace

std::optional<LogLevels> find_levels(std::span<const CountedStep> steps) {
  const std::size_t n = steps.size();
  if (n < 2 * kLeast) return {};
  std::vector<double> sorted;
  for (const CountedStep& step : steps) sorted.push_back(step.cost);
  std::sort(sorted.begin(), sorted.end());
  const auto least =
      std::max(kLeast, static_cast<std::size_t>(std::ceil(kLeastShare * static_cast<double>(n))));
  const LevelSplit speeds = best_split(sorted, least);
  if (speeds.at == 0 || speeds.explained < kClear) return {};
  const double middle = 0.5 * (sorted[speeds.at - 1] + sorted[speeds.at]);
  LogLevels levels;
  std::vector<bool> slow;
  Sum quick_time;
  Sum slow_time;
  Sum quick_work;
  Sum slow_work;
  for (const CountedStep& step : steps) {
    slow.push_back(step.cost > middle);
    (slow.back() ? slow_time : quick_time).add(step.cost * step.weight);
    (slow.back() ? slow_work : quick_work).add(step.weight);
  }
  levels.quick_cost = quick_time.value() / quick_work.value();
  levels.slow_cost = slow_time.value() / slow_work.value();
  if (levels.slow_cost < kApart * levels.quick_cost) return {};
  levels.slow_share = static_cast<double>(n - speeds.at) / static_cast<double>(n);
  levels.time_share = slow_time.value() / (slow_time.value() + quick_time.value());
  levels.period_lines = period_of(slow);
  return levels;
}

}  // namespace mfu::measurement
