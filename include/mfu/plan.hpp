// Training plans: what a model FLOPs utilization is worth in days, GPUs and money, and the limits
// of model size, batch, schedule and failures that go with it.
//
// Three equations over seven quantities, solved for what is not given:
//   F T = U P H g     FLOPs: F a token (flops.hpp), T tokens, U MFU, P peak FLOP/s of a GPU, g
//   goodput H = G W           GPU-seconds: G GPUs, W wall seconds C = p H           cost: p price
//   of a GPU-second
// Pure step time is W g. Numbers only: the sentences are in the report room. SI units, tokens,
// parameters, ratios 0..1; money has the currency that it is given in. What is not given or found
// stays empty. Sources stand at the formulas, and in `mfu explain` (report/plan_terms.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mfu {

// ---------------------------------------------------------------- failures

// Failures at a constant rate (exponential times between them).
struct FailureRate {
  double mtbf_s = 0.0;        // mean time between failures
  bool per_gpu = false;       // of one GPU, so that of G GPUs is mtbf_s / G; else of the whole job
  double checkpoint_s = 0.0;  // that training stands still for one checkpoint
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

// Daly 2006: M exp(R/M) (exp((t+d)/M) - 1) of wall time for t of step time. Exact for
// failures at a constant rate, also during checkpoints and restarts. `gpus` counts where the rate
// is per GPU. A rate that lets nothing through has useful = 0.
[[nodiscard]] Goodput goodput_of(const FailureRate& rate, double gpus);

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

// No large run has published a higher MFU: beyond this, twice the MFU is no way out.
inline constexpr double kHighestMfu = 0.7;

// A goodput below this is no progress: no answer is worth its digits.
inline constexpr double kNothingDone = 1e-9;

// Statements closer than this agree.
inline constexpr double kPlanAgreement = 0.01;

[[nodiscard]] Plan plan_compute(const PlanInput& input);

// ---------------------------------------------------------------- model size and tokens

// L(N, D) = E + A / N^alpha + B / D^beta, nats per token.
struct LossFit {
  std::string_view id;  // also of its term in `mfu explain`
  std::string_view name;
  double e, a, b, alpha, beta;
};
[[nodiscard]] std::span<const LossFit> loss_fits() noexcept;
// Throws Error{usage} with the nearest.
[[nodiscard]] const LossFit& find_loss_fit(std::string_view id);
[[nodiscard]] double loss_of(const LossFit& fit, double params, double tokens);

inline constexpr double kTokensPerParam = 20.0;  // Hoffmann et al. 2022

struct OptimalSize {
  const LossFit* fit = nullptr;  // nothing: kTokensPerParam
  double params = 0.0;
  double tokens = 0.0;
  double loss = 0.0;  // by the chosen fit
};

enum class Trained { under, near, over };

struct Optimal {
  double flops = 0.0;  // 6 N D
  const LossFit* fit = nullptr;
  std::vector<OptimalSize> sizes;  // the rule, then each fit
  // The plan's own model:
  std::optional<double> params, tokens, loss;
  std::optional<double> tokens_for_params;  // kTokensPerParam of them
  Trained trained = Trained::near;          // tokens a parameter against the rule, a factor of 1.5
  // Compute with which a model of the best size (by the fit) would reach the same loss.
  std::optional<double> flops_for_same_loss;
  bool beyond_fit = false;  // sizes or tokens that the fit has not seen
};
// Sizes that the fits were made on (Hoffmann et al. 2022): 70M to 16B parameters, 5B to
// 500B tokens.
inline constexpr double kFitFewestParams = 70e6, kFitMostParams = 16e9;
inline constexpr double kFitFewestTokens = 5e9, kFitMostTokens = 500e9;

// `flops`: 6 N D of the delivered budget.
[[nodiscard]] Optimal plan_optimal(double flops, std::optional<double> params,
                                   std::optional<double> tokens, const LossFit& fit);

// ---------------------------------------------------------------- batch

enum class BatchLaw {
  kaplan_2020,   // B* / L^(1/alpha_B)
  inverse_loss,  // rule of thumb: as 1/L; needs a measured batch at a known loss
};
[[nodiscard]] std::string_view to_string(BatchLaw law) noexcept;
inline constexpr double kKaplanBatchTokens = 2e8;  // B*, Kaplan et al. 2020
inline constexpr double kKaplanBatchPower = 0.21;  // alpha_B

struct BatchInput {
  std::optional<double> noise_scale;       // tokens: the gradient noise scale, as measured
  std::optional<double> noise_scale_loss;  // the loss that it was measured at; nothing: at `loss`
  std::optional<double> loss;              // at which the batch is wanted, nats per token
  BatchLaw law = BatchLaw::kaplan_2020;
  std::optional<double> batch;   // tokens of a step, whole job
  std::optional<double> tokens;  // of the plan
  std::optional<double> seq_len;
  std::optional<double> gpus;
  std::optional<double> mfu;
};

struct BatchRow {
  double batch = 0.0;              // tokens
  double share = 0.0;              // of the critical batch
  double tokens_over_least = 0.0;  // 1 + B/B_crit
  double steps_over_least = 0.0;   // 1 + B_crit/B
  std::optional<double> tokens;    // for the loss that the plan reaches at its own batch
  std::optional<double> steps;
  std::optional<double> even_mfu;  // that makes this batch as fast as the plan's own
  bool own = false;
};

struct BatchPlan {
  BatchInput input;
  double critical = 0.0;                  // tokens
  bool measured = false;                  // the noise scale itself, not a law
  std::optional<double> steps;            // of the plan at its batch
  std::vector<BatchRow> rows;             // by batch
  std::optional<double> most_replicas;    // data-parallel, one sequence each, at the critical batch
  std::optional<double> least_gpus_each;  // GPUs that must then share a replica
};

// S = S_min (1 + B_crit/B), E = E_min (1 + B/B_crit) (McCandlish et al. 2018; Kaplan et al.
// 2020). Nothing where neither a noise scale nor a loss is
// known, or inverse_loss lacks its anchor.
[[nodiscard]] std::optional<BatchPlan> plan_batch(const BatchInput& input);

// ---------------------------------------------------------------- learning rate

enum class ScheduleShape { cosine, linear, wsd };
[[nodiscard]] std::string_view to_string(ScheduleShape shape) noexcept;

struct ScheduleInput {
  ScheduleShape shape = ScheduleShape::cosine;
  double steps = 0.0;         // whole
  double warmup_steps = 0.0;  // fewer than steps
  double decay_steps = 0.0;   // of wsd; else all that is left
  double final_share = 0.1;   // of the peak
  std::optional<double> peak_rate;
  std::optional<double> tokens_per_step;
};

// Of the step's rate over the peak; steps count from 1. Warm-up rises from 1/w at step 1 to 1 at
// step w; the last step has `final_share`.
[[nodiscard]] double rate_share(const ScheduleInput& schedule, double step);

struct SchedulePoint {
  double step = 0.0;
  double share = 0.0;      // of the peak
  std::string_view phase;  // "warm-up", "peak", "constant", "decay", "end"
};
// About `count` steps at equal distances, and the corners. Each step once, in order.
[[nodiscard]] std::vector<SchedulePoint> schedule_points(const ScheduleInput& schedule,
                                                         std::size_t count);
// Mean of the shares over all steps.
[[nodiscard]] double mean_share(const ScheduleInput& schedule);

struct PublishedRate {
  std::string_view model;
  double params;
  double rate;          // peak, Adam or AdamW
  double batch_tokens;  // 0: not one number
  std::string_view source;
};
[[nodiscard]] std::span<const PublishedRate> published_rates() noexcept;
// The nearest in size, at most `count` and within a factor of 2; nearest first.
[[nodiscard]] std::vector<PublishedRate> rates_near(double params, std::size_t count);
// Between the rows of GPT-3's table of sizes, straight in the logarithms; nothing outside of it.
[[nodiscard]] std::optional<double> gpt3_rate(double params);

}  // namespace mfu
