// Who should do what. Cheap checks come before expensive ones, and a check before a change.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/evidence.hpp"
#include "report/diagnose/placement_wording.hpp"
#include "report/wording.hpp"

namespace mfu {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// Known places: what to exchange. Unknown places: `otherwise`.
void add_placement(const Conditions& conditions, std::string otherwise, Advice& advice) {
  if (!conditions.placement) {
    if (!otherwise.empty()) advice.actions.push_back(std::move(otherwise));
    return;
  }
  for (std::string& action : placement_actions(*conditions.placement)) {
    advice.actions.push_back(std::move(action));
  }
}

bool passes(Persistence persistence) {
  return persistence == Persistence::bursts || persistence == Persistence::once ||
         persistence == Persistence::ended;
}

// One place is idle while the others wait for it: the GPU is not what is slow.
Advice stands_still(Cause cause, Persistence persistence, const std::string& who,
                    const Conditions& conditions) {
  Advice advice;
  advice.owner = "infrastructure";
  advice.refuted_by =
      "the same rank also stops on another host: then it is its input or its own code (stall)";
  if (cause == Cause::gc) {
    advice.actions = {"collect garbage everywhere in the same step, or less often"};
    advice.owner = "framework";
    return advice;
  }
  std::string loader = fmt::format("time the loader's next() on {}: its shard, its storage", who);
  if (conditions.loader_workers.empty()) loader += ", its workers";
  std::string host = fmt::format("look at the host of {}: CPU load, memory, disk, other jobs", who);
  if (passes(persistence)) {
    advice.actions = {conditions.async_checkpoint
                          ? "compare its stops with the checkpoint steps: what does it write, and "
                            "wait for, that the others do not"
                          : "compare its stops with the checkpoint and logging steps: does it "
                            "write for everybody? Write asynchronously and sharded"};
    if (!conditions.manual_gc) {
      advice.actions.emplace_back(
          "check for garbage collection at those steps: where everybody collects in the same step "
          "it costs only once");
    }
    advice.actions.push_back(std::move(host));
    advice.actions.push_back(std::move(loader));
  } else {
    advice.actions = {std::move(loader), std::move(host)};
  }
  advice.actions.emplace_back("an idle GPU is not a slow GPU: check the GPU last");
  return advice;
}

Advice straggler(Cause cause, Locality locality, Persistence persistence, const std::string& who,
                 const Conditions& conditions) {
  Advice advice;
  advice.owner = "infrastructure";
  if (locality == Locality::link || locality == Locality::group || cause == Cause::link) {
    advice.actions = {
        fmt::format("read error counters, speed and width of {}: cable, port, adapter", who),
        "run an all-reduce benchmark between the nodes of that group, and of another group",
        "swap the cable or drain the node"};
    add_placement(conditions,
                  "then place communication-heavy ranks by topology: given the node and switch of "
                  "each rank, mfu names the groups that cross needlessly",
                  advice);
    advice.refuted_by =
        "the other groups are just as slow under the same load: then it is communication";
    return advice;
  }
  if (conditions.stands_still) return stands_still(cause, persistence, who, conditions);
  switch (cause) {
    case Cause::thermal:
      advice.actions = {fmt::format("check temperature, fans and inlet air of {}", who)};
      break;
    case Cause::power:
      advice.actions = {fmt::format("check the power cap and the power supply of {}", who)};
      break;
    case Cause::hardware:
      if (conditions.other_chip) {
        advice.actions = {
            fmt::format("replace {} with the chip of its peers, or give it less work", who)};
        break;
      }
      advice.actions = {fmt::format("read ECC and Xid of {} first: a reset or a repair", who)};
      break;
    case Cause::clocks:
      advice.actions = {
          fmt::format("read the clock limits of {}: locked or application clocks "
                      "(nvidia-smi -q -d CLOCK; -rgc resets them)",
                      who)};
      break;
    case Cause::ecc:
      advice.actions = {
          fmt::format("read ECC and remapped rows of {}: reset it, then repair it", who)};
      break;
    case Cause::xid:
      advice.actions = {fmt::format("read the kernel log of {} around the Xid; reset it", who)};
      break;
    case Cause::gc:
      advice.actions = {"collect garbage everywhere in the same step, or less often"};
      break;
    default:
      if (!conditions.unmeasured.empty()) {
        advice.actions = {fmt::format("look at {} first: {}", who, joined(conditions.unmeasured))};
      }
      break;
  }
  if (passes(persistence)) {
    advice.actions.emplace_back(
        "find what else runs there at that time: daemons, checks, other jobs");
  }
  advice.actions.emplace_back("run a health check there; if it fails, drain it and use a spare");
  // Moving ranks helps only where the network decides who waits.
  if (conditions.communication_heavy) {
    add_placement(conditions, "only then place communication-heavy ranks by topology", advice);
  }
  advice.refuted_by =
      locality == Locality::node
          ? "the same ranks are still slow after a hardware swap: then they have more work "
            "(imbalance)"
          : "the same rank is still slow after a hardware swap: then it has more work "
            "(imbalance)";
  return advice;
}

Advice imbalance(Cause cause, Locality locality, Persistence persistence, const std::string& who,
                 const Conditions& conditions) {
  Advice advice;
  advice.owner = "model";
  switch (cause) {
    case Cause::stage_partition:
      advice.actions = {
          fmt::format("move layers from {} to the others; count embedding and logits as work", who),
          "then check that memory still allows the same number of microbatches in flight"};
      if (!conditions.interleaved) {
        advice.actions.emplace_back(
            "if whole layers are too coarse: interleaved stages divide them more finely");
      }
      advice.refuted_by = fmt::format(
          "the GPUs of {} are slow in other jobs too: then it is hardware (straggler)", who);
      return advice;
    case Cause::expert_load:
      advice.actions = {"raise the load-balancing loss or lower the capacity factor",
                        "place hot experts apart, or replicate them"};
      advice.refuted_by = "tokens per expert are balanced: then it is not the router";
      return advice;
    case Cause::data_lengths:
      advice.owner = "data";
      advice.actions = {
          "balance sequence lengths across the ranks in each step (sum of squares, not of tokens)",
          "pack sequences to one length, or sort before sharding"};
      advice.refuted_by = "a run on equal lengths shows the same waits: then it is not the data";
      return advice;
    case Cause::data_shard:
      advice.owner = "data";
      advice.actions = {"give every data-parallel rank the same work: reshard by tokens",
                        "check samplers and bucketing for a persistent bias"};
      advice.refuted_by =
          "the ranks keep their order after the shards are exchanged: then it is hardware";
      return advice;
    case Cause::jitter:
      advice.owner = "infrastructure";
      advice.actions = {"no single place is slow: look for noise (CPU pinning, daemons, clocks)",
                        "fewer synchronisations per step make the noise cost less"};
      advice.refuted_by = "the slow steps follow the batch: then it is the data";
      return advice;
    default:
      break;
  }
  if (persistence == Persistence::moving) {
    // Nothing shows that it is the batch: no owner is named for it.
    advice.owner = "data or infrastructure";
    advice.actions = {"balance the work across the ranks in every step, if it is the batch"};
    if (!conditions.forward_backward) {
      advice.actions.insert(
          advice.actions.begin(),
          "record forward and backward separately: they show whether it is the data");
    }
  } else if (locality == Locality::stage) {
    advice.actions = {fmt::format("move work from {} to the other stages", who)};
  } else {
    advice.actions = {"balance the work across the ranks: layers, experts, data shards"};
  }
  advice.refuted_by = "the work per rank is equal: then the slow rank is a straggler";
  return advice;
}

Advice stall(Cause cause, Persistence persistence, const Conditions& conditions) {
  Advice advice;
  switch (cause) {
    case Cause::input:
      advice = {{}, "data", "one rank alone lacked input: then its peers would show waits"};
      advice.actions.push_back(fmt::format(
          "{} or {}",
          conditions.loader_workers.empty()
              ? std::string("more loader workers")
              : fmt::format("more than the current {} loader workers,", conditions.loader_workers),
          conditions.prefetch.empty()
              ? std::string("deeper prefetch")
              : fmt::format("deeper prefetch than the current {}", conditions.prefetch)));
      if (conditions.tokenised && conditions.local_data) {
        advice.actions.emplace_back(
            "profile the loader: CPU cores per worker, decompression, shuffling, the copy to the "
            "GPU");
      } else {
        advice.actions.push_back(fmt::format("{}shards{}",
                                             conditions.tokenised ? "" : "pre-tokenised ",
                                             conditions.local_data ? "" : " on local disk"));
      }
      return advice;
    case Cause::checkpoint:
      advice = {{}, "framework", "the stops do not follow the checkpoint interval"};
      if (conditions.async_checkpoint) {
        advice.actions = {"find what still blocks: the copy to the host, or a barrier before it",
                          "write checkpoints less often"};
      } else {
        advice.actions = {"write checkpoints asynchronously and sharded", "or less often"};
      }
      return advice;
    case Cause::gc:
      advice = {{}, "framework", "the stops remain with collection turned off"};
      if (conditions.manual_gc) {
        advice.actions = {"collect on all ranks in the same step, and less often"};
        advice.refuted_by = "the stops do not follow the interval of the collection";
      } else {
        advice.actions = {
            "turn automatic garbage collection off; collect on all ranks in one step"};
      }
      return advice;
    default:
      break;
  }
  advice.owner = "data or framework";
  advice.actions = {"time the loader's next(), the checkpoint and the host code around the step"};
  if (passes(persistence)) {
    advice.actions.emplace_back("compare the slow steps with the checkpoint and logging interval");
  } else {
    advice.actions.emplace_back("more loader workers or pre-tokenised shards, if it is the input");
  }
  advice.refuted_by = "one rank alone stopped: then its peers would show waits";
  return advice;
}

Advice communication(const Conditions& conditions) {
  constexpr double kMostlyHidden = 0.8;
  Advice advice;
  advice.owner = "framework";
  const std::optional<double>& hidden = conditions.hidden_share;
  // What can still be overlapped: parameters are gathered only where they are sharded.
  std::vector<std::string> left;
  if (!conditions.gradients_overlap) left.emplace_back("gradient reduction with backward");
  if (!conditions.parameters_overlap && conditions.sharded.value_or(true)) {
    left.emplace_back(conditions.sharded ? "parameter gathering with compute"
                                         : "prefetch of sharded parameters");
  }
  if (left.empty()) {
    advice.actions = {
        "gradients and parameters overlap already: take a trace and see which collectives are "
        "still exposed, and what they wait for"};
  } else if (!hidden) {
    advice.actions = {"overlap it: " + joined(left)};
  } else if (*hidden < kMostlyHidden) {
    advice.actions = {fmt::format("overlap more of it ({:.0f} % is hidden now): {}",
                                  100.0 * *hidden, joined(left))};
  }
  advice.actions.push_back(
      conditions.bucket.empty()
          ? std::string("larger buckets, fewer collectives")
          : fmt::format("a different bucket size (now {}), fewer collectives", conditions.bucket));
  add_placement(conditions, "change the layout so that the heaviest groups stay inside a node",
                advice);
  advice.refuted_by = "only one group is slow: then it is a link (straggler)";
  return advice;
}

Advice kernels(const Conditions& conditions) {
  Advice advice;
  advice.owner = "performance";
  advice.actions = {"check the FLOP count and the peak first: a wrong one looks like slow kernels",
                    "profile one rank: which kernels take the time, and at what shape"};
  if (conditions.peak_without_fp8) {
    advice.actions.insert(advice.actions.begin() + 1,
                          "the run says it computes in fp8, but the peak is for another precision: "
                          "--precision fp8, or a mix");
  }
  if (conditions.recompute == Recompute::full) {
    advice.actions.emplace_back(
        "recompute selectively where memory allows: full recomputation runs every forward twice");
  }
  std::vector<std::string> levers;
  if (!conditions.fused_attention) levers.emplace_back("fused attention");
  levers.emplace_back("memory formats");
  levers.emplace_back(conditions.compiled ? "fusion" : "fusion (compile)");
  levers.emplace_back("larger microbatches");
  advice.actions.push_back(joined(levers));
  advice.refuted_by = "the FLOP convention or the peak is wrong";
  return advice;
}

}  // namespace

