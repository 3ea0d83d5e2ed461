// What failures and checkpoints cost: Young's and Daly's interval, and the wall time that follows.
#include <algorithm>
#include <cmath>

#include "mfu/plan.hpp"
#include "plan/parts.hpp"

namespace mfu {
namespace {

// Daly 2006: the best step time between checkpoints, to a high order in d/M.
double daly_interval(double checkpoint_s, double mtbf_s) {
  if (checkpoint_s >= 2.0 * mtbf_s) return mtbf_s;
  const double half = checkpoint_s / (2.0 * mtbf_s);
  return std::sqrt(2.0 * checkpoint_s * mtbf_s) * (1.0 + std::sqrt(half) / 3.0 + half / 9.0) -
         checkpoint_s;
}

constexpr int kHalvings = 200;  // more than the digits of a double

// Where `enough` turns, between a number of GPUs that is enough and one that is not: the last that
// is.
template <typename Enough>
double border(double is, double is_not, const Enough& enough) {
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (is + is_not);
    if (middle == is || middle == is_not) break;
    (enough(middle) ? is : is_not) = middle;
  }
  return is;
}

// Where `useful` is highest, between two logarithms of a number of GPUs: more of them fail more
// often, and what they do together rises to one highest point and falls again. Golden section.
template <typename Useful>
double highest(double low, double high, const Useful& useful) {
  const double golden = (std::sqrt(5.0) - 1.0) / 2.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    // Where both are 0, failures have won already: the highest point is below.
    if (useful(std::exp(left)) >= useful(std::exp(right))) {
      high = right;
    } else {
      low = left;
    }
  }
  return std::exp(low);
}

}  // namespace

Goodput goodput_of(const FailureRate& rate, double gpus) {
  Goodput found;
  const double mtbf = rate.per_gpu ? rate.mtbf_s / gpus : rate.mtbf_s;
  found.job_mtbf_s = mtbf;
  found.young_s = std::sqrt(2.0 * rate.checkpoint_s * mtbf);
  found.daly_s = daly_interval(rate.checkpoint_s, mtbf);
  found.interval_s = rate.interval_s.value_or(found.daly_s);
  // All over the mean time between failures; expm1 keeps the digits where failures are rare.
  const double step = found.interval_s / mtbf;
  const double write = rate.checkpoint_s / mtbf;
  const double without_restarts = std::expm1(step + write);
  const double restarting = std::exp(rate.restart_s / mtbf);
  const double wall = without_restarts * restarting;
  if (!std::isfinite(wall) || !(wall > 0.0) || !(mtbf > 0.0)) {
    found.restarts = 1.0;
    return found;
  }
  found.useful = step / wall;
  found.checkpoints = write / wall;
  found.redone = std::max(0.0, (without_restarts - (step + write)) / wall);
  found.restarts = -std::expm1(-rate.restart_s / mtbf);
  return found;
}

std::optional<GpuCounts> gpus_for(double useful_gpus, const PlanInput& input) {
  if (input.goodput) return GpuCounts{useful_gpus / *input.goodput, {}};
  if (!input.failures) return GpuCounts{useful_gpus, {}};
  const FailureRate& rate = *input.failures;
  const auto useful = [&](double gpus) { return gpus * goodput_of(rate, gpus).useful; };
  if (!rate.per_gpu) {
    const double goodput = goodput_of(rate, 1.0).useful;
    if (!(goodput > 0.0)) return {};
    return GpuCounts{useful_gpus / goodput, {}};
  }
  // First the highest point, then both sides of it are halved.
  constexpr double kMostOver = 1e6;
  const double least = std::log(useful_gpus);
  const double most = highest(least, least + std::log(kMostOver), useful);
  const auto enough = [&](double gpus) { return useful(gpus) >= useful_gpus; };
  GpuCounts counts;
  if (enough(useful_gpus)) {  // goodput is 1 at most: fewer cannot do
    counts.fewest = useful_gpus;
  } else if (enough(most)) {
    counts.fewest = border(most, useful_gpus, enough);
  } else {
    return {};
  }
  const double beyond = useful_gpus * kMostOver;
  if (enough(most) && !enough(beyond)) counts.most = border(most, beyond, enough);
  return counts;
}

FastestGpus fastest_gpus(const FailureRate& rate) {
  const auto useful = [&](double gpus) { return gpus * goodput_of(rate, gpus).useful; };
  constexpr double kMost = 1e15;  // whole numbers up to here are exact
  const double turn = highest(0.0, std::log(kMost), useful);
  FastestGpus found;
  for (const double gpus : {std::max(1.0, std::floor(turn)), std::ceil(turn)}) {
    if (useful(gpus) > found.useful_gpus) found = {gpus, useful(gpus)};
  }
  return found;
}

std::optional<double> most_gpus_at(double goodput, const FailureRate& rate) {
  const auto enough = [&](double gpus) { return goodput_of(rate, gpus).useful >= goodput; };
  constexpr double kRounding = 1e-12;
  if (!enough(1.0)) {
    if (goodput_of(rate, 1.0).useful >= goodput * (1.0 - kRounding)) return 1.0;
    return {};
  }
  double beyond = 2.0;
  while (enough(beyond)) {
    beyond *= 2.0;
    if (!std::isfinite(beyond)) return {};
  }
  return border(beyond / 2.0, beyond, enough);
}

}  // namespace mfu
