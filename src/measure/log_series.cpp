#include "measure/log_series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "statistics/bootstrap.hpp"
#include "statistics/robust.hpp"

namespace mfu::measurement {
namespace {

constexpr std::size_t kFewestLines = 5;
constexpr std::size_t kNeighbours = 10;  // on either side
constexpr double kSlow = 0.10;           // beyond the neighbours' median
constexpr double kSlowSigma = 5.0;
constexpr std::size_t kFewestForOutliers = 8;
constexpr std::size_t kMostResampled = 4096;  // lines; above that, order statistics agree
constexpr int kReplicates = 400;

struct Weighed {
  double cost;
  double weight;
};

double quantile_of(std::vector<Weighed>& values, double q) {
  std::sort(values.begin(), values.end(),
            [](const Weighed& a, const Weighed& b) { return a.cost < b.cost; });
  Sum total;
  for (const Weighed& value : values) total.add(value.weight);
  const double wanted = q * total.value();
  double before = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    before += values[i].weight;
    if (before > wanted * (1 + 1e-12)) return values[i].cost;
    if (before >= wanted * (1 - 1e-12)) {
      // Exactly between two lines.
      return i + 1 < values.size() ? 0.5 * (values[i].cost + values[i + 1].cost) : values[i].cost;
    }
  }
  return values.back().cost;
}

bool same_weights(std::span<const CountedStep> steps) {
  return std::all_of(steps.begin(), steps.end(),
                     [&](const CountedStep& step) { return step.weight == steps.front().weight; });
}

std::vector<double> costs_of(std::span<const CountedStep> steps) {
  std::vector<double> costs;
  costs.reserve(steps.size());
  for (const CountedStep& step : steps) costs.push_back(step.cost);
  return costs;
}

// By how much neighbours that are alike widen an interval: variance of the share below the median
// in blocks, over that of independent lines. 1: not at all.
double inflation(std::span<const double> costs, double middle) {
  const auto n = static_cast<double>(costs.size());
  const auto block = static_cast<std::size_t>(std::max(2.0, std::round(std::cbrt(n))));
  const std::size_t blocks = costs.size() / block;
  if (blocks < 3) return 1.0;
  Sum squares;
  for (std::size_t b = 0; b < blocks; ++b) {
    double below = 0.0;
    for (std::size_t i = 0; i < block; ++i) {
      const double cost = costs[b * block + i];
      below += cost < middle ? 1.0 : cost == middle ? 0.5 : 0.0;
    }
    const double share = below / static_cast<double>(block) - 0.5;
    squares.add(share * share);
  }
  const double variance = squares.value() / static_cast<double>(blocks);
  return std::max(1.0, variance * static_cast<double>(block) / 0.25);
}

}  // namespace

double weighted_quantile(std::span<const CountedStep> steps, double q) {
  if (same_weights(steps)) {
    std::vector<double> costs = costs_of(steps);
    return quantile_inplace(costs, q);
  }
  std::vector<Weighed> values;
  values.reserve(steps.size());
  for (const CountedStep& step : steps) values.push_back({step.cost, step.weight});
  return quantile_of(values, q);
}

double weighted_median(std::span<const CountedStep> steps) { return weighted_quantile(steps, 0.5); }

std::optional<Interval> median_interval(std::span<const CountedStep> steps, std::uint64_t seed) {
  if (steps.size() < kFewestLines) return {};
  const bool alike = same_weights(steps);
  if (steps.size() > kMostResampled) {
    std::vector<double> costs = costs_of(steps);
    const double wider = std::sqrt(inflation(costs, median(costs)));
    const double half = 1.96 * 0.5 * wider / std::sqrt(static_cast<double>(costs.size()));
    return Interval{quantile(costs, std::max(0.0, 0.5 - half)),
                    quantile(costs, std::min(1.0, 0.5 + half))};
  }
  std::vector<double> medians;
  std::vector<double> drawn_costs;
  std::vector<Weighed> drawn_values;
  const std::vector<std::uint32_t> one_stratum(steps.size(), 0);
  bootstrap(one_stratum, kReplicates, seed, [&](std::span<const std::size_t> drawn) {
    if (alike) {
      drawn_costs.clear();
      for (const std::size_t i : drawn) drawn_costs.push_back(steps[i].cost);
      medians.push_back(median_inplace(drawn_costs));
      return;
    }
    drawn_values.clear();
    for (const std::size_t i : drawn) drawn_values.push_back({steps[i].cost, steps[i].weight});
    medians.push_back(quantile_of(drawn_values, 0.5));
  });
  return Interval{quantile(medians, 0.025), quantile(medians, 0.975)};
}

std::optional<double> median_error(std::span<const CountedStep> steps) {
  if (steps.size() < kFewestLines) return {};
  const std::vector<double> costs = costs_of(steps);
  const double middle = median(costs);
  const double sigma = robust_sigma(costs);
  return 1.2533 * sigma * std::sqrt(inflation(costs, middle) / static_cast<double>(costs.size())) /
         middle;
}

