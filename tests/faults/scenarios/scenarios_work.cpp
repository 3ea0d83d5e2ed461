// Kinds of job whose work or transfers are badly shared out, nothing being broken.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "faults/job/draws.hpp"

namespace mfu::faults {

namespace {

// Lengths that differ by less cannot be told from jitter.
constexpr double kLeastLengths = 0.05;

JobSpec slow_communication(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  const bool lockstep = spec.layout.lanes() > 1 && dice.chance(0.5);
  return with(spec, "slow-communication",
              of(lockstep ? FaultKind::slow_lockstep_transfer : FaultKind::slow_dp_transfer),
              dice.loss(0.19, 0.5));
}

JobSpec slow_communication_onset(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = with_known_transfers(any(seed));
  const bool lockstep = spec.layout.lanes() > 1 && dice.chance(0.5);
  const Fault fault = onset(
      of(lockstep ? FaultKind::slow_lockstep_transfer : FaultKind::slow_dp_transfer), spec, dice);
  return with(spec, "slow-communication-onset", fault, dice.loss(0.18, 0.4));
}

JobSpec heavy_stage(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = healthy_spec(seed, draw_pipeline(seed));
  const int stage = dice.chance(0.6) ? spec.layout.pp - 1 : dice.below(spec.layout.pp);
  return with(spec, "heavy-stage", of(FaultKind::heavy_stage, stage), dice.loss(0.065, 0.35));
}

JobSpec data_shards(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  if (spec.layout.dp < 8) spec.layout.dp = 8;
  return with(spec, "data-shards", of(FaultKind::data_shards), dice.loss(0.07, 0.3));
}

JobSpec sequence_lengths(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.recording.forward_backward = dice.chance(0.75);
  spec = with(std::move(spec), "sequence-lengths", of(FaultKind::sequence_lengths),
              dice.loss(0.07, 0.35));
  spec.faults[0].size = std::max(spec.faults[0].size, kLeastLengths);
  return spec;
}

JobSpec microbatch_lengths(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = dice.chance(0.6) ? healthy_spec(seed, draw_pipeline(seed)) : any(seed);
  spec.recording.forward_backward = dice.chance(0.75);
  spec = with(std::move(spec), "microbatch-lengths", of(FaultKind::microbatch_lengths),
              dice.loss(0.07, 0.35));
  // A rank's compute in a step is the mean of its microbatches; a pipeline shows them one by one.
  const double averaged = spec.layout.pp > 1 ? 2.0 : std::sqrt(spec.pace.microbatches);
  spec.faults[0].size = std::max(spec.faults[0].size, kLeastLengths * averaged);
  return spec;
}

JobSpec expert_load(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_expert_parallel(seed));
  return with(spec, "expert-load", of(FaultKind::expert_load, dice.below(spec.layout.ep)),
              dice.loss(0.07, 0.35));
}

JobSpec expert_drift(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_expert_parallel(seed));
  return with(spec, "expert-drift", of(FaultKind::expert_drift), dice.loss(0.07, 0.3));
}

constexpr std::array kWorkKinds{
    Scenario{"slow-communication", slow_communication},
    Scenario{"slow-communication-onset", slow_communication_onset},
    Scenario{"heavy-stage", heavy_stage},
    Scenario{"data-shards", data_shards},
    Scenario{"sequence-lengths", sequence_lengths},
    Scenario{"microbatch-lengths", microbatch_lengths},
    Scenario{"expert-load", expert_load},
    Scenario{"expert-drift", expert_drift},
};

}  // namespace

std::span<const Scenario> work_scenarios() noexcept { return kWorkKinds; }

}  // namespace mfu::faults
