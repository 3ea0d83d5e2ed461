// Rule: microbatches of uneven length cost more than the ranks' sums show.
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

// How far the compute of one microbatch varies (log): that of a place in a step, beyond its own
// usual and beyond the other places' in that step, is the mean of `count` microbatches, and one of
// them strays sqrt(count) times as far. `place_of`: rank -> place.
template <class PlaceOf>
double spread_of_one(RuleContext& context, std::size_t places, std::size_t count,
                     PlaceOf place_of) {
  const Job& job = context.job();
  Column logs(job.steps(), places);
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = context.model.compute_row(context.local_fixed, s);
    const auto totals = logs.row(s);
    for (std::size_t r = 0; r < row.size(); ++r) totals[place_of(r)] += row[r];
    for (double& total : totals) total = std::log(std::max(total, 1e-300));
  }
  // The median of a few places is nearly one of them, whose own would be lost.
  beside_usual(logs, places > kManyPlaces ? Common::median : Common::mean);
  std::vector<double> strays;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    for (const double value : logs.row(s)) strays.push_back(value);
  }
  // The common part of few places holds a part of each one's own.
  const double few =
      places > 1 ? static_cast<double>(places) / static_cast<double>(places - 1) : 1.0;
  return robust_sigma(strays) * std::sqrt(few * static_cast<double>(count));
}

// Puts `seconds(step)` of stretch into the measured steps, as far as they have room for it. What no
// part explained goes first; what was taken for transfer or a stall was neither.
enum class Room { with_transfer, without_transfer };

template <class Seconds>
void book_spread(RuleContext& context, double sigma, Room where, Seconds seconds) {
  Scenario& measured = context.model.measured();
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    const double unexplained = context.model.unexplained()[s];
    const double transfer = where == Room::with_transfer ? measured.transfer[s] : 0.0;
    const double room = transfer + measured.common_stall[s] + unexplained;
    measured.spread[s] = std::min(seconds(s), room);
    double rest = measured.spread[s] - unexplained;
    const double from_transfer = std::clamp(rest, 0.0, transfer);
    measured.transfer[s] -= from_transfer;
    rest -= from_transfer;
    measured.common_stall[s] -= std::clamp(rest, 0.0, measured.common_stall[s]);
    // One step's stretch can as easily be twice the usual as nothing, and where bubbles are
    // recorded as stalls all ranks seem to stop together for as long.
    if (context.model.attribution().bubbles_in_stall) {
      const double more = std::min(seconds(s), measured.common_stall[s]);
      measured.spread[s] += more;
      measured.common_stall[s] -= more;
    }
  }
  context.local_fixed.spread = measured.spread;
  context.local_fixed.transfer = measured.transfer;
  context.local_fixed.common_stall = measured.common_stall;
  context.model.settle();
  context.spread_sigma = sigma;
}

// Pipelines: a heavy microbatch holds up every stage in turn.
void spread_in_pipelines(RuleContext& context, std::size_t count) {
  const Job& job = context.job();
  const auto pipelines = static_cast<std::size_t>(job.pipelines());
  const double sigma = spread_of_one(context, pipelines, count, [&](std::size_t r) {
    return static_cast<std::size_t>(job.pipeline_of(r));
  });
  if (!(sigma > kSpreadSigma)) return;
  const std::vector<double> stage_level =
      stage_means(job, rank_means(context, context.local_fixed));
  const std::vector<double> even(count, 1.0);
  PipelineForm& form = context.model.form();
  const double without = form.one(stage_level, even);
  Random random(context.options.seed);
  std::vector<double> weights(count);
  // The job waits for the last of its pipelines, each with its own microbatches.
  const std::size_t side_by_side = std::min<std::size_t>(pipelines, kMostPipelines);
  Sum with;
  for (int i = 0; i < kReplays; ++i) {
    double last = 0.0;
    for (std::size_t d = 0; d < side_by_side; ++d) {
      double total = 0.0;
      for (double& weight : weights) {
        weight = std::exp(sigma * random.normal());
        total += weight;
      }
      for (double& weight : weights) weight *= static_cast<double>(count) / total;
      last = std::max(last, form.one(stage_level, weights));
    }
    with.add(last);
  }
  const double stretch = std::max(0.0, with.value() / kReplays / without - 1.0);
  book_spread(context, sigma, Room::with_transfer, [&](std::size_t s) {
    return stretch * form.slowest(context.model.compute_row(context.model.measured(), s));
  });
}

// Expert-parallel peers have different tokens in each microbatch and meet in every layer: the group
// takes the sum of the slowest, not the slowest sum.
void spread_in_lockstep(RuleContext& context, std::size_t count) {
  const Job& job = context.job();
  const auto peers = static_cast<std::size_t>(job.run().parallelism[Axis::ep].value_or(1));
  const double sigma = spread_of_one(context, job.ranks(), count, [](std::size_t r) { return r; });
  if (!(sigma > kLockstepSigma)) return;
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
  const double stretch = std::max(0.0, together.value() / alone.value() - 1.0);
  // Loads that are uneven for whole steps stray alike, but their groups lose nothing beside the
  // slowest sum: only what no transfer explains is the microbatches'.
  book_spread(context, sigma, Room::without_transfer, [&](std::size_t s) {
    const auto row = context.model.compute_row(context.model.measured(), s);
    return stretch * *std::max_element(row.begin(), row.end());
  });
}

}  // namespace

void find_microbatch_spread(RuleContext& context) {
  const Job& job = context.job();
  const int count = job.run().workload.microbatches.value_or(1);
  if (count < 2) return;
  if (job.stages() > 1) {
    if (context.model.form().replays())
      spread_in_pipelines(context, static_cast<std::size_t>(count));
  } else if (job.run().parallelism[Axis::ep].value_or(1) > 1) {
    spread_in_lockstep(context, static_cast<std::size_t>(count));
  }
}

}  // namespace mfu::diagnosis
