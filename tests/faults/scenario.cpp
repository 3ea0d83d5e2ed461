#include "faults/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/robust.hpp"

namespace mfu::faults {

namespace {

// Draws that belong to the fault, apart from those of the healthy job under it.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(Random(seed * 7919 + 17).next()) {}
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::size_t>(n))); }
  bool chance(double p) { return random_.uniform() < p; }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  // Small losses are as frequent as large ones.
  double loss(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }

 private:
  Random random_;
};

JobSpec with(JobSpec spec, const char* name, Fault fault, double loss) {
  spec.name = name;
  spec.faults = {fault};
  return calibrated(std::move(spec), loss);
}

Fault of(FaultKind kind, int place = 0) {
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

// A rank whose slowness the recording can show.
int any_rank(const JobSpec& spec, Dice& dice) {
  const int unit = dice.below(spec.layout.units());
  const int lane = spec.recording.one_per_lockstep_group ? 0 : dice.below(spec.layout.lanes());
  return spec.layout.rank(unit / spec.layout.pp, unit % spec.layout.pp, lane);
}

// A healthy job with at least so many nodes, none of which is a whole stage.
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

// --- healthy -----------------------------------------------------------------------------------

JobSpec healthy_dp(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_data_parallel(seed)), "healthy-dp");
}

JobSpec healthy_tp(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_tensor_parallel(seed)), "healthy-tp");
}

JobSpec healthy_pp(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_pipeline(seed)), "healthy-pp");
}

JobSpec healthy_ep(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_expert_parallel(seed)), "healthy-ep");
}

JobSpec healthy_bubble(std::uint64_t seed) {
  JobSpec spec = healthy_spec(seed, draw_pipeline(seed));
  spec.pace.microbatches = spec.layout.pp;
  return named(std::move(spec), "healthy-bubble");
}

JobSpec healthy_warmup(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.steps = std::max(spec.steps, 24);
  spec.noise.warmup_steps = 1 + dice.below(std::min(5, spec.steps / 5));
  spec.noise.warmup_factor = dice.between(1.6, 6.0);
  return named(std::move(spec), "healthy-warmup");
}

JobSpec healthy_jitter_at_scale(std::uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.dp = 1024;
  JobSpec spec = healthy_spec(seed, layout);
  spec.steps = 20 + dice.below(20);
  spec.pace.microbatches = 1;
  spec.noise.hiccup_rate = 0.0;
  spec.recording.missing_samples = 0.0;
  spec.faults = {of(FaultKind::jitter)};
  spec.faults[0].size = dice.between(0.012, 0.025);
  return named(std::move(spec), "healthy-jitter-at-scale");
}

// --- one physical place ------------------------------------------------------------------------

JobSpec slow_rank(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  return with(spec, "slow-rank", of(FaultKind::slow_rank, any_rank(spec, dice)),
              dice.loss(0.065, 0.5));
}

JobSpec slow_rank_onset(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  const Fault fault = onset(of(FaultKind::slow_rank, any_rank(spec, dice)), spec, dice);
  return with(spec, "slow-rank-onset", fault, dice.loss(0.07, 0.35));
}

JobSpec slow_rank_bursts(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  const Fault fault = bursts(of(FaultKind::slow_rank, any_rank(spec, dice)), spec, dice);
  return with(spec, "slow-rank-bursts", fault, dice.loss(0.07, 0.2));
}

JobSpec slow_node(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = with_nodes(seed, 4);
  return with(spec, "slow-node", of(FaultKind::slow_node, dice.below(spec.layout.nodes())),
              dice.loss(0.065, 0.5));
}

JobSpec slow_node_onset(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = with_nodes(seed, 4);
  const Fault fault = onset(of(FaultKind::slow_node, dice.below(spec.layout.nodes())), spec, dice);
  return with(spec, "slow-node-onset", fault, dice.loss(0.07, 0.35));
}

JobSpec slow_node_bursts(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = with_nodes(seed, 4);
  const Fault fault = bursts(of(FaultKind::slow_node, dice.below(spec.layout.nodes())), spec, dice);
  return with(spec, "slow-node-bursts", fault, dice.loss(0.07, 0.2));
}

