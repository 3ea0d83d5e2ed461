#include "faults/job/truth.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faults/written/record.hpp"

namespace mfu::faults {

namespace {

constexpr double kSurelyExposed = 0.09;  // of the step: above what healthy jobs expose

void undecided(Truth& truth, std::vector<Family> also, std::string why) {
  truth.decidable = false;
  truth.why = std::move(why);
  for (const Family family : also) {
    if (std::find(truth.accepted.begin(), truth.accepted.end(), family) == truth.accepted.end()) {
      truth.accepted.push_back(family);
    }
  }
}

// The data cannot tell, and the right answer is to say so.
void abstain(Truth& truth, std::string why) {
  truth.family = Family::inconclusive;
  truth.accepted = {Family::inconclusive};
  truth.locality = Locality::none;
  truth.culprits = {};
  truth.decidable = false;
  truth.why = std::move(why);
}

void name_ranks(const JobSpec& spec, const std::vector<int>& ranks, Truth& truth) {
  const std::vector<int> recorded = recorded_ranks(spec);
  for (const int rank : ranks) {
    if (std::binary_search(recorded.begin(), recorded.end(), rank)) {
      truth.culprits.ranks.push_back(rank);
    }
  }
}

Persistence persistence_of(const Fault& fault) {
  switch (fault.when) {
    case When::always:
      return Persistence::steady;
    case When::onset:
      return Persistence::onset;
    case When::periodic:
    case When::random:
    case When::listed:
      return Persistence::bursts;
  }
  return Persistence::steady;
}

// Is each rank's own waiting for its peers apart from its own stall?
bool stalls_are_own(const JobSpec& spec) {
  if (spec.recording.waits_in == WaitsIn::stall) return false;
  return spec.layout.pp == 1 || !spec.recording.bubbles_in_stall;
}

// Is there more than one set of ranks that move gradients, or more than one lock-step group?
bool several_groups(const Layout& layout) { return layout.dp_groups() > 1 || layout.lanes() > 1; }

// Is each group's transfer known?
bool transfers_are_known(const JobSpec& spec) {
  return spec.recording.by_group || spec.recording.waits_in != WaitsIn::comm;
}

bool moves_data(FaultKind kind) {
  return kind == FaultKind::slow_dp_group || kind == FaultKind::slow_lockstep_group ||
         kind == FaultKind::slow_dp_transfer || kind == FaultKind::slow_lockstep_transfer;
}

void describe_stall(const JobSpec& spec, const Fault& fault, Truth& truth) {
  truth.family = Family::stall;
  truth.locality = Locality::all;
  truth.cause = fault.kind == FaultKind::checkpoint  ? Cause::checkpoint
                : fault.kind == FaultKind::gc_pauses ? Cause::gc
                                                     : Cause::input;
  truth.accepted = {Family::stall};
  if (fault.kind == FaultKind::gc_pauses) {
    truth.persistence = Persistence::bursts;
    if (spec.recording.one_per_lockstep_group) {
      undecided(truth, {Family::inconclusive, Family::straggler, Family::communication},
                "the rank that paused is not recorded: its pause is its peers' waiting");
    } else if (!stalls_are_own(spec)) {
      undecided(truth, {Family::inconclusive, Family::straggler},
                "waits are recorded as stalls: who stalled cannot be told");
    }
  }
  if (fault.kind == FaultKind::input_stall_stage0) {
    truth.locality = Locality::stage;
    if (stalls_are_own(spec)) truth.culprits.stages = {0};
  }
}

void describe_transfer(const JobSpec& spec, const Fault& fault, Truth& truth) {
  const Layout& layout = spec.layout;
  const bool lockstep = fault.kind == FaultKind::slow_lockstep_group ||
                        fault.kind == FaultKind::slow_lockstep_transfer;
  const bool one_place =
      fault.kind == FaultKind::slow_dp_group || fault.kind == FaultKind::slow_lockstep_group;
  const int groups = lockstep ? layout.units() : layout.dp_groups();
  truth.family = one_place && groups > 1 ? Family::straggler : Family::communication;
  truth.accepted = {truth.family};
  truth.locality = truth.family == Family::straggler ? Locality::link : Locality::all;
  if (truth.family == Family::straggler) {
    truth.cause = Cause::link;
    name_ranks(spec,
               lockstep ? layout.ranks_of_unit(fault.place) : layout.ranks_of_dp_group(fault.place),
               truth);
    if (lockstep) {
      const int any = truth.culprits.ranks.empty() ? 0 : static_cast<int>(truth.culprits.ranks[0]);
      const bool whole_node = layout.lanes() == layout.gpus_per_node;
      if (whole_node) truth.culprits.nodes = {layout.node_name(layout.node_of(any))};
      truth.culprits.groups = {std::string(layout.ep > 1 ? "ep" : "tp") +
                               " group of dp=" + std::to_string(layout.dp_of(any)) +
                               " pp=" + std::to_string(layout.stage_of(any))};
    } else {
      truth.culprits.groups = {
          "dp group of tp=" + std::to_string(fault.place % layout.groups_per_stage()) +
          " pp=" + std::to_string(fault.place / layout.groups_per_stage())};
    }
  }
  const bool bursts = fault.when != When::always && fault.when != When::onset;
  if (several_groups(layout) && !transfers_are_known(spec)) {
    abstain(truth, "no group ids: a slow link and slow communication everywhere look the same");
  } else if (groups == 1 && bursts) {
    // The framework does the same in every step: what comes and goes is the network's. Which of
    // the ring's links it is cannot be seen.
    truth.family = Family::straggler;
    truth.accepted = {truth.family};
    truth.locality = Locality::link;
    truth.cause = Cause::link;
    name_ranks(spec, layout.ranks_of_dp_group(0), truth);
  } else if (bursts && !one_place) {
    undecided(truth, {Family::communication, Family::inconclusive, Family::straggler},
              "bursts of slow communication everywhere: the fabric, but no place");
  }
}

void describe_compute(const JobSpec& spec, const Fault& fault, Truth& truth) {
  const Layout& layout = spec.layout;
  truth.family = Family::straggler;
  truth.accepted = {Family::straggler};
  if (fault.kind == FaultKind::slow_node) {
    truth.locality = Locality::node;
    truth.culprits.nodes = {layout.node_name(fault.place)};
    name_ranks(spec, layout.ranks_of_node(fault.place), truth);
    if (layout.stage_is_node()) {
      abstain(truth, "the node is a stage");
    } else if (layout.expert_is_node()) {
      abstain(truth, "the node is an expert");
    } else if (2 >= layout.nodes()) {
      abstain(truth, "half of the nodes are slow: nobody knows which is the usual speed");
    } else if (layout.pp > 1 && !layout.pipeline_inside &&
               layout.dp * layout.lanes() <= layout.gpus_per_node) {
      undecided(truth, {Family::imbalance, Family::inconclusive}, "a node is whole stages");
    }
    return;
  }
  truth.locality = Locality::rank;
  name_ranks(spec, {fault.place}, truth);
  if (fault.kind == FaultKind::thermal_rank) {
    truth.persistence = Persistence::drift;
    truth.cause = spec.recording.telemetry ? Cause::thermal : Cause::none;
  }
  if (fault.kind == FaultKind::rank_stall) {
    truth.cause = Cause::input;
    if (!stalls_are_own(spec)) {
      undecided(truth, {Family::stall, Family::inconclusive},
                "waits are recorded as stalls: who stalled cannot be told");
    }
  }
}

void describe_imbalance(const JobSpec& spec, const Fault& fault, Truth& truth) {
  const Layout& layout = spec.layout;
  truth.family = Family::imbalance;
  truth.accepted = {Family::imbalance};
  switch (fault.kind) {
    case FaultKind::heavy_stage:
      truth.locality = Locality::stage;
      truth.culprits.stages = {fault.place};
      truth.cause = Cause::stage_partition;
      if (layout.stage_is_nodes()) {
        abstain(truth, "the stage is whole nodes");
      } else if (layout.dp == 1) {
        undecided(truth, {Family::straggler, Family::inconclusive},
                  "one replica: a stage is a rank");
      }
      break;
    case FaultKind::data_shards:
      truth.locality = Locality::rank;
      truth.cause = Cause::data_shard;
      if (layout.dp <= 8) {
        undecided(truth, {Family::inconclusive}, "the shards of few replicas can have two speeds");
      }
      break;
    case FaultKind::expert_load:
      truth.locality = Locality::group;
      truth.cause = Cause::expert_load;
      if (layout.expert_is_node()) abstain(truth, "the expert is a node");
      break;
    case FaultKind::expert_drift:
      truth.cause = Cause::expert_load;
      truth.persistence = Persistence::moving;
      break;
    default:
      truth.cause = Cause::data_lengths;
      truth.persistence = Persistence::moving;
      break;
  }
}

// All ranks of a group, or all that there are, are idle at the same time, and the recording does
// not keep waiting apart: an unrecorded rank that is slow would look the same.
bool waits_together(const JobSpec& spec, const Truth& truth) {
  if (spec.recording.waits_in == WaitsIn::separate) return false;
  return truth.family == Family::communication || truth.locality == Locality::link ||
         truth.locality == Locality::group ||
         (truth.family == Family::stall && !stalls_are_own(spec));
}

}  // namespace

Truth describe_truth(const JobSpec& spec) {
  Truth truth;
  truth.accepted = {Family::healthy};
  if (spec.chip.empty()) truth.accepted.push_back(Family::inconclusive);
  if (spec.faults.empty()) return truth;
  const Fault& fault = spec.faults.front();
  truth.persistence = persistence_of(fault);
  if (fault.when == When::onset) {
    truth.onset_step = spec.first_step_id + spec.step_stride * fault.onset;
  }
  switch (fault.kind) {
    case FaultKind::slow_rank:
    case FaultKind::slow_node:
    case FaultKind::rank_stall:
    case FaultKind::thermal_rank:
      describe_compute(spec, fault, truth);
      break;
    case FaultKind::slow_dp_group:
    case FaultKind::slow_lockstep_group:
    case FaultKind::slow_dp_transfer:
    case FaultKind::slow_lockstep_transfer:
      describe_transfer(spec, fault, truth);
      break;
    case FaultKind::heavy_stage:
    case FaultKind::data_shards:
    case FaultKind::sequence_lengths:
    case FaultKind::microbatch_lengths:
    case FaultKind::expert_load:
    case FaultKind::expert_drift:
      describe_imbalance(spec, fault, truth);
      break;
    case FaultKind::input_stall:
    case FaultKind::input_stall_stage0:
    case FaultKind::checkpoint:
    case FaultKind::gc_pauses:
      describe_stall(spec, fault, truth);
      break;
    case FaultKind::thermal:
      truth.family = Family::single_gpu_efficiency;
      truth.accepted = {truth.family};
      truth.locality = Locality::all;
      truth.persistence = Persistence::drift;
      truth.cause = spec.recording.telemetry ? Cause::thermal : Cause::none;
      break;
    case FaultKind::slow_kernels:
      truth.family = Family::single_gpu_efficiency;
      truth.accepted = {truth.family};
      truth.locality = Locality::all;
      truth.cause = Cause::kernels;
      if (spec.chip.empty()) {
        undecided(truth, {Family::healthy, Family::inconclusive}, "no work or peak to judge by");
      }
      break;
    case FaultKind::jitter:
      truth.persistence = Persistence::none;
      truth.cause = Cause::jitter;
      break;
  }
  if (spec.faults.size() > 1 && spec.faults[1].minor) {
    truth.accepted.push_back(Family::mixed);
  } else if (spec.faults.size() > 1) {
    JobSpec other = spec;
    other.faults = {spec.faults[1]};
    const Truth second = describe_truth(other);
    std::vector<Family> accepted{Family::mixed};
    for (const Truth* each : std::initializer_list<const Truth*>{&truth, &second}) {
      accepted.insert(accepted.end(), each->accepted.begin(), each->accepted.end());
    }
    truth.family = Family::mixed;
    truth.accepted = std::move(accepted);
  }
  const std::size_t recorded = recorded_ranks(spec).size();
  const int eligible =
      spec.recording.one_per_lockstep_group ? spec.layout.units() : spec.layout.ranks();
  if (recorded == 1) {
    abstain(truth, "one rank");
  } else if (recorded < static_cast<std::size_t>(eligible) && waits_together(spec, truth)) {
    undecided(truth, {Family::inconclusive},
              "the recorded ranks wait together, maybe for one that is not recorded");
  }
  if (recorded > 1 && static_cast<double>(recorded) < 0.9 * static_cast<double>(eligible)) {
    abstain(truth, "too few ranks");
  } else if (spec.steps - spec.noise.warmup_steps < 8) {
    abstain(truth, "too few steps");
  }
  return truth;
}

void judge_size(const JobSpec& spec, Truth& truth) {
  // A slow link that cannot be told from transfer that healthy jobs expose as well.
  const bool unseen_link =
      !spec.faults.empty() && moves_data(spec.faults.front().kind) && !truth.decidable;
  if (unseen_link && truth.loss_share < kSurelyExposed) truth.accepted.push_back(Family::healthy);
  if (spec.faults.empty() || truth.family == Family::healthy || truth.family == Family::mixed) {
    return;
  }
  // Exposed transfer counts from 15 % of the step, and healthy jobs have some of it already.
  const bool transfer = truth.family == Family::communication;
  const double surely_small = transfer ? 0.08 : 0.042;
  const double surely_large = transfer ? 0.17 : 0.058;
  if (truth.loss_share >= surely_large) return;
  if (truth.loss_share >= surely_small) {
    truth.accepted.push_back(Family::healthy);
    return;
  }
  std::vector<Family> accepted{Family::healthy};
  // Balancing such a stage saves little, but were it the hardware, mending it would save more.
  const bool as_hardware =
      !spec.faults.empty() &&
      ((spec.faults.front().kind == FaultKind::heavy_stage && spec.layout.stage_is_nodes()) ||
       spec.faults.front().kind == FaultKind::data_shards);
  if (spec.chip.empty() || unseen_link || as_hardware) accepted.push_back(Family::inconclusive);
  truth.accepted = std::move(accepted);
  truth.family = Family::healthy;
  truth.locality = Locality::none;
  truth.culprits = {};
  truth.persistence = Persistence::none;
  truth.cause = Cause::none;
}

}  // namespace mfu::faults
