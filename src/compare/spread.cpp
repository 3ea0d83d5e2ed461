#include "compare/spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/term_spread.hpp"
#include "diagnose/step_terms.hpp"
#include "measure/log_series.hpp"
#include "measure/log_summary.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/robust.hpp"

namespace mfu::comparison {
namespace {

constexpr std::size_t kFewest = 5;            // steps or lines that can show a spread
constexpr std::size_t kMostResampled = 4096;  // beyond, neighbours go together
constexpr double kNormal95 = 1.959963984540054;

// Neighbours merged, so that at most kMostResampled are left. Sums of merged steps are the sums of
// the steps, and blocks of neighbours are what is resampled anyway.
std::vector<StepTerms> merged(std::span<const StepTerms> terms) {
  const std::size_t together = (terms.size() + kMostResampled - 1) / kMostResampled;
  std::vector<StepTerms> out;
  for (std::size_t begin = 0; begin < terms.size(); begin += together) {
    StepTerms total;
    const std::size_t end = std::min(terms.size(), begin + together);
    for (std::size_t i = begin; i < end; ++i) {
      total.reference += terms[i].reference;
      total.balance += terms[i].balance;
      total.own_stall += terms[i].own_stall;
      total.transfer += terms[i].transfer;
      total.step += terms[i].step;
    }
    out.push_back(total);
  }
  return out;
}

// 1 for steps that are bursts: far above the usual, and not too many of them.
std::vector<std::uint32_t> bursts_of(std::span<const double> seconds) {
  constexpr double kSigmas = 6.0;
  constexpr double kLeastShare = 0.05;
  constexpr double kMostSteps = 0.45;
  const double usual = median(seconds);
  const double limit = usual + std::max(kSigmas * robust_sigma(seconds), kLeastShare * usual);
  std::vector<std::uint32_t> stratum(seconds.size(), 0);
  std::size_t count = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    stratum[i] = seconds[i] > limit ? 1U : 0U;
    count += stratum[i];
  }
  if (static_cast<double>(count) > kMostSteps * static_cast<double>(seconds.size())) {
    stratum.assign(seconds.size(), 0);
  }
  return stratum;
}

// The block that the usual steps ask for: bursts are drawn as they come, or apart.
std::size_t block_of(std::span<const double> seconds, std::span<const std::uint32_t> bursts) {
  std::vector<double> usual;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (bursts[i] == 0) usual.push_back(seconds[i]);
  }
  return block_length(usual);
}

// Resampled blocks scatter less than the steps that they are of: the mean of few is drawn from its
// own few.
double widening(std::size_t steps, std::size_t block) {
  const auto n = static_cast<double>(steps);
  const auto b = std::min(static_cast<double>(block), 0.5 * n);
  const double freedom = std::min(n - 1.0, 1.5 * n / b);
  return student95(freedom) / kNormal95 * std::sqrt(n / (n - b));
}

void widen(std::vector<double>& values, double by) {
  const double middle = median(values);
  for (double& value : values) value = middle + by * (value - middle);
}

void widen(Replicates& drawn, double by) {
  widen(drawn.speed, by);
  for (std::vector<double>& factor : drawn.factors) widen(factor, by);
}

// A stream of its own for the second question.
constexpr std::uint64_t kOtherStream = 0x5851F42D4C957F2DULL;

std::optional<Replicates> resample_run(std::span<const StepTerms> all, int replicates,
                                       std::uint64_t seed) {
  if (all.size() < kFewest) return {};
  const std::vector<StepTerms> terms = merged(all);
  std::vector<double> seconds;
  for (const StepTerms& term : terms) seconds.push_back(term.step);
  Replicates out;
  out.factors.resize(5);
  const std::vector<std::uint32_t> one_stratum(terms.size(), 0);
  const std::vector<std::uint32_t> bursts = bursts_of(seconds);
  const std::size_t block = block_of(seconds, bursts);
  const auto speed_of = [&](std::span<const std::size_t> drawn) {
    double time = 0.0;
    for (const std::size_t i : drawn) time += terms[i].step;
    out.speed.push_back(-std::log(time));
  };
  const auto factors_of = [&](std::span<const std::size_t> drawn) {
    std::array<double, 5> a{};
    for (const std::size_t i : drawn) {
      a[0] += terms[i].reference;
      a[1] += terms[i].balance;
      a[2] += terms[i].own_stall;
      a[3] += terms[i].transfer;
      a[4] += terms[i].step;
    }
    out.factors[0].push_back(-std::log(a[0]));
    for (std::size_t k = 1; k < 5; ++k) out.factors[k].push_back(std::log(a[k - 1] / a[k]));
  };
  bootstrap(one_stratum, replicates, seed, speed_of, block);
  bootstrap(bursts, replicates, seed ^ kOtherStream, factors_of, block);
  widen(out, widening(terms.size(), block));
  return out;
}

struct Lines {
  std::span<const double> costs, weights;
};

std::size_t together_of(const Lines& all) {
  return (all.costs.size() + kMostResampled - 1) / kMostResampled;
}

