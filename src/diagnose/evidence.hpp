// What was found in a run, and by what: every loss with the facts that speak for it.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/devices/health_check.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/interval.hpp"

namespace mfu {

// One measured reason. Which fields mean what is said at each kind; all times in seconds a step.
enum class FactKind {
  compute_excess,  // culprits compute a, their peers' median b; holds in count of `of` steps
  stall_excess,    // culprits stall a, peers b; count of `of` steps
  burst_excess,    // in count of `of` steps, a seconds more than usual; b: period in steps, 0 none
  onset,           // from step id `count` on: a before, b after
  slowest_moves,   // the rank that is most often slowest is so in count of `of` steps
  slowest_stays,   // the same rank is slowest in count of `of` steps
  stage_work,      // stage `count` of `of` computes a, the other stages' median b
  within_stage,    // balancing the ranks inside stages saves a, balancing the stages b
  graded_shards,   // compute per rank spreads from a (2 %) to b (98 % of ranks), steadily
  two_speeds,      // count of `of` ranks compute a, the others b, and nothing lies between
  many_slow,       // count of `of` ranks are slow: too many to be sure that it is their devices
  once,            // in one step (id count) of `of` a seconds more than usual; name: whose
  fwd_bwd,         // within-rank forward/backward correlation a, forward coefficient of variation b
  fwd_bwd_ratio,   // culprits against peers: forward ratio a, backward ratio b
  microbatch_spread,  // uneven microbatches stretch the pipeline by a; log spread b
  common_stall,       // all ranks stop together in count of `of` steps, a to b seconds (10-90 %)
  scattered_stall,    // own stalls of single ranks, at different times: a seconds; count of `of`
                      // steps
  exposed_transfer,   // a seconds, share b of the step
  link_excess,        // group `name` transfers a, the typical group b
  efficiency,         // single-GPU efficiency a, target b; count 1: at the observed clock
  slowdown,           // compute of all ranks from a (first fifth) to b (last fifth of the steps)
  clocks,             // SM clock a MHz against b MHz (peers, or the first fifth)
  schedule_bubble,    // a seconds, share b; count stages, `of` microbatches
  unexplained,        // a seconds that no part of the model explains, share b
  coincides,          // stage `count` is exactly node `name`
  few_steps,          // count usable steps, `of` needed
  few_ranks,        // count recorded of `of` declared; name: the missing ones, where that is known
  one_rank,         // only one rank of `of`
  overexplained,    // the parts explain a seconds more than the step has, share b
  no_microbatches,  // `count` stages, but the number of microbatches is not given
  not_judged,       // single-GPU efficiency was not judged: work or peak is missing
  slow_everywhere,  // the data cannot tell one slow link from slow communication everywhere
  below_materiality,  // the largest loss seen is a seconds, share b; name: its family, or with
                      // count 1 the place that is slow
  step_uneven,        // ranks' own step times differ by share a (median over the steps)
  jitter,          // ranks stray by b (coefficient of variation) at random: a seconds a step, since
                   // count ranks wait for the slowest of them
  other_chip,      // the culprits are another chip than their peers: `name`
  jitter_or_work,  // so would jitter of b: ranks' forward and backward apart would tell; a seconds
                   // is what it would cost with count ranks
  host_bound,      // the step stays while the slowest rank's compute moves from a to b (10-90 %)
  unmeasured,      // `name` was not measured
  missing_ranks,   // count of `of` ranks are not recorded: `name`; they may be whom the others wait
                   // for
  waits_unsplit,   // idle ranks were recorded alike: own stall and waiting cannot be told apart
  cut_trace,       // the trace of rank `count` stops in the middle
  lost_activities,  // of `name`'s GPU activities count of `of` could not be read
};

struct Fact {
  template <std::integral Count = int, std::integral Of = int>
  Fact(FactKind what, double first = 0.0, double second = 0.0, Count number = 0, Of all = 0,
       std::string whose = {})
      : kind(what),
        a(first),
        b(second),
        count(static_cast<std::int64_t>(number)),
        of(static_cast<std::int64_t>(all)),
        name(std::move(whose)) {}

  FactKind kind;
  double a, b;
  std::int64_t count, of;
  std::string name;
};

// One loss that was found, with what it is worth.
struct Finding {
  Family family = Family::healthy;
  Locality locality = Locality::none;
  Culprits culprits;
  Persistence persistence = Persistence::none;
  Cause cause = Cause::none;
  std::optional<std::int64_t> onset_step;
  std::optional<double> period_steps;
  // The first step without it, where it was there in one stretch of steps and has not come back.
  std::optional<std::int64_t> gone_since_step;
  double loss_seconds = 0.0;  // a step, if this alone were fixed
  Interval loss_ci;           // 95 %, bootstrap over steps
  bool material = false;
  std::vector<Fact> facts;
  std::vector<HealthFact> health;  // cheap causes for or against it; empty: no telemetry
};

}  // namespace mfu