OutlierSteps find_outliers(std::span<const CountedStep> steps,
                           const std::vector<LoggedPause>& pauses, bool cost_is_step_seconds) {
  OutlierSteps found;
  if (steps.size() < kFewestForOutliers) return found;
  // Beyond the neighbours, so that a slow drift or a new segment makes no outliers.
  std::vector<double> beyond;
  std::vector<double> usual;
  std::vector<double> window;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::size_t first = i > kNeighbours ? i - kNeighbours : 0;
    std::size_t last = std::min(steps.size(), i + kNeighbours + 1);
    while (steps[first].segment != steps[i].segment) ++first;
    while (steps[last - 1].segment != steps[i].segment) --last;
    window.clear();
    for (std::size_t k = first; k < last; ++k) window.push_back(steps[k].cost);
    usual.push_back(median_inplace(window));
    beyond.push_back(steps[i].cost / usual.back() - 1);
  }
  const double least = std::max(kSlow, kSlowSigma * robust_sigma(beyond));

  std::vector<std::int64_t> paused;
  for (const LoggedPause& pause : pauses) paused.push_back(pause.after_iteration);
  std::sort(paused.begin(), paused.end());

  std::int64_t stride = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].segment != steps[i - 1].segment) continue;
    stride = std::gcd(stride, steps[i].iteration - steps[i - 1].iteration);
  }
  stride = std::max<std::int64_t>(stride, 1);

  Sum total;
  Sum in_outliers;
  Sum excess;
  double clock = 0.0;
  bool stamped = true;
  std::vector<std::int64_t> at_line;
  std::vector<double> at_second;
  std::vector<double> at_stamp;
  std::size_t before = steps.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CountedStep& step = steps[i];
    const double time = step.cost * step.weight;
    total.add(time);
    const bool follows = before + 1 == i;
    if (beyond[i] > least) {
      ++found.count;
      in_outliers.add(time);
      excess.add((step.cost - usual[i]) * step.weight);
      if (step.cost > found.largest_cost) {
        found.largest_cost = step.cost;
        found.largest_iteration = step.iteration;
      }
      const auto covers = static_cast<std::int64_t>(step.weight);
      const auto pause = std::lower_bound(paused.begin(), paused.end(), step.iteration - covers);
      if (pause != paused.end() && *pause <= step.iteration) ++found.beside_pauses;
      if (!follows) {
        at_line.push_back(step.iteration / stride);
        at_second.push_back(clock);
        if (step.timestamp_s) {
          at_stamp.push_back(*step.timestamp_s);
        } else {
          stamped = false;
        }
      }
      before = i;
    }
    clock += time;
  }
  if (found.count == 0) return found;
  found.time_share = in_outliers.value() / total.value();
  found.excess_share = excess.value() / total.value();
  // A resumed run repeats its numbers: the period is looked for in one that does not.
  if (!std::is_sorted(at_line.begin(), at_line.end())) return found;
  const std::int64_t span = (steps.back().iteration - steps.front().iteration) / stride + 1;
  if (const auto period = integer_period(at_line, span)) {
    found.period_steps = static_cast<double>(*period * stride);
    return found;
  }
  const double grain = total.value() / static_cast<double>(steps.size());
  if (stamped && std::is_sorted(at_stamp.begin(), at_stamp.end())) {
    const double length =
        steps.back().timestamp_s.value_or(0.0) - steps.front().timestamp_s.value_or(0.0);
    found.period_seconds = time_period(at_stamp, length / static_cast<double>(steps.size()));
  } else if (cost_is_step_seconds) {
    found.period_seconds = time_period(at_second, grain);
  }
  return found;
}

std::optional<LogDrift> find_drift(std::span<const CountedStep> steps) {
  constexpr std::size_t kBlocks = 40;
  constexpr double kLeastChange = 0.02;
  constexpr double kLeastZ = 3.0;
  if (steps.size() < 20) return {};
  const std::vector<double> costs = costs_of(steps);
  // Medians of consecutive steps are nearly independent of one another; single steps are not.
  const std::size_t blocks = std::min(kBlocks, costs.size() / 2);
  std::vector<double> course;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t begin = b * costs.size() / blocks;
    const std::size_t end = (b + 1) * costs.size() / blocks;
    course.push_back(median(std::span<const double>(costs).subspan(begin, end - begin)));
  }
  LogDrift drift;
  drift.z = mann_kendall_z(course);
  const std::size_t fifth = costs.size() / 5;
  const std::span<const double> all(costs);
  drift.change = median(all.last(fifth)) / median(all.first(fifth)) - 1;
  const bool same_way = (drift.z > 0) == (drift.change > 0);
  if (!same_way || std::fabs(drift.z) < kLeastZ || std::fabs(drift.change) < kLeastChange) {
    return {};
  }
  return drift;
}

}  // namespace mfu::measurement
