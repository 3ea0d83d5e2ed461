#include "diagnose/places/split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

// Of ascending values.
double quantile_of_sorted(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

UnitLevel level_of(std::span<const double> series) {
  UnitLevel result;
  const auto n = static_cast<double>(series.size());
  if (series.empty()) return result;
  const double all = mean(series);
  const double largest = *std::max_element(series.begin(), series.end());
  result.mean = n > 1.0 ? (all * n - largest) / (n - 1.0) : 0.0;
  Sum squares;
  for (const double value : series) squares.add((value - all) * (value - all));
  result.variance = n > 1.0 ? squares.value() / (n - 1.0) : 0.0;
  return result;
}

std::optional<std::vector<std::size_t>> slow_units(std::span<const UnitLevel> units,
                                                   std::size_t steps, double least) {
  const std::size_t n = units.size();
  if (n < 2 || steps == 0) return std::nullopt;
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return units[a].mean < units[b].mean; });
  std::vector<double> sorted;
  std::vector<double> above(n + 1, 0.0);  // sums of the values from here on
  for (const std::size_t k : order) sorted.push_back(units[k].mean);
  for (std::size_t i = n; i-- > 0;) above[i] = above[i + 1] + sorted[i];

  double variance = 0.0;  // summed over the units that are fast if the slow ones begin at i
  for (std::size_t i = 1; i < n; ++i) {
    variance += units[order[i - 1]].variance;
    const std::span<const double> fast(sorted.data(), i);
    const std::span<const double> slow(sorted.data() + i, n - i);
    const double usual = quantile_of_sorted(fast, 0.5);
    const double apart = above[i] / static_cast<double>(n - i) - usual;
    if (apart < least) continue;
    const double gap = sorted[i] - sorted[i - 1];
    const double reach = quantile_of_sorted(slow, limits::kReachQuantile) - usual;
    if (gap < limits::kGapOfReach * std::max(reach, apart)) continue;
    // A few fast units are the odd ones as easily.
    const bool few_fast = static_cast<double>(i) < limits::kFewFast * static_cast<double>(n);
    if (gap < (few_fast ? 1.0 : limits::kLeastGap) * least) continue;
    const double spread =
        quantile_of_sorted(fast, 1.0 - limits::kTail) - quantile_of_sorted(fast, limits::kTail);
    if (spread >= limits::kFastSpread * apart) continue;
    const double noise = std::sqrt(variance / static_cast<double>(i * steps));
    if (apart < limits::kSigmasApart * noise) continue;
    std::vector<std::size_t> result(order.begin() + static_cast<std::ptrdiff_t>(i), order.end());
    std::sort(result.begin(), result.end());
    return result;
  }
  return std::nullopt;
}

}  // namespace mfu::diagnosis
