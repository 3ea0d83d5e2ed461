#include "diagnose/explain/moving_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/levels.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kLengthsCorrelation = 0.95;  // forward with backward, within a rank
constexpr double kLengthsVariation = 0.03;    // coefficient of variation of a rank's forward
constexpr double kOneStep = 0.8;              // of the loss
constexpr double kUnrelated = 0.5;            // forward with backward: no longer work
constexpr double kJitterTail = 1.5;           // times what normal jitter would cost
constexpr double kFewRanks = 128.0;
constexpr double kManyRanks = 512.0;
// Coefficient of variation of a rank's compute that jitter can have: up to the first in jobs of few
// ranks, where what strays further is work, up to the second in jobs of very many.
constexpr double kMostJitterOfFew = 0.02;
constexpr double kMostJitterOfMany = 0.04;

struct Lengths {
  double correlation = 0.0;
  double variation = 0.0;
  bool known = false;
};

Lengths lengths_evidence(const Job& job) {
  if (job.run().forward.empty() || job.run().backward.empty()) return {};
  std::vector<double> correlations;
  std::vector<double> variations;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    std::vector<double> forward;
    std::vector<double> backward;
    for (std::size_t s = 0; s < job.steps(); ++s) {
      const double f = job.raw(job.run().forward, s)[r];
      const double b = job.raw(job.run().backward, s)[r];
      if (std::isnan(f) || std::isnan(b)) continue;
      forward.push_back(f);
      backward.push_back(b);
    }
    const double c = correlation(forward, backward);
    if (!std::isnan(c)) correlations.push_back(c);
    const double level = mean(forward);
    if (!(level > 0.0)) continue;
    double squares = 0.0;
    for (const double f : forward) squares += (f - level) * (f - level);
    variations.push_back(std::sqrt(squares / static_cast<double>(forward.size())) / level);
  }
  if (correlations.empty() || variations.empty()) return {};
  return {median_inplace(correlations), median_inplace(variations), true};
}

// The largest of n standard normal values, on average (Cramer 1946, section 28.6).
double expected_largest(std::size_t n) {
  if (n < 2) return 0.0;
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kEuler = 0.57721566490153286;
  const double a = std::sqrt(2.0 * std::log(static_cast<double>(n)));
  return a - (2.0 * std::log(a) - std::log(2.0) + std::log(4.0 * kPi)) / (2.0 * a) + kEuler / a;
}

// Every rank strays a little, independently, and the job waits for the slowest of many: the more
// ranks, the more it costs, and nobody is to blame. It has a price but is not a fault: never
// material.
void describe_jitter(RuleContext& context, const Scenario& base, const Lengths& lengths,
                     Candidate& candidate) {
  const Job& job = context.job();
  const double variation = compute_variation(context, base);
  // One recorded rank can stand for its lock-step peers.
  const double ranks = std::max(static_cast<double>(job.ranks()),
                                static_cast<double>(job.run().hardware.count.value_or(0)));
  const double scale = std::log(ranks / kFewRanks) / std::log(kManyRanks / kFewRanks);
  const double most =
      kMostJitterOfFew + (kMostJitterOfMany - kMostJitterOfFew) * std::clamp(scale, 0.0, 1.0);
  // Longer sequences stretch forward and backward alike: what does not is no work, up to the most
  // that jitter can be.
  const bool no_work = lengths.known && lengths.correlation < kUnrelated;
  if (!(variation < (no_work ? kMostJitterOfMany : most)) && lengths.known) return;
  if (!(variation < kMostJitterOfMany)) return;
  const double level = mean(rank_means(context, base));
  const double price = expected_largest(job.ranks()) * variation * level;
  const double cost = mean(candidate.loss) - mean(base.spread);
  if (cost > kJitterTail * price) return;
  if (mean(base.spread) > candidate.materiality * context.mean_step()) return;
  Finding& finding = candidate.finding;
  if (!no_work && !(variation < most)) {
    finding.facts.emplace_back(FactKind::jitter_or_work, price, variation, job.ranks());
    return;
  }
  finding.cause = Cause::jitter;
  finding.facts.emplace_back(FactKind::jitter, mean(candidate.loss), variation, job.ranks());
  candidate.materiality = std::numeric_limits<double>::infinity();
}

}  // namespace

double compute_variation(RuleContext& context, const Scenario& scenario) {
  const Job& job = context.job();
  std::vector<Sum> squares(job.ranks());
  const std::vector<double> means = rank_means(context, scenario);
  const double level = mean(means);
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = context.model.compute_row(scenario, s);
    const double common = level > 0.0 ? mean(row) / level : 1.0;
    for (std::size_t r = 0; r < row.size(); ++r) {
      const double d = row[r] - means[r] * common;
      squares[r].add(d * d);
    }
  }
  std::vector<double> variations;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    if (means[r] > 0.0) {
      variations.push_back(std::sqrt(squares[r].value() / static_cast<double>(job.steps())) /
                           means[r]);
    }
  }
  return variations.empty() ? 0.0 : median_inplace(variations);
}

bool take_once(RuleContext& context, const Scenario& scenario, Candidate& candidate) {
  const auto& loss = candidate.loss;
  const auto largest = std::max_element(loss.begin(), loss.end());
  if (loss.size() < 2 || *largest < kOneStep * sum(loss)) return false;
  const auto step = static_cast<std::size_t>(largest - loss.begin());
  const auto row = context.model.compute_row(scenario, step);
  const auto slowest =
      static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  context.tell_once(candidate.finding, step, *largest, std::array{slowest},
                    FactKind::compute_excess, row);
  candidate.on.assign(loss.size(), false);
  candidate.on[step] = true;
  return true;
}

void describe_moving(RuleContext& context, const Scenario& scenario, Candidate& candidate) {
  Finding& finding = candidate.finding;
  finding.persistence = Persistence::moving;
  const Lengths lengths = lengths_evidence(context.job());
  describe_jitter(context, scenario, lengths, candidate);
  if (!lengths.known) return;
  finding.facts.emplace_back(FactKind::fwd_bwd, lengths.correlation, lengths.variation);
  if (finding.cause == Cause::jitter) return;
  if (lengths.correlation >= kLengthsCorrelation && lengths.variation >= kLengthsVariation) {
    finding.cause = Cause::data_lengths;
  } else if (lengths.correlation < kUnrelated) {
    // Longer sequences stretch forward and backward alike: this is no work that moves, but far more
    // than what GPUs stray by themselves.
    finding.cause = Cause::jitter;
  }
}

}  // namespace mfu::diagnosis
