// Training plans: what a model FLOPs utilization is worth in days, GPUs and money, and what
// failures cost of them.
//
// Three equations over seven quantities, solved for what is not given:
//   F T = U P H g    FLOPs: F a token (flops.hpp), T tokens, U MFU, P peak of a GPU, g goodput
//   H = G W          GPU-seconds: G GPUs, W wall seconds
//   C = p H          cost: p price of a GPU-second
// Pure step time is W g. Numbers only; describe() (report.hpp) puts them in words. SI units,
// tokens, parameters, ratios 0..1; money has the currency that it is given in. What is not given or
// found stays empty. Sources stand at the formulas, and in `mfu explain`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace mfu {

// ---------------------------------------------------------------- failures

// Failures at a constant rate (exponential times between them).
struct FailureRate {
  double mtbf_s = 0.0;        // mean time between failures
  bool per_gpu = false;       // of one GPU, so that of G GPUs is mtbf_s / G; else of the whole job
  double checkpoint_s = 0.0;  // that training stops for one checkpoint
  double restart_s = 0.0;     // from a failure to the first step after it
  std::optional<double> interval_s{};  // between checkpoints, of step time; nothing: the best
};

// Shares of the wall time; the parts sum to 1.
struct Goodput {
  double job_mtbf_s = 0.0;
  double interval_s = 0.0;   // that was used
  double young_s = 0.0;      // sqrt(2 d M), Young 1974
  double daly_s = 0.0;       // Daly 2006: of higher order
  double useful = 0.0;       // the goodput
  double checkpoints = 0.0;  // writing them
  double redone = 0.0;       // steps lost since the last checkpoint, and checkpoints cut short
  double restarts = 0.0;
};

// ---------------------------------------------------------------- time, GPUs, money

enum class PlanQuantity { tokens, gpus, seconds, mfu, gpu_seconds, price, cost };
inline constexpr int kPlanQuantities = 7;
// "tokens", "gpus", "seconds", "mfu", "gpu_hours", "price", "cost": as in JSON.
[[nodiscard]] std::string_view to_string(PlanQuantity quantity) noexcept;

struct PlanInput {
  std::optional<double> flops_per_token;  // model FLOPs, under the convention
  std::optional<double> params;           // N of 6 N D: active ones of a mixture of experts
  std::optional<double> peak_flops;       // FLOP/s of one GPU, dense
  std::optional<double> power_w;          // limit of one GPU
  std::optional<double> tokens;
  std::optional<double> gpus;
  std::optional<double> seconds;  // wall time
  std::optional<double> mfu;      // of the step time
  std::optional<double> gpu_seconds;
  std::optional<double> price;  // of a GPU-second
  std::optional<double> cost;   // exactly
  std::optional<double>
      deadline_s;                // wall time at most; stands in for `seconds` where that is open
  std::optional<double> budget;  // cost at most; stands in for `cost` where that is open
  std::optional<double> target_mfu;
  std::optional<double> goodput;
  std::optional<FailureRate> failures;
};

// The inputs say two things about one quantity.
struct PlanContradiction {
  PlanQuantity quantity;
  double given = 0.0;
  double follows = 0.0;            // from the others
  std::vector<PlanQuantity> from;  // the given ones that it follows from
  bool follows_at_least = false;   // `follows` is the least that the others allow
};

// The same work in another way: one change against the plan.
struct PlanVariant {
  enum class Change {
    none,
    target_mfu,
    target_by_gpus,
    twice_the_gpus,
    twice_the_mfu,
    point_of_mfu
  };
  Change change = Change::none;
  double mfu = 0.0;
  double gpus = 0.0;
  double seconds = 0.0;
  double gpu_seconds = 0.0;
  std::optional<double> cost;
};

// What would hold a limit that the plan breaks: each one alone.
struct PlanRemedies {
  std::optional<double> gpus;  // nothing: no number of GPUs would (failures grow with them)
  // Nothing: what would hold the limit cannot be said without them.
  std::optional<double> mfu;  // may be over 1
  std::optional<double> tokens;
};

struct Plan {
  PlanInput input;
  std::optional<double> tokens, gpus, seconds, mfu, gpu_seconds, price, cost;
  std::vector<PlanQuantity> solved;  // found, not given; what was asked for first
  std::vector<PlanQuantity> open;  // neither given nor found; prices only where money is spoken of
  // How many more of the quantities would settle all of `open`, once the model and the peak are
  // known; where it is one, which ones would.
  int needed = 0;
  std::vector<PlanQuantity> settling;
  bool deadline_taken = false;  // it stood in for the time
  bool budget_taken = false;    // it stood in for the cost
  std::vector<PlanContradiction> contradictions;
  std::optional<double> goodput;                     // 1 without failures
  std::optional<Goodput> failures;                   // where a rate is given and the GPUs are known
  std::optional<double> total_flops;                 // of the run, under the convention
  std::optional<double> peak_total_flops;            // what the GPUs could do in the wall time
  std::optional<double> delivered_flops_per_second;  // of the job, over the wall time
  std::optional<double> step_seconds;                // wall time less what failures cost
  std::optional<double> energy_joules;  // of the GPUs at their power limit: an upper bound
  std::vector<PlanVariant> variants;    // where all of tokens, gpus, seconds and mfu are known
  std::optional<PlanRemedies> late;     // the deadline does not hold
  std::optional<PlanRemedies> dear;     // the budget does not hold: tokens and mfu only
  bool impossible = false;              // an MFU over 1 would be needed
  bool no_gpus_suffice = false;         // failures per GPU: no number of GPUs is fast enough
  // Failures per GPU: `gpus` is what the GPU-seconds are enough for, since more of them lose more.
  bool gpus_at_most = false;
  // Failures per GPU: this many take the same time as well, since they lose so much more. `gpus`
  // are the fewest.
  std::optional<double> gpus_too;
  // Failures per GPU: what one GPU, which loses least, costs. Where that is over the budget.
  std::optional<double> least_cost;
  // Failures per GPU: the time that the fastest number of GPUs takes, and that number, whole. Where
  // that is over the deadline, which then says nothing of the GPUs.
  std::optional<double> least_seconds, fastest_gpus;
  bool overflow = false;  // a result is larger than a number can hold
};

[[nodiscard]] Plan plan_compute(const PlanInput& input);

}  // namespace mfu
