// Attribution, factors and verdict for one run.
//
// Symbols, per step s and rank r: C compute, O own stall (not waiting for a peer), X exposed
// transfer (waiting removed), T the job's step, F model FLOPs, N GPUs, P peak; c_s the reference
// compute (median or mean over ranks). With A0 = sum c_s, A1 = sum max_r C, A2 = sum max_r (C+O),
// A3 = sum max_r (C+O+X), A4 = sum T:
//   MFU = F/(N P A0) x A0/A1 x A1/A2 x A2/A3 x A3/A4, exactly, for any positive c_s.
// Numbers only: every sentence is made in the report room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/error.hpp"
#include "mfu/health.hpp"
#include "mfu/interval.hpp"
#include "mfu/timings.hpp"

namespace mfu {

enum class Reference { median, mean };

struct DiagnoseOptions {
  Reference reference = Reference::median;
  double materiality = 0.05;                // share of the step from which a loss counts
  double communication_materiality = 0.15;  // the same for exposed transfer
  double target_efficiency = 0.45;          // single-GPU efficiency that is asked for
  bool drop_warmup = true;
  std::uint64_t seed = 20240613;
  int replicates = 1000;             // of the bootstrap
  std::span<const Chip> user_chips;  // rows of --chips; must outlive the diagnosis
};

enum class Family {
  imbalance,
  single_gpu_efficiency,
  straggler,
  stall,
  communication,
  healthy,
  mixed,
  inconclusive,
};
enum class Locality { rank, node, link, group, stage, all, none };
enum class Persistence { none, steady, bursts, onset, drift, moving };
enum class Cause {
  none,
  thermal,
  power,
  hardware,
  link,
  stage_partition,
  data_lengths,
  data_shard,
  expert_load,
  input,
  checkpoint,
  gc,
  kernels,
  schedule,
  jitter,
  clocks,  // lower than the peers', and neither heat nor power is the reason
  ecc,
  xid,
};
// The ids of the JSON contract: "single-gpu-efficiency", "stage-partition" ...; none: "".
[[nodiscard]] std::string_view to_string(Family family) noexcept;
[[nodiscard]] std::string_view to_string(Locality locality) noexcept;
[[nodiscard]] std::string_view to_string(Persistence persistence) noexcept;
[[nodiscard]] std::string_view to_string(Cause cause) noexcept;

struct Culprits {
  std::vector<std::int64_t> ranks;
  std::vector<std::string> nodes;
  std::vector<std::int64_t> stages;
  std::vector<std::string> groups;  // "dp group of tp=3 pp=0"
};

// One measured reason. Which fields mean what is said at each kind; all times in seconds a step.
enum class FactKind {
  compute_excess,  // culprits compute a, their peers' median b; holds in count of `of` steps
  stall_excess,    // culprits stall a, peers b; count of `of` steps
  burst_excess,    // in count of `of` steps, a seconds more than usual; b: period in steps, 0 none
  onset,           // from step id `count` on: a before, b after
  slowest_moves,   // the rank that is most often slowest is so in count of `of` steps
  slowest_stays,   // the same rank is slowest in count of `of` steps
  stage_work,      // stage `count` of `of` computes a, the other stages' median b
  within_stage,    // evening the ranks inside stages saves a, evening the stages b
  graded_shards,   // compute per rank spreads from a (2 %) to b (98 % of ranks), steadily
  two_speeds,      // count of `of` ranks compute a, the others b, and nothing lies between
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
  few_ranks,        // count recorded of `of` declared; a = 1: those may be whom the others wait for
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
  waits_unsplit,   // idle ranks were recorded alike: own stall and waiting cannot be told apart
  cut_trace,       // the trace of rank `count` stops in the middle
  lost_activities,  // of `name`'s GPU activities count of `of` could not be read
};

struct Fact {
  FactKind kind;
  double a = 0.0;
  double b = 0.0;
  std::int64_t count = 0;
  std::int64_t of = 0;
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

enum class FactorId {
  single_gpu,
  clock,
  kernels,
  balance,
  persistent,
  moving,
  stage,
  within_stage,
  own_stall,
  transfer,
  dependency,
  schedule_bubble,
  dependency_rest,
};
[[nodiscard]] std::string_view to_string(FactorId id) noexcept;

struct Factor {
  FactorId id;
  double value = 1.0;         // can exceed 1 where a model overshoots; never clamped
  double loss_seconds = 0.0;  // a step; can be negative for the same reason
  std::vector<Factor> parts;  // multiply to value
};

enum class PartId {
  model_math,
  compute,  // model math and kernels together, where work or peak is not known
  kernels_below_peak,
  recomputation,
  imbalance_wait,
  own_stall,
  exposed_transfer,
  pipeline_bubble,
  unattributed,
};
[[nodiscard]] std::string_view to_string(PartId id) noexcept;

struct Part {
  PartId id;
  double seconds = 0.0;
  double share = 0.0;  // of the step
};

// One step's terms of the product at the top, in seconds. With B the schedule's own bubble,
// `bubble` is max_r (C+O+X) + B.
struct StepTerms {
  double reference = 0.0;  // c
  double balance = 0.0;    // max_r C
  double own_stall = 0.0;  // max_r (C+O)
  double transfer = 0.0;   // max_r (C+O+X)
  double bubble = 0.0;
  double step = 0.0;  // T
};

// How waiting was told from transfer and own stall.
enum class SplitMethod {
  separate,        // the file has a wait series
  groups,          // per group and step: the minimum over the group's ranks
  step_minimum,    // per step: the minimum over all ranks
  pipeline_model,  // step minus the pipeline's compute minus the common stall
};
[[nodiscard]] std::string_view to_string(SplitMethod split) noexcept;
[[nodiscard]] std::string_view to_string(Recompute recompute) noexcept;

struct Setup {
  std::string model;
  const Chip* chip = nullptr;  // nothing: not given, or not in the table
  std::string chip_id;         // empty: no chip
  std::string chip_name;
  std::int64_t gpus = 0;            // N
  std::int64_t recorded_ranks = 0;  // that this report stands on
  std::int64_t expected_ranks = 0;  // that the recorded layout should have
  std::string precision;            // "bf16", "bf16=0.7,fp8=0.3"; empty: not known
  std::optional<double> peak_flops_per_gpu;
  Clock clock;
  std::optional<double> clock_mhz;  // that the peak means
  bool peak_given = false;          // hardware.peak_tflops, not the chip table
  std::string convention;           // empty: not named
  std::optional<double> seq_len;
  std::optional<double> tokens_per_step;
  std::optional<double> flops_per_step;
  Reference reference = Reference::median;
  int stages = 1;
  std::optional<int> microbatches;
  std::string job;  // its name; empty: the run has none
  std::optional<double> global_batch;
  std::optional<Recompute> recompute;
  Parallelism parallelism;
  std::int64_t nodes = 0;  // that the recorded ranks name; 0: they name none
};

struct Headline {
  std::optional<double> mfu;
  double parallel_efficiency = 0.0;
  double step_seconds = 0.0;
  double p95_seconds = 0.0;
  std::optional<double> tokens_per_second;
  bool missing_work = false;  // why mfu is not there
  bool missing_peak = false;
  bool impossible = false;  // mfu over 1
};

struct Recoverable {
  double step_seconds = 0.0;  // the step that is left if the verdict's cause alone were fixed
  Interval step_seconds_ci;
  std::optional<double> mfu;
};

struct Verdict {
  Family family = Family::inconclusive;
  std::vector<Family> families;  // mixed, or an undecided pair: in order of loss
  Locality locality = Locality::none;
  Culprits culprits;
  Persistence persistence = Persistence::none;
  Cause cause = Cause::none;
  std::optional<std::int64_t> onset_step;
  std::optional<double> period_steps;
  double confidence = 0.0;
  std::optional<Recoverable> recoverable;
  std::vector<Fact> facts;  // evidence; for inconclusive: why
  std::vector<HealthFact> health;
};

// What fixes are worth: each family's alone, and all of them in the order in which they are made.
// Order matters: work is evened after slow places and stalls are gone, and kernels come last.
// With T0 the step as it is, T1 without slow places, stalls and material transfer, T2 evened, T3
// with every GPU at its target:
//   MFU = F/(N P T3) x T3/T2 x T2/T1 x T1/T0, exactly.
enum class FixStage { actual, bursts_and_links, balanced, gpu_at_target };
[[nodiscard]] std::string_view to_string(FixStage stage) noexcept;

// Steps are seconds, means over the steps used; mfu is there where the headline has one.
struct FamilyWorth {
  Family family = Family::healthy;
  double step_seconds = 0.0;  // that is left when this family alone is fixed; never over T0
  std::optional<double> mfu;
  double in_order_seconds = 0.0;  // what its fix saves in its place in the order
  bool material = false;
};

struct ChainStep {
  FixStage stage = FixStage::actual;
  double step_seconds = 0.0;  // never over the step before it
  double ratio = 1.0;         // to the step before it, 0..1; of the first: 1
  std::optional<double> mfu;
  std::vector<Family> families;  // whose fixes are new here
};

struct FixWorth {
  std::vector<FamilyWorth> alone;  // the families that lose something, largest gain first
  std::array<ChainStep, 4> chain;  // always all four, in the order of FixStage
};

// The same for the state that holds at the end of the run, where that is not the state of all
// steps: after what began late, without what is gone. What is left of the job goes on like this.
struct EndState {
  std::int64_t first_step = 0;  // id
  std::int64_t steps = 0;       // that it stands on
  FixWorth worth;               // T0: of these steps; bursts that come back count as over all steps
};

// What seconds of a step come to over a job. `saved_seconds` a step of `step_seconds`, both of all
// `gpus` together; a price is of one GPU for one hour, in whatever money it was given.
struct CostBasis {
  std::int64_t gpus = 0;
  double step_seconds = 0.0;
  std::optional<double> steps_left;
  std::optional<double> price_per_gpu_hour;
};
struct Cost {
  double gpu_hours_a_day = 0.0;  // of the 24 x gpus that a day has
  std::optional<double> money_a_day;
  std::optional<double> gpu_hours_left;  // for the steps that are left
  std::optional<double> money_left;
  std::optional<double> seconds_left;  // by which the job ends earlier
};
[[nodiscard]] Cost cost_of(double saved_seconds, const CostBasis& basis) noexcept;

// Groups of one axis that lie in more places (nodes, or leaf switches) than they need to, judged by
// an arrangement of the same ranks on the same hardware that was found. What fits in no place is
// never among them.
struct NeedlessCrossing {
  Axis axis = Axis::tp;
  bool of_switches = false;  // the places are leaf switches; else nodes
  bool rings = false;        // the groups reach as many places as they must, but to and fro
  std::int64_t groups = 0;   // of the axis
  std::int64_t needless = 0;
  // The first of those that have most to gain, in the order of the axis.
  std::vector<std::int64_t> example_ranks;
  std::vector<std::string> example_places;
  std::int64_t example_crossings = 0;  // places, or hops between places along the ring: now
  std::int64_t example_least = 0;      // and in the arrangement that was found
};

// Ranks that change places with one another: two, or all of two nodes.
struct Exchange {
  std::vector<std::int64_t> ranks, with_ranks;
  std::string place, with_place;  // nodes where they are known, else switches
};

struct Placement {
  bool nodes_known = false;                // of every rank
  bool switches_known = false;             // of every rank, and every node is under one of them
  std::vector<NeedlessCrossing> needless;  // the heaviest traffic first
  std::vector<Exchange> exchanges;         // in this order, they mend all of it
};

struct Diagnosis {
  Setup setup;
  Headline headline;
  std::vector<Factor> factors;   // in the order of the product above; single_gpu only with an MFU
  std::vector<Part> parts;       // sum to headline.step_seconds
  std::vector<StepTerms> terms;  // one for each of steps_used: what factors and parts are sums of
  Verdict verdict;
  std::vector<Finding> findings;  // by loss, largest first; the immaterial ones too
  // Nothing where ranks are missing, or no rank has a place or coordinates.
  std::optional<Placement> placement;
  // Nothing where the parts explain more time than the step has.
  std::optional<FixWorth> worth;
  std::optional<EndState> end_state;  // nothing: the run is in one state from start to end
  SplitMethod split = SplitMethod::step_minimum;
  WaitsIn waits_in = WaitsIn::comm;
  std::vector<std::int64_t> steps_used;    // ids
  std::vector<std::int64_t> warmup_steps;  // ids that the warm-up rule left out
  double target_efficiency = 0.45;
  double materiality = 0.05;
  double communication_materiality = 0.15;
  Health health;
};

// Throws Error{unsupported} on an unknown chip or precision. One rank, or few steps, is no error:
// the verdict is then inconclusive and says why. The answer depends on nothing but its arguments.
[[nodiscard]] Diagnosis diagnose(const RunTimings& run, const DiagnoseOptions& options,
                                 Notes& notes);

}  // namespace mfu
