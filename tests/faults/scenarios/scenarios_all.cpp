// Kinds of job in which all ranks stop, or are slow, alike.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "faults/job/draws.hpp"

namespace mfu::faults {

namespace {

JobSpec input_stall(std::uint64_t seed) {
  Dice dice(seed);
  return with(any(seed), "input-stall", of(FaultKind::input_stall), dice.loss(0.065, 0.5));
}

JobSpec input_onset(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  return with(spec, "input-onset", onset(of(FaultKind::input_stall), spec, dice),
              dice.loss(0.07, 0.4));
}

JobSpec input_stall_stage0(std::uint64_t seed) {
  Dice dice(seed);
  return with(healthy_spec(seed, draw_pipeline(seed)), "input-stall-stage0",
              of(FaultKind::input_stall_stage0), dice.loss(0.08, 0.35));
}

JobSpec checkpoint(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  Fault fault = of(FaultKind::checkpoint);
  fault.when = When::periodic;
  fault.period = std::min(spec.steps / 2, 5 + dice.below(20));
  fault.size = 1.0;
  return with(spec, "checkpoint", fault, dice.loss(0.07, 0.35));
}

JobSpec gc_pauses(std::uint64_t seed) {
  Dice dice(seed);
  return with(any(seed), "gc-pauses", of(FaultKind::gc_pauses), dice.loss(0.07, 0.25));
}

JobSpec thermal(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.steps = std::max(spec.steps, 24);
  spec.recording.telemetry = dice.chance(0.6);
  // Drift must show by itself: the level alone is still above the target.
  spec.efficiency = dice.between(0.62, 0.72);
  return with(spec, "thermal", of(FaultKind::thermal), dice.loss(0.07, 0.25));
}

JobSpec slow_kernels(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.chip = "h100-sxm";
  spec.name = "slow-kernels";
  Fault fault = of(FaultKind::slow_kernels);
  fault.size = spec.efficiency / dice.between(0.15, 0.36) - 1.0;
  spec.faults = {fault};
  return spec;
}

constexpr std::array kAllKinds{
    Scenario{"input-stall", input_stall},
    Scenario{"input-onset", input_onset},
    Scenario{"input-stall-stage0", input_stall_stage0},
    Scenario{"checkpoint", checkpoint},
    Scenario{"gc-pauses", gc_pauses},
    Scenario{"thermal", thermal},
    Scenario{"slow-kernels", slow_kernels},
};

}  // namespace

std::span<const Scenario> common_scenarios() noexcept { return kAllKinds; }

}  // namespace mfu::faults
