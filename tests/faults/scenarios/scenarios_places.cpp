// Kinds of job with one bad physical place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "faults/job/draws.hpp"

namespace mfu::faults {

namespace {

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

JobSpec slow_dp_group_onset(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = with_known_transfers(several_groups(seed));
  const Fault fault =
      onset(of(FaultKind::slow_dp_group, dice.below(spec.layout.dp_groups())), spec, dice);
  return with(spec, "slow-dp-group-onset", fault, dice.loss(0.07, 0.35));
}

JobSpec slow_ep_group(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = with_known_transfers(healthy_spec(seed, draw_expert_parallel(seed)));
  return with(spec, "slow-ep-group",
              of(FaultKind::slow_lockstep_group, dice.below(spec.layout.units())),
              dice.loss(0.07, 0.4));
}

// One ring over all ranks: a slow link in it slows everybody alike.
JobSpec slow_ring(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_data_parallel(seed));
  return with(spec, "slow-ring", of(FaultKind::slow_dp_group), dice.loss(0.19, 0.35));
}

JobSpec ring_flap(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_data_parallel(seed));
  return with(spec, "ring-flap", bursts(of(FaultKind::slow_dp_group), spec, dice),
              dice.loss(0.07, 0.3));
}

JobSpec slow_rank_large(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_large(seed));
  return with(spec, "slow-rank-large", of(FaultKind::slow_rank, any_rank(spec, dice)),
              dice.loss(0.08, 0.4));
}

JobSpec slow_node_large(std::uint64_t seed) {
  Dice dice(seed);
  const JobSpec spec = healthy_spec(seed, draw_large(seed));
  return with(spec, "slow-node-large", of(FaultKind::slow_node, dice.below(spec.layout.nodes())),
              dice.loss(0.08, 0.4));
}

// 64 GPUs whose compute is at least 80 % of the step.
JobSpec of_64(std::uint64_t seed, int steps) {
  Dice dice(seed + 7);
  constexpr std::array kTensor{1, 1, 2, 8};
  Layout layout;
  layout.tp = kTensor[static_cast<std::size_t>(dice.below(4))];
  layout.dp = 64 / layout.tp;
  JobSpec spec = healthy_spec(seed, layout);
  spec.steps = steps;
  spec.noise.warmup_steps = 0;
  return spec;
}

JobSpec rank_30_percent_8_steps(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = of_64(seed, 8);
  spec.faults = {of(FaultKind::slow_rank, any_rank(spec, dice))};
  spec.faults[0].size = 0.3;
  return named(std::move(spec), "rank-30-percent-8-steps");
}

JobSpec rank_8_percent_24_steps(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = of_64(seed, 24);
  // Compute is nearly all of the step, and the other 63 do not hide a third of the excess.
  spec.noise.rank_jitter = dice.between(0.002, 0.005);
  spec.noise.chunk_jitter = dice.between(0.002, 0.006);
  spec.noise.silicon = dice.between(0.001, 0.003);
  spec.faults = {of(FaultKind::slow_rank, any_rank(spec, dice))};
  spec.faults[0].size = 0.08;
  return named(std::move(spec), "rank-8-percent-24-steps");
}

// A burst in 3 of 8 steps, none of them among the first two, which could be warm-up.
JobSpec burst_in_3_of_8(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = with_own_stalls(with_known_transfers(of_64(seed, 8)));
  constexpr std::array kWhat{FaultKind::slow_rank, FaultKind::slow_node, FaultKind::rank_stall,
                             FaultKind::input_stall, FaultKind::slow_dp_group};
  FaultKind kind = kWhat[static_cast<std::size_t>(dice.below(5))];
  if (kind == FaultKind::slow_dp_group && spec.layout.tp == 1) kind = FaultKind::slow_rank;
  Fault fault = of(kind);
  fault.place = kind == FaultKind::slow_node       ? dice.below(spec.layout.nodes())
                : kind == FaultKind::slow_dp_group ? dice.below(spec.layout.dp_groups())
                                                   : any_rank(spec, dice);
  fault.when = When::listed;
  const int first = 2 + dice.below(2);
  const int second = first + 1 + dice.below(2);
  fault.listed = {first, second, second + 1 + dice.below(2)};
  return with(std::move(spec), "burst-in-3-of-8", fault, dice.loss(0.12, 0.3));
}

constexpr std::array kPlacesKinds{
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
    Scenario{"slow-dp-group-onset", slow_dp_group_onset},
    Scenario{"slow-ep-group", slow_ep_group},
    Scenario{"slow-ring", slow_ring},
    Scenario{"ring-flap", ring_flap},
    Scenario{"slow-rank-large", slow_rank_large},
    Scenario{"slow-node-large", slow_node_large},
    Scenario{"rank-30-percent-8-steps", rank_30_percent_8_steps},
    Scenario{"rank-8-percent-24-steps", rank_8_percent_24_steps},
    Scenario{"burst-in-3-of-8", burst_in_3_of_8},
};

}  // namespace

std::span<const Scenario> place_scenarios() noexcept { return kPlacesKinds; }

}  // namespace mfu::faults
