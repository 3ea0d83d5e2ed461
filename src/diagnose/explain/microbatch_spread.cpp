// Rule: microbatches of uneven length cost more than the ranks' sums show: a heavy one holds up
// every stage of its pipeline in turn.
#include <algorithm>
#include <cmath>

#include "diagnose/explain/levels.hpp"
#include "diagnose/fit/waits.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kSpreadSigma = 0.05;  // log spread of a microbatch, from which it is replayed
// In lock-step groups jitter of the whole step is taken for microbatches' as well.
constexpr double kLockstepSigma = 0.12;
constexpr std::size_t kManyPlaces = 8;
constexpr int kReplays = 64;
constexpr std::size_t kMostPipelines = 16;  // replayed in parallel

// How far the compute of one microbatch varies (log): that of a place (a pipeline, or a rank) in a
// step, beyond its own usual and beyond the others' in that step, is the mean of `count`
// microbatches, and one of them strays sqrt(count) times as far.
double spread_of_one(RuleContext& context, std::size_t count) {
  const Job& job = context.job();
  const bool piped = job.stages() > 1;
  const std::size_t places = piped ? static_cast<std::size_t>(job.pipelines()) : job.ranks();
  Column logs(job.steps(), places);
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = context.model.compute_row(context.local_fixed, s);
    const auto totals = logs.row(s);
    for (std::size_t r = 0; r < row.size(); ++r) {
      totals[piped ? static_cast<std::size_t>(job.pipeline_of(r)) : r] += row[r];
    }
    for (double& total : totals) total = std::log(std::max(total, 1e-300));
  }
  // The median of a few is nearly one of them, whose own would be lost.
  beside_usual(logs, places > kManyPlaces ? Common::median : Common::mean);
  std::vector<double> strays;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    strays.insert(strays.end(), logs.row(s).begin(), logs.row(s).end());
  }
  // The common part of few places holds a part of each one's own.
  const auto n = static_cast<double>(places);
  return robust_sigma(strays) *
         std::sqrt((places > 1 ? n / (n - 1.0) : 1.0) * static_cast<double>(count));
}

// By how much microbatches that stray by `sigma` stretch the last of the job's pipelines.
double stretch_of(RuleContext& context, std::size_t count, double sigma) {
  const std::vector<double> stage_level =
      stage_means(context.job(), rank_means(context, context.local_fixed));
  PipelineForm& form = context.model.form();
  const auto side_by_side =
      std::min(static_cast<std::size_t>(context.job().pipelines()), kMostPipelines);
  Random random(context.options.seed);
  std::vector<double> weights(count);
  Sum with;
  for (int i = 0; i < kReplays; ++i) {
    double last = 0.0;
    for (std::size_t d = 0; d < side_by_side; ++d) {
      for (double& weight : weights) weight = std::exp(sigma * random.normal());
      const double level = mean(weights);
      for (double& weight : weights) weight /= level;
      last = std::max(last, form.one(stage_level, weights));
    }
    with.add(last);
  }
  const double without = form.one(stage_level, std::vector<double>(count, 1.0));
  return std::max(0.0, with.value() / kReplays / without - 1.0);
}

// The same of lock-step groups: a group takes the sum of the slowest, not the slowest sum.
double stretch_in_lockstep(RuleContext& context, std::size_t count, double sigma) {
  const Job& job = context.job();
  const auto peers = static_cast<std::size_t>(job.run().parallelism[Axis::ep].value_or(1));
  const std::size_t side_by_side = std::clamp<std::size_t>(job.ranks() / peers, 1, kMostPipelines);
  Random random(context.options.seed);
  std::vector<double> totals(peers);
  Sum together;
  Sum alone;
  for (int i = 0; i < kReplays; ++i) {
    double last = 0.0;
    double largest = 0.0;
    for (std::size_t d = 0; d < side_by_side; ++d) {
      std::fill(totals.begin(), totals.end(), 0.0);
      double group = 0.0;
      for (std::size_t k = 0; k < count; ++k) {
        double slowest = 0.0;
        for (double& total : totals) {
          const double weight = std::exp(sigma * random.normal() - 0.5 * sigma * sigma);
          total += weight;
          slowest = std::max(slowest, weight);
        }
        group += slowest;
      }
      last = std::max(last, group);
      largest = std::max(largest, *std::max_element(totals.begin(), totals.end()));
    }
    together.add(last);
    alone.add(largest);
  }
  return std::max(0.0, together.value() / alone.value() - 1.0);
}

}  // namespace

void find_microbatch_spread(RuleContext& context) {
  const Job& job = context.job();
  const auto count = static_cast<std::size_t>(job.run().workload.microbatches.value_or(1));
  const bool piped = job.stages() > 1;
  if (count < 2 || (piped && !context.model.form().replays())) return;
  if (!piped && job.run().parallelism[Axis::ep].value_or(1) < 2) return;
  const double sigma = spread_of_one(context, count);
  if (!(sigma > (piped ? kSpreadSigma : kLockstepSigma))) return;
  const double stretch =
      piped ? stretch_of(context, count, sigma) : stretch_in_lockstep(context, count, sigma);
  Scenario& measured = context.model.measured();
  // As far as the steps have room for it: what no part explained goes first; what was taken for
  // transfer or a stall was neither.
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const double seconds =
        stretch * context.model.form().slowest(context.model.compute_row(measured, s));
    // Loads that are uneven for whole steps stray alike, but their lock-step groups lose nothing
    // beside the slowest sum: only what no transfer explains is the microbatches'.
    double nothing = 0.0;
    double& transfer = piped ? measured.transfer[s] : nothing;
    double& stall = measured.common_stall[s];
    const double unexplained = context.model.unexplained()[s];
    measured.spread[s] = std::min(seconds, transfer + stall + unexplained);
    const double taken = std::max(0.0, measured.spread[s] - unexplained);
    const double from_transfer = std::min(taken, transfer);
    transfer -= from_transfer;
    stall -= std::min(taken - from_transfer, stall);
    // One step's stretch can as easily be twice the usual as nothing, and where bubbles are
    // recorded as stalls all ranks seem to stop together for as long.
    if (!context.model.attribution().bubbles_in_stall) continue;
    const double more = std::min(seconds, stall);
    measured.spread[s] += more;
    stall -= more;
  }
  context.local_fixed.spread = measured.spread;
  context.local_fixed.transfer = measured.transfer;
  context.local_fixed.common_stall = measured.common_stall;
  context.model.settle();
  context.spread_sigma = sigma;
}

}  // namespace mfu::diagnosis
