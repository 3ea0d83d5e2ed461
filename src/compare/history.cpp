#include "compare/history.hpp"

#include <algorithm>
#include <cmath>

#include "compare/spread.hpp"
#include "statistics/robust.hpp"

namespace mfu {
namespace {

constexpr std::size_t kMostOfBaseline = 20;
constexpr std::size_t kMostLooked = 500;  // the last ones: time grows with the square
constexpr std::size_t kLeastSide = 3;     // entries on either side of a change
constexpr double kLeastShift = 0.01;
constexpr double kStrong = 4.0;  // standard errors of a difference of medians
// Below, one deviation among so few is no scatter: their median says next to nothing.
constexpr std::size_t kFewestForRobust = 6;
// Values that a robust scatter is worth, of as many normal ones.
constexpr double kRobustWorth = 0.37;
// Standard error of a median over that of a mean, of normal values.
constexpr double kMedianError = 1.2533141373155;

double scatter_around(std::span<const double> values) {
  if (values.size() >= kFewestForRobust) return robust_sigma(values);
  return comparison::deviation({values.begin(), values.end()});
}

// Of neighbours' differences: a shift of the level is one difference of many and does not count.
double scatter_of(std::span<const double> values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) {
    steps.push_back(std::fabs(values[i] - values[i - 1]));
  }
  if (steps.empty()) return kLeastScatter;
  constexpr double kToSigma = 1.4826 / 1.4142135623730951;
  return std::max(kLeastScatter, kToSigma * median_inplace(steps));
}

double distance_from_median(std::span<const double> values) {
  const double middle = median(values);
  Sum total;
  for (const double value : values) total.add(std::fabs(value - middle));
  return total.value();
}

// Splits where two levels explain the values best, if they are apart, then each side again.
void split(std::span<const double> values, std::size_t begin, std::size_t end, double sigma,
           std::vector<std::size_t>& found) {
  double least = 0.0;
  std::size_t at = 0;
  for (std::size_t i = begin + kLeastSide; i + kLeastSide <= end; ++i) {
    const double left_over = distance_from_median(values.subspan(begin, i - begin)) +
                             distance_from_median(values.subspan(i, end - i));
    if (at == 0 || left_over < least) {
      least = left_over;
      at = i;
    }
  }
  if (at == 0) return;
  const double shift =
      std::fabs(median(values.subspan(at, end - at)) - median(values.subspan(begin, at - begin)));
  const double error =
      kMedianError * sigma *
      std::sqrt(1.0 / static_cast<double>(at - begin) + 1.0 / static_cast<double>(end - at));
  if (shift < std::log1p(kLeastShift) || shift < kStrong * error) return;
  split(values, begin, at, sigma, found);
  found.push_back(at);
  split(values, at, end, sigma, found);
}

}  // namespace

bool measured_alike(const HistoryEntry& a, const HistoryEntry& b) noexcept {
  if (a.fingerprint != b.fingerprint || a.command != b.command || a.gpus != b.gpus ||
      a.statistic != b.statistic) {
    return false;
  }
  constexpr double kSameTokens = 1e-3;  // packed or padded data differ a little from run to run
  return (a.mfu && b.mfu) || a.tokens_per_step == b.tokens_per_step ||
         (a.tokens_per_step && b.tokens_per_step &&
          std::fabs(*a.tokens_per_step - *b.tokens_per_step) <= kSameTokens * *a.tokens_per_step);
}

std::optional<double> log_speed(const HistoryEntry& entry) noexcept {
  if (entry.mfu && *entry.mfu > 0) return std::log(*entry.mfu);
  if (entry.step_seconds && *entry.step_seconds > 0) return -std::log(*entry.step_seconds);
  return {};
}

std::vector<HistoryChange> changes_in(std::span<const double> log_speeds) {
  std::vector<std::size_t> places;
  const std::size_t first = log_speeds.size() > kMostLooked ? log_speeds.size() - kMostLooked : 0;
  split(log_speeds, first, log_speeds.size(), scatter_of(log_speeds), places);
  std::vector<HistoryChange> changes;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::size_t before = k == 0 ? first : places[k - 1];
    const std::size_t end = k + 1 < places.size() ? places[k + 1] : log_speeds.size();
    changes.push_back({places[k], median(log_speeds.subspan(before, places[k] - before)),
                       median(log_speeds.subspan(places[k], end - places[k]))});
  }
  return changes;
}

std::optional<HistoryBaseline> baseline_of(std::span<const double> log_speeds) {
  const std::vector<HistoryChange> changes = changes_in(log_speeds);
  std::span<const double> recent = log_speeds;
  if (!changes.empty()) recent = recent.subspan(changes.back().index);
  if (recent.size() > kMostOfBaseline) recent = recent.subspan(recent.size() - kMostOfBaseline);
  if (recent.size() < kFewestForBaseline) return {};
  HistoryBaseline baseline;
  baseline.entries = recent.size();
  baseline.log_middle = median(recent);
  baseline.log_sigma = std::max(kLeastScatter, scatter_around(recent));
  return baseline;
}

std::vector<HistorySeries> group_history(const std::vector<HistoryEntry>& entries,
                                         const std::string& job) {
  std::vector<HistorySeries> all;
  for (const HistoryEntry& entry : entries) {
    if (!job.empty() && entry.job != job) continue;
    auto series = std::find_if(all.begin(), all.end(), [&](const HistorySeries& one) {
      return one.job == entry.job && measured_alike(one.entries.front(), entry);
    });
    if (series == all.end()) {
      HistorySeries fresh;
      fresh.job = entry.job;
      fresh.fingerprint = entry.fingerprint;
      series = all.insert(all.end(), std::move(fresh));
    }
    series->entries.push_back(entry);
  }
  for (HistorySeries& series : all) {
    // MFUs and step times are not mixed: where any has an MFU, those without have no speed.
    series.has_mfu = std::any_of(series.entries.begin(), series.entries.end(),
                                 [](const HistoryEntry& entry) { return entry.mfu.has_value(); });
    for (std::size_t i = 0; i < series.entries.size(); ++i) {
      const HistoryEntry& entry = series.entries[i];
      const std::optional<double> speed = log_speed(entry);
      if (!speed || (series.has_mfu && !entry.mfu)) continue;
      series.log_speeds.push_back(*speed);
      series.speed_entry.push_back(i);
    }
    series.changes = changes_in(series.log_speeds);
    series.baseline = baseline_of(series.log_speeds);
  }
  return all;
}

AgainstHistory hold_against(const HistoryBaseline& baseline, double log_speed,
                            const std::optional<Interval>& relative_ci) {
  AgainstHistory result;
  result.baseline = baseline;
  result.log_ratio = log_speed - baseline.log_middle;
  const double of_middle =
      kMedianError * baseline.log_sigma / std::sqrt(static_cast<double>(baseline.entries));
  const double own = comparison::log_deviation(relative_ci).value_or(0.0);
  // A run scatters as the runs of the history do; its own spread comes on top where it is known to
  // be larger.
  const double run = std::max(baseline.log_sigma, own);
  const auto others = static_cast<double>(baseline.entries - 1);
  const double worth = baseline.entries < kFewestForRobust ? others : kRobustWorth * others;
  const double half = comparison::student95(worth) * std::hypot(run, of_middle);
  result.log_ci = {result.log_ratio - half, result.log_ratio + half};
  return result;
}

}  // namespace mfu