JobSpec slow_node_of_few(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = healthy_spec(seed, draw_data_parallel(seed));
  spec.layout.dp = 16 + 8 * dice.below(2);
  return with(spec, "slow-node-of-few", of(FaultKind::slow_node, dice.below(spec.layout.nodes())),
              dice.loss(0.07, 0.4));
}

JobSpec hot_rank(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.steps = std::max(spec.steps, 32);
  spec.recording.telemetry = dice.chance(0.6);
  return with(spec, "hot-rank", of(FaultKind::thermal_rank, any_rank(spec, dice)),
              dice.loss(0.07, 0.3));
}

JobSpec rank_input(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  return with(spec, "rank-input", of(FaultKind::rank_stall, any_rank(spec, dice)),
              dice.loss(0.07, 0.4));
}

JobSpec rank_input_bursts(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  const Fault fault = bursts(of(FaultKind::rank_stall, any_rank(spec, dice)), spec, dice);
  return with(spec, "rank-input-bursts", fault, dice.loss(0.07, 0.2));
}

JobSpec several_groups(std::uint64_t seed) {
  Dice dice(seed + 99);
  return healthy_spec(seed, dice.chance(0.5) ? draw_tensor_parallel(seed) : draw_pipeline(seed));
}

JobSpec slow_dp_group(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = several_groups(seed);
  spec.recording.one_per_lockstep_group = false;
  return with(spec, "slow-dp-group",
              of(FaultKind::slow_dp_group, dice.below(spec.layout.dp_groups())),
              dice.loss(0.07, 0.4));
}

JobSpec slow_dp_group_bursts(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = several_groups(seed);
  spec.recording.one_per_lockstep_group = false;
  const Fault fault =
      bursts(of(FaultKind::slow_dp_group, dice.below(spec.layout.dp_groups())), spec, dice);
  return with(spec, "slow-dp-group-bursts", fault, dice.loss(0.07, 0.2));
}

JobSpec slow_tp_group(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_tensor_parallel(seed));
  return with(spec, "slow-tp-group",
              of(FaultKind::slow_lockstep_group, dice.below(spec.layout.units())),
              dice.loss(0.07, 0.4));
}

JobSpec slow_ring(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_data_parallel(seed));
  const Fault fault = of(FaultKind::slow_dp_group);
  return with(spec, "slow-ring", dice.chance(0.5) ? bursts(fault, spec, dice) : fault,
              dice.loss(0.19, 0.35));
}

// --- communication -----------------------------------------------------------------------------

JobSpec slow_communication(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = any(seed);
  const bool lockstep = spec.layout.lanes() > 1 && dice.chance(0.5);
  return with(spec, "slow-communication",
              of(lockstep ? FaultKind::slow_lockstep_transfer : FaultKind::slow_dp_transfer),
              dice.loss(0.19, 0.5));
}

// --- logical places and moving work ------------------------------------------------------------

JobSpec heavy_stage(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = healthy_spec(seed, draw_pipeline(seed));
  const int stage = dice.chance(0.6) ? spec.layout.pp - 1 : dice.below(spec.layout.pp);
  return with(spec, "heavy-stage", of(FaultKind::heavy_stage, stage), dice.loss(0.065, 0.35));
}

JobSpec stage_is_node(std::uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.pp = dice.chance(0.5) ? 4 : 8;
  layout.tp = dice.chance(0.5) ? 1 : 4;
  layout.dp = layout.gpus_per_node / layout.tp;
  const JobSpec spec = healthy_spec(seed, layout);
  const int place = dice.below(layout.pp);
  return with(spec, "stage-is-node",
              of(dice.chance(0.5) ? FaultKind::slow_node : FaultKind::heavy_stage, place),
              dice.loss(0.07, 0.35));
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
  return with(spec, "sequence-lengths", of(FaultKind::sequence_lengths), dice.loss(0.07, 0.35));
}

