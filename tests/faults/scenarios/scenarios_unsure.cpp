// Kinds of job that cannot be told, that have two faults, or too small a one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "faults/job/draws.hpp"

namespace mfu::faults {

namespace {

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

// Expert groups on a node each: a slow node and a loaded expert look the same.
JobSpec expert_is_node(std::uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.ep = dice.chance(0.5) ? 4 : 8;
  layout.dp = layout.gpus_per_node;
  layout.lanes_outside = true;
  const JobSpec spec = healthy_spec(seed, layout);
  const int place = dice.below(layout.ep);
  return with(spec, "expert-is-node",
              of(dice.chance(0.5) ? FaultKind::slow_node : FaultKind::expert_load, place),
              dice.loss(0.07, 0.35));
}

// A data-parallel index on a node each: no confounder.
JobSpec replica_is_node(std::uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.tp = dice.chance(0.6) ? layout.gpus_per_node : 1;
  layout.ep = layout.tp == 1 ? layout.gpus_per_node : 1;
  layout.dp = 4 << dice.below(3);
  JobSpec spec = healthy_spec(seed, layout);
  spec.recording.one_per_lockstep_group = false;
  return with(std::move(spec), "replica-is-node",
              of(FaultKind::slow_node, dice.below(layout.nodes())), dice.loss(0.07, 0.4));
}

JobSpec unknown_link(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = several_groups(seed);
  spec.recording.waits_in = WaitsIn::comm;
  spec.recording.by_group = false;
  const bool lockstep = spec.layout.lanes() > 1 && dice.chance(0.5);
  const Fault fault = lockstep ? of(FaultKind::slow_lockstep_group, dice.below(spec.layout.units()))
                               : of(FaultKind::slow_dp_group, dice.below(spec.layout.dp_groups()));
  return with(std::move(spec), "unknown-link", fault, dice.loss(0.1, 0.4));
}

JobSpec one_rank(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.recording.only_rank_0 = true;
  return with(std::move(spec), "one-rank", of(FaultKind::slow_rank), dice.loss(0.07, 0.4));
}

JobSpec few_ranks(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.recording.missing_ranks = dice.between(0.2, 0.5);
  return with(spec, "few-ranks", of(FaultKind::slow_rank, any_rank(spec, dice)),
              dice.loss(0.07, 0.4));
}

JobSpec few_steps(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.steps = 4 + dice.below(4);
  spec.noise.warmup_steps = 0;
  return with(spec, "few-steps", of(FaultKind::slow_rank, any_rank(spec, dice)),
              dice.loss(0.07, 0.4));
}

// Of two faults the second costs at most a third as much as the first.
JobSpec larger_first(std::uint64_t seed) {
  constexpr std::array kFirst{FaultKind::slow_rank, FaultKind::slow_node, FaultKind::input_stall};
  constexpr std::array kSecond{FaultKind::input_stall, FaultKind::slow_dp_transfer,
                               FaultKind::slow_rank};
  Dice dice(seed);
  const JobSpec healthy = with_own_stalls(with_known_transfers(with_nodes(seed, 4)));
  const std::size_t which = static_cast<std::size_t>(dice.below(3));
  const double loss = dice.loss(0.18, 0.35);
  const auto place = [&](FaultKind kind) {
    return kind == FaultKind::slow_node ? dice.below(healthy.layout.nodes())
                                        : any_rank(healthy, dice);
  };
  const Fault first = of(kFirst[which], place(kFirst[which]));
  const Fault second = of(kSecond[which], place(kSecond[which]));
  JobSpec spec = with(healthy, "larger-first", first, loss);
  Fault minor = with(healthy, "larger-first", second, loss * dice.between(0.15, 0.33)).faults[0];
  minor.minor = true;
  spec.faults.push_back(minor);
  return spec;
}

JobSpec mixed(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = with_own_stalls(any(seed));
  spec.name = "mixed";
  Fault stall = of(FaultKind::input_stall);
  stall.size = dice.between(0.15, 0.3);
  Fault slow = of(FaultKind::slow_rank, any_rank(spec, dice));
  slow.size = stall.size * dice.between(0.9, 1.1);
  spec.faults = {slow, stall};
  return spec;
}

JobSpec immaterial(std::uint64_t seed) {
  constexpr std::array kSmall{FaultKind::slow_rank,        FaultKind::slow_node,
                              FaultKind::heavy_stage,      FaultKind::data_shards,
                              FaultKind::sequence_lengths, FaultKind::input_stall,
                              FaultKind::checkpoint,       FaultKind::gc_pauses,
                              FaultKind::slow_dp_transfer, FaultKind::rank_stall};
  Dice dice(seed);
  const FaultKind kind = kSmall[static_cast<std::size_t>(dice.below(kSmall.size()))];
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

constexpr std::array kUnsureKinds{
    Scenario{"stage-is-node", stage_is_node},
    Scenario{"expert-is-node", expert_is_node},
    Scenario{"replica-is-node", replica_is_node},
    Scenario{"unknown-link", unknown_link},
    Scenario{"one-rank", one_rank},
    Scenario{"few-ranks", few_ranks},
    Scenario{"few-steps", few_steps},
    Scenario{"larger-first", larger_first},
    Scenario{"mixed", mixed},
    Scenario{"immaterial", immaterial},
};

}  // namespace

std::span<const Scenario> unsure_scenarios() noexcept { return kUnsureKinds; }

}  // namespace mfu::faults