std::string verify_command(FactorId aimed_at) {
  return fmt::format("mfu compare before.json after.json --expect {}", to_string(aimed_at));
}

Advice advice_for(Family family, Cause cause, Locality locality, Persistence persistence,
                  const Subject& subject, const Conditions& conditions) {
  const std::string who = subject.name.empty() ? "the slow place" : subject.name;
  switch (family) {
    case Family::straggler:
      return straggler(cause, locality, persistence, who, conditions);
    case Family::imbalance:
      return imbalance(cause, locality, persistence, who, conditions);
    case Family::stall:
      return stall(cause, persistence, conditions);
    case Family::communication:
      return communication(conditions);
    case Family::single_gpu_efficiency:
      if (cause == Cause::clocks) {
        return {{"read the clock limits of all nodes: locked or application clocks (nvidia-smi -q "
                 "-d CLOCK; -rgc resets them)"},
                "performance",
                "the clocks rise to the chip's own and the step time does not change: then it is "
                "the kernels"};
      }
      if (cause == Cause::thermal || cause == Cause::power || persistence == Persistence::drift) {
        return {{"plot SM clock, temperature and power over the run",
                 "check cooling and power caps of all nodes"},
                "performance",
                "the clocks are steady: then the work per step grows"};
      }
      if (persistence == Persistence::onset || passes(persistence)) {
        return {{"ask what changed then: sequence length, batch, an evaluation, the code",
                 "compare SM clock, temperature and power of those steps with the others",
                 "profile one step of each kind on one rank"},
                "performance",
                "those steps have more work (longer sequences, evaluation): then nothing is slow"};
      }
      return kernels(conditions);
    case Family::healthy:
    case Family::mixed:
    case Family::inconclusive:
      break;
  }
  return {};
}