JobSpec microbatch_lengths(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = dice.chance(0.6) ? healthy_spec(seed, draw_pipeline(seed)) : any(seed);
  spec.recording.forward_backward = dice.chance(0.75);
  return with(spec, "microbatch-lengths", of(FaultKind::microbatch_lengths), dice.loss(0.07, 0.35));
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

// --- everyone stops ----------------------------------------------------------------------------

JobSpec input_stall(std::uint64_t seed) {
  Dice dice(seed);
  return with(any(seed), "input-stall", of(FaultKind::input_stall), dice.loss(0.065, 0.5));
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

// --- single GPU --------------------------------------------------------------------------------

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

// --- several, and too small ------------------------------------------------------------------

JobSpec mixed(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.name = "mixed";
  Fault stall = of(FaultKind::input_stall);
  stall.size = dice.between(0.15, 0.3);
  Fault slow = of(FaultKind::slow_rank, any_rank(spec, dice));
  slow.size = stall.size * dice.between(0.9, 1.1);
  spec.faults = {slow, stall};
  return spec;
}

JobSpec immaterial(std::uint64_t seed) {
  constexpr std::array kKinds{FaultKind::slow_rank,        FaultKind::slow_node,
                              FaultKind::heavy_stage,      FaultKind::data_shards,
                              FaultKind::sequence_lengths, FaultKind::input_stall,
                              FaultKind::checkpoint,       FaultKind::gc_pauses,
                              FaultKind::slow_dp_transfer, FaultKind::rank_stall};
  Dice dice(seed);
  const FaultKind kind = kKinds[static_cast<std::size_t>(dice.below(kKinds.size()))];
  JobSpec spec = kind == FaultKind::slow_node     ? with_nodes(seed, 4)
                 : kind == FaultKind::heavy_stage ? healthy_spec(seed, draw_pipeline(seed))
                                                  : any(seed);
  Fault fault = of(kind);
  if (kind == FaultKind::slow_rank || kind == FaultKind::rank_stall) {
    fault.place = any_rank(spec, dice);
  }
  if (kind == FaultKind::checkpoint) fault.when = When::periodic;
  fault.size = 0.05;
  return with(spec, "immaterial", fault, dice.between(0.015, 0.032));
}

constexpr std::array kScenarios{
    Scenario{"healthy-dp", healthy_dp},
    Scenario{"healthy-tp", healthy_tp},
    Scenario{"healthy-pp", healthy_pp},
    Scenario{"healthy-ep", healthy_ep},
    Scenario{"healthy-bubble", healthy_bubble},
    Scenario{"healthy-warmup", healthy_warmup},
    Scenario{"healthy-jitter-at-scale", healthy_jitter_at_scale},
    Scenario{"immaterial", immaterial},
    Scenario{"slow-rank", slow_rank},
    Scenario{"slow-rank-onset", slow_rank_onset},
    Scenario{"slow-rank-bursts", slow_rank_bursts},
    Scenario{"slow-node", slow_node},
    Scenario{"slow-node-onset", slow_node_onset},
    Scenario{"slow-node-bursts", slow_node_bursts},
    Scenario{"slow-node-of-few", slow_node_of_few},
    Scenario{"hot-rank", hot_rank},
    Scenario{"rank-input", rank_input},
    Scenario{"rank-input-bursts", rank_input_bursts},
    Scenario{"slow-dp-group", slow_dp_group},
    Scenario{"slow-dp-group-bursts", slow_dp_group_bursts},
    Scenario{"slow-tp-group", slow_tp_group},
    Scenario{"slow-ring", slow_ring},
    Scenario{"slow-communication", slow_communication},
    Scenario{"heavy-stage", heavy_stage},
    Scenario{"stage-is-node", stage_is_node},
    Scenario{"data-shards", data_shards},
    Scenario{"sequence-lengths", sequence_lengths},
    Scenario{"microbatch-lengths", microbatch_lengths},
    Scenario{"expert-load", expert_load},
    Scenario{"expert-drift", expert_drift},
    Scenario{"input-stall", input_stall},
    Scenario{"input-stall-stage0", input_stall_stage0},
    Scenario{"checkpoint", checkpoint},
    Scenario{"gc-pauses", gc_pauses},
    Scenario{"thermal", thermal},
    Scenario{"slow-kernels", slow_kernels},
    Scenario{"mixed", mixed},
};

}  // namespace

std::span<const Scenario> scenarios() noexcept { return kScenarios; }

const Scenario& find_scenario(std::string_view name) {
  const auto found = std::find_if(kScenarios.begin(), kScenarios.end(),
                                  [&](const Scenario& each) { return each.name == name; });
  if (found == kScenarios.end()) {
    throw std::out_of_range("no such scenario: " + std::string(name));
  }
  return *found;
}

}  // namespace mfu::faults
