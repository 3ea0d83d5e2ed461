// Whether slow steps come at a period: every so many steps, or every so many seconds.
//
// Any few events lie near some period. One is believed only when events and the period's points
// agree both ways, and when chance would produce as good an agreement, at any period that was
// tried, less than once in a hundred logs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "measure/log_series.hpp"
#include "statistics/robust.hpp"

namespace mfu::measurement {
namespace {

constexpr double kAgree = 0.8;    // of the events, and of the period's points
constexpr double kChance = 0.01;  // over all that was tried
constexpr std::size_t kFewest = 4;
constexpr std::size_t kMostPeriods = 64;

// log of the probability of at least `hits` in `trials`, each with probability p.
double log_tail(std::int64_t hits, std::int64_t trials, double p) {
  if (hits <= 0) return 0.0;
  if (hits > trials) return -std::numeric_limits<double>::infinity();
  p = std::clamp(p, 1e-12, 1.0 - 1e-12);
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<double> logs;
  for (std::int64_t k = hits; k <= trials && logs.size() < 4096; ++k) {
    const auto n = static_cast<double>(trials);
    const auto x = static_cast<double>(k);
    const double term = std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                        x * std::log(p) + (n - x) * std::log1p(-p);
    logs.push_back(term);
    largest = std::max(largest, term);
  }
  double total = 0.0;
  for (const double term : logs) total += std::exp(term - largest);
  return largest + std::log(total);
}

}  // namespace

std::optional<std::int64_t> integer_period(std::span<const std::int64_t> events,
                                           std::int64_t span) {
  if (events.size() < kFewest || span < 8) return {};
  const auto count = static_cast<std::int64_t>(events.size());
  const double density = static_cast<double>(count) / static_cast<double>(span);
  std::map<std::int64_t, std::int64_t> gaps;
  for (std::size_t i = 1; i < events.size(); ++i) ++gaps[events[i] - events[i - 1]];
  std::vector<std::pair<std::int64_t, std::int64_t>> usual(gaps.begin(), gaps.end());
  std::stable_sort(usual.begin(), usual.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (usual.size() > kMostPeriods) usual.resize(kMostPeriods);
  double tried = 0.0;
  for (const auto& [period, times] : usual) tried += static_cast<double>(period);
  std::optional<std::int64_t> found;
  double best = std::log(kChance);
  for (const auto& [period, times] : usual) {
    if (period < 2 || span / period < static_cast<std::int64_t>(kFewest)) continue;
    std::map<std::int64_t, std::int64_t> phases;
    for (const std::int64_t event : events) {
      ++phases[((event % period) + period) % period];
    }
    std::int64_t hits = 0;
    for (const auto& [phase, on_it] : phases) hits = std::max(hits, on_it);
    // The period's points from the first event to the last, so that a run that begins to stumble
    // late is not said to have missed them.
    const std::int64_t points = std::max(hits, (events.back() - events.front()) / period + 1);
    if (static_cast<double>(hits) < kAgree * static_cast<double>(count)) continue;
    if (static_cast<double>(hits) < kAgree * static_cast<double>(points)) continue;
    const double chance = log_tail(hits, points, density) + std::log(tried);
    if (chance < best) {
      best = chance;
      found = period;
    }
  }
  return found;
}

std::optional<double> time_period(std::span<const double> events, double resolution) {
  constexpr std::size_t kFewestGaps = 5;
  if (events.size() < kFewestGaps + 1 || !(resolution > 0)) return {};
  std::vector<double> gaps;
  for (std::size_t i = 1; i < events.size(); ++i) gaps.push_back(events[i] - events[i - 1]);
  const double period = median(gaps);
  const double tolerance = std::max(2 * resolution, 0.03 * period);
  // Steps are the grain: a period of a few of them is told in steps, or not at all.
  if (!(period > 0) || tolerance > 0.15 * period) return {};
  std::int64_t hits = 0;
  for (const double gap : gaps) {
    const double nearest = std::max(1.0, std::round(gap / period));
    if (nearest <= 3 && std::fabs(gap - nearest * period) <= tolerance) ++hits;
  }
  const auto count = static_cast<std::int64_t>(gaps.size());
  if (static_cast<double>(hits) < kAgree * static_cast<double>(count)) return {};
  // The median gap agrees with itself: it proves nothing.
  const double chance = log_tail(hits - 1, count - 1, 2 * tolerance / period);
  if (chance > std::log(kChance)) return {};
  // Over the whole length: each gap is only as good as the grain.
  double multiples = 0.0;
  double length = 0.0;
  for (const double gap : gaps) {
    const double nearest = std::max(1.0, std::round(gap / period));
    if (nearest > 3 || std::fabs(gap - nearest * period) > tolerance) continue;
    multiples += nearest;
    length += gap;
  }
  return length / multiples;
}

}  // namespace mfu::measurement