std::vector<std::string> deciding_measurements(const std::vector<Fact>& facts) {
  std::vector<std::string> actions;
  const auto add = [&](std::string text) {
    if (std::find(actions.begin(), actions.end(), text) == actions.end()) {
      actions.push_back(std::move(text));
    }
  };
  for (const Fact& fact : facts) {
    switch (fact.kind) {
      case FactKind::few_steps:
        add(fmt::format("record at least {} steps after the warm-up", fact.of));
        break;
      case FactKind::few_ranks:
        add(fmt::format("record the missing ranks: all {}, or at least 9 in 10", fact.of));
        break;
      case FactKind::one_rank:
        add("record the other ranks too: one file per rank, all given together");
        break;
      case FactKind::no_microbatches:
        add("give workload.microbatches (per pipeline and step)");
        break;
      case FactKind::slow_everywhere:
        add("record comm_by_group, so that the groups can be compared");
        break;
      case FactKind::missing_ranks:
        add(fmt::format("record {} too", fact.name));
        break;
      case FactKind::unmeasured:
        add("record what is missing: a profiler trace of a few steps shows it");
        break;
      case FactKind::many_slow:
        add("give the devices' telemetry (--telemetry): a low clock means the device, an equal "
            "clock the work");
        break;
      case FactKind::coincides:
        add("swap that hardware with another and run again: what stays with the stage or the "
            "experts is their work, what moves is the hardware");
        break;
      case FactKind::overexplained:
        add("check waits_in, and that no time is in two buckets or outside the step series");
        break;
      case FactKind::cut_trace:
        add("record or copy that trace again, completely");
        break;
      case FactKind::lost_activities:
        add("record the trace again; the notes say which activities were left out, and why");
        break;
      case FactKind::waits_unsplit:
        add("record waiting separately (waits_in: separate), or mark input and host time as stall");
        break;
      case FactKind::unexplained:
        add("take a profiler trace of one slow step on two ranks");
        break;
      case FactKind::not_judged:
        add("give workload.flops_per_step and hardware.chip, so that slow kernels are judged too");
        break;
      case FactKind::step_uneven:
        add("check that all ranks mark the same step: begin and end at the same synchronisation");
        break;
      default:
        break;
    }
  }
  if (actions.empty()) add("record more steps, with waiting separate (waits_in: separate)");
  return actions;
}

}  // namespace mfu
