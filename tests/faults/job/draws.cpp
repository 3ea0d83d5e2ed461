#include "faults/job/draws.hpp"

#include <algorithm>
#include <utility>

namespace mfu::faults {

JobSpec with(JobSpec spec, const char* name, Fault fault, double loss) {
  spec.name = name;
  spec.faults = {fault};
  return calibrated(std::move(spec), loss);
}

Fault of(FaultKind kind, int place) {
  Fault fault;
  fault.kind = kind;
  fault.place = place;
  return fault;
}

Fault onset(Fault fault, const JobSpec& spec, Dice& dice) {
  fault.when = When::onset;
  fault.onset = static_cast<int>(dice.between(0.25, 0.6) * spec.steps);
  return fault;
}

Fault bursts(Fault fault, const JobSpec& spec, Dice& dice) {
  if (dice.chance(0.4)) {
    fault.when = When::periodic;
    fault.period = 4 + dice.below(9);
    fault.length = fault.period >= 8 && dice.chance(0.5) ? 2 : 1;
  } else {
    fault.when = When::random;
    fault.duty = dice.between(0.08, 0.3);
    fault.length = 1 + dice.below(std::max(1, spec.steps / 16));
  }
  return fault;
}

int any_rank(const JobSpec& spec, Dice& dice) {
  const int unit = dice.below(spec.layout.units());
  const int lane = spec.recording.one_per_lockstep_group ? 0 : dice.below(spec.layout.lanes());
  return spec.layout.rank(unit / spec.layout.pp, unit % spec.layout.pp, lane);
}

JobSpec with_nodes(std::uint64_t seed, int nodes) {
  for (std::uint64_t salt = 0;; ++salt) {
    const std::uint64_t drawn = seed + salt * 1'000'000;
    const Layout layout = draw_any(drawn);
    const bool whole_stages = layout.pp > 1 && !layout.pipeline_inside &&
                              layout.dp * layout.lanes() <= layout.gpus_per_node;
    if (layout.nodes() >= nodes && !whole_stages) return healthy_spec(drawn, layout);
  }
}

JobSpec any(std::uint64_t seed) { return healthy_spec(seed, draw_any(seed)); }

JobSpec named(JobSpec spec, const char* name) {
  spec.name = name;
  return spec;
}

JobSpec several_groups(std::uint64_t seed) {
  Dice dice(seed + 99);
  return healthy_spec(seed, dice.chance(0.5) ? draw_tensor_parallel(seed) : draw_pipeline(seed));
}

JobSpec with_known_transfers(JobSpec spec) {
  if (spec.recording.waits_in == WaitsIn::comm) spec.recording.by_group = true;
  spec.recording.one_per_lockstep_group = false;
  return spec;
}

JobSpec with_own_stalls(JobSpec spec) {
  if (spec.recording.waits_in == WaitsIn::stall) spec.recording.waits_in = WaitsIn::comm;
  spec.recording.bubbles_in_stall = false;
  return spec;
}

}  // namespace mfu::faults