std::vector<measurement::CountedStep> merged(const Lines& all) {
  const std::size_t together = together_of(all);
  std::vector<measurement::CountedStep> lines;
  std::vector<measurement::CountedStep> some;
  for (std::size_t begin = 0; begin < all.costs.size(); begin += together) {
    const std::size_t end = std::min(all.costs.size(), begin + together);
    some.clear();
    double weight = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      measurement::CountedStep line;
      line.cost = all.costs[i];
      line.weight = all.weights[i];
      weight += line.weight;
      some.push_back(line);
    }
    measurement::CountedStep line = some.front();
    line.cost = measurement::weighted_median(some);
    line.weight = weight;
    lines.push_back(line);
  }
  return lines;
}

std::optional<Replicates> resample_log(const Lines& all, int replicates, std::uint64_t seed) {
  if (all.costs.size() < kFewest) return {};
  const std::size_t together = together_of(all);
  const std::vector<measurement::CountedStep> lines = merged(all);
  // Total time of each of the lines, which a median of neighbours does not keep.
  std::vector<double> times(lines.size(), 0.0);
  for (std::size_t i = 0; i < all.costs.size(); ++i) {
    times[i / together] += all.costs[i] * all.weights[i];
  }
  std::vector<double> means;
  for (std::size_t i = 0; i < lines.size(); ++i) means.push_back(times[i] / lines[i].weight);
  Replicates out;
  out.factors.resize(2);
  std::vector<measurement::CountedStep> chosen;
  const auto draw = [&](std::span<const std::size_t> drawn) {
    chosen.clear();
    double time = 0.0;
    double weight = 0.0;
    for (const std::size_t i : drawn) {
      chosen.push_back(lines[i]);
      time += times[i];
      weight += lines[i].weight;
    }
    return time / weight;
  };
  const std::vector<std::uint32_t> one_stratum(lines.size(), 0);
  const std::vector<std::uint32_t> bursts = bursts_of(means);
  const std::size_t block = block_of(means, bursts);
  const auto speed_of = [&](std::span<const std::size_t> drawn) {
    out.speed.push_back(-std::log(draw(drawn)));
  };
  const auto factors_of = [&](std::span<const std::size_t> drawn) {
    const double mean = draw(drawn);
    const double usual = measurement::weighted_median(chosen);
    out.factors[0].push_back(-std::log(usual));
    out.factors[1].push_back(std::log(usual / mean));
  };
  bootstrap(one_stratum, replicates, seed, speed_of, block);
  bootstrap(bursts, replicates, seed ^ kOtherStream, factors_of, block);
  widen(out, widening(lines.size(), block));
  return out;
}

}  // namespace

std::optional<Replicates> resample(const Side& side, int replicates, std::uint64_t seed) {
  if (!side.terms.empty()) return resample_run(side.terms, replicates, seed);
  if (!side.costs.empty()) return resample_log({side.costs, side.weights}, replicates, seed);
  return {};
}

std::optional<double> log_deviation(const std::optional<Interval>& relative) {
  if (!relative || !(relative->lo > -1.0) || !(relative->hi >= relative->lo)) return {};
  return 0.5 * (std::log1p(relative->hi) - std::log1p(relative->lo)) / kNormal95;
}

double student95(double freedom) noexcept {
  constexpr double z = kNormal95;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  constexpr double z7 = z5 * z * z;
  const double f = std::max(2.0, freedom);
  return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

Interval central_interval(const std::vector<double>& values) {
  return {quantile(values, 0.025), quantile(values, 0.975)};
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  Sum squares;
  for (const double value : values) squares.add((value - middle) * (value - middle));
  return std::sqrt(squares.value() / static_cast<double>(values.size() - 1));
}

}  // namespace mfu::comparison

namespace mfu {
namespace {

constexpr int kReplicates = 400;
constexpr std::uint64_t kSeed = 20240613;

// Around the middle of the resampled: where the steps' own value lies.
Interval relative(const std::vector<double>& logs) {
  const double middle = median(logs);
  const Interval ends = comparison::central_interval(logs);
  return {std::expm1(ends.lo - middle), std::expm1(ends.hi - middle)};
}

// A slow step is a low speed.
Interval inverse(const Interval& speed) {
  return {-speed.hi / (1 + speed.hi), -speed.lo / (1 + speed.lo)};
}

}  // namespace

std::optional<TermSpread> spread_of(std::span<const StepTerms> terms) {
  const std::optional<comparison::Replicates> drawn =
      comparison::resample_run(terms, kReplicates, kSeed);
  if (!drawn) return {};
  TermSpread spread;
  spread.step = inverse(relative(drawn->speed));
  for (const std::vector<double>& logs : drawn->factors) spread.factors.push_back(relative(logs));
  return spread;
}

std::optional<LogSpread> spread_of(const LogSummary& summary) {
  const std::optional<comparison::Replicates> drawn =
      comparison::resample_log({summary.costs, summary.weights}, kReplicates, kSeed);
  if (!drawn) return {};
  return LogSpread{inverse(relative(drawn->speed)), relative(drawn->factors[1])};
}

}  // namespace mfu
