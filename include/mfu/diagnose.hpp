// Attribution, factors and verdict for one run.
//
// Symbols, per step s and rank r: C compute, O own stall (not waiting for a peer), X exposed
// transfer (waiting removed), T the job's step, F model FLOPs, N GPUs, P peak; c_s the reference
// compute (median or mean over ranks). With A0 = sum c_s, A1 = sum max_r C, A2 = sum max_r (C+O),
// A3 = sum max_r (C+O+X), A4 = sum T:
//   MFU = F/(N P A0) x A0/A1 x A1/A2 x A2/A3 x A3/A4, exactly, for any positive c_s.
// Numbers only; describe() (report.hpp) puts them in words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/boxed.hpp"
#include "mfu/chip.hpp"
#include "mfu/error.hpp"
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
enum class Persistence { none, steady, bursts, onset, ended, drift, moving, once };
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

struct Headline {
  std::optional<double> mfu;
  double parallel_efficiency = 0.0;
  double step_seconds = 0.0;
  double usual_step_seconds = 0.0;  // median
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
  // Of each of `families`: what is left if that is what it is, and it were fixed. Shorter where
  // that cannot be said of the last ones.
  std::vector<Recoverable> recoverable_by_reading;
};

// What the verdict stands on: for describe() and compare().
struct DiagnosisDetail;

struct Diagnosis {
  Headline headline;
  std::vector<Factor> factors;  // in the order of the product above; single_gpu only with an MFU
  std::vector<Part> parts;      // sum to headline.step_seconds
  Verdict verdict;
  Boxed<DiagnosisDetail> detail;  // diagnose() fills it
};

// Throws Error{unsupported} on an unknown chip or precision. One rank, or few steps, is not an
// error: the verdict is then inconclusive and says why. The answer depends on nothing but its
// arguments.
[[nodiscard]] Diagnosis diagnose(const RunTimings& run, const DiagnoseOptions& options,
                                 Notes& notes);

}  // namespace mfu
