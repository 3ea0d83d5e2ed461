#include "faults/written/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace mfu::faults {

namespace {

constexpr std::size_t at(CommKind kind) { return static_cast<std::size_t>(kind); }

std::string kind_name(std::size_t kind, const Layout& layout) {
  switch (static_cast<CommKind>(kind)) {
    case CommKind::lockstep:
      return layout.ep > 1 ? "ep" : "tp";
    case CommKind::p2p:
      return "pp";
    case CommKind::dp:
      return "dp";
    case CommKind::world:
      return "world";
  }
  return "world";
}

bool kind_exists(std::size_t kind, const Layout& layout) {
  if (static_cast<CommKind>(kind) == CommKind::lockstep) return layout.lanes() > 1;
  if (static_cast<CommKind>(kind) == CommKind::p2p) return layout.pp > 1;
  return true;
}

}  // namespace

std::vector<int> recorded_ranks(const JobSpec& spec) {
  const Recording& how = spec.recording;
  const Noise noise(spec.seed);
  const auto at_fault = [&](int rank) {
    return std::any_of(spec.faults.begin(), spec.faults.end(), [&](const Fault& fault) {
      return fault.place == (fault.kind == FaultKind::slow_node ? spec.layout.node_of(rank) : rank);
    });
  };
  std::vector<int> eligible;
  for (int rank = 0; rank < spec.layout.ranks(); ++rank) {
    if (how.one_per_lockstep_group && spec.layout.lane_of(rank) != 0) continue;
    eligible.push_back(rank);
  }
  if (how.only_rank_0) return {eligible.front()};
  // The ranks whose numbers come first in a shuffle are the missing ones.
  std::vector<int> shuffled = eligible;
  std::sort(shuffled.begin(), shuffled.end(), [&](int a, int b) {
    return noise.bits(Draw::missing_rank, static_cast<std::uint64_t>(a)) <
           noise.bits(Draw::missing_rank, static_cast<std::uint64_t>(b));
  });
  const double share = how.missing_ranks * static_cast<double>(eligible.size());
  auto left = static_cast<std::size_t>(std::lround(share));
  std::vector<int> missing;
  for (const int rank : shuffled) {
    if (missing.size() == left) break;
    if (!at_fault(rank)) missing.push_back(rank);
  }
  std::vector<int> ranks;
  for (const int rank : eligible) {
    if (std::find(missing.begin(), missing.end(), rank) == missing.end()) ranks.push_back(rank);
  }
  return ranks;
}

Recorder::Recorder(const JobSpec& spec) : spec_(spec), recorded_(recorded_ranks(spec)) {
  const std::size_t steps = static_cast<std::size_t>(spec.steps);
  const std::size_t ranks = recorded_.size();
  const auto column = [&] { return Column(steps, ranks); };
  run_.compute = column();
  run_.comm = column();
  run_.stall = column();
  if (spec.recording.waits_in == WaitsIn::separate) run_.wait = column();
  if (spec.recording.step_series) run_.step = column();
  if (spec.recording.forward_backward) {
    run_.forward = column();
    run_.backward = column();
  }
  if (spec.recording.by_group) {
    for (std::size_t kind = 0; kind < kCommKinds; ++kind) {
      if (kind_exists(kind, spec.layout)) {
        run_.comm_by_group[kind_name(kind, spec.layout)] = column();
      }
    }
  }
  describe();
}

void Recorder::describe() {
  const Layout& layout = spec_.layout;
  run_.job["name"] = spec_.name;
  run_.model = spec_.model;
  if (spec_.seq_len > 0.0) run_.workload.seq_len = spec_.seq_len;
  if (spec_.global_batch > 0.0) run_.workload.global_batch = spec_.global_batch;
  if (spec_.seq_len > 0.0 && spec_.global_batch > 0.0) {
    run_.workload.tokens_per_step = spec_.seq_len * spec_.global_batch;
  }
  run_.workload.microbatches = spec_.pace.microbatches;
  if (layout.pp > 1) {
    run_.workload.pipeline_schedule =
        spec_.pace.gpipe ? PipelineSchedule::gpipe : PipelineSchedule::one_f_one_b;
    run_.workload.pipeline_schedule_given = true;
  }
  if (!spec_.chip.empty()) {
    run_.workload.flops_per_step = spec_.flops_per_step;
    run_.hardware.chip = spec_.chip;
    run_.hardware.precision = "bf16";
    run_.convention = "palm";
  }
  run_.hardware.count = layout.ranks();
  run_.parallelism[Axis::tp] = layout.tp;
  run_.parallelism[Axis::ep] = layout.ep;
  run_.parallelism[Axis::cp] = 1;
  run_.parallelism[Axis::dp] = layout.dp;
  run_.parallelism[Axis::pp] = layout.pp;
  if (layout.pipeline_inside) {
    run_.parallelism.order = {Axis::tp, Axis::cp, Axis::ep, Axis::pp, Axis::dp};
  }
  run_.waits_in = spec_.recording.waits_in;
  run_.waits_in_given = true;
  if (layout.lanes_outside) {
    run_.parallelism.order = {Axis::tp, Axis::cp, Axis::dp, Axis::ep, Axis::pp};
  }
  for (int step = 0; step < spec_.steps; ++step) {
    run_.steps.push_back(spec_.first_step_id + spec_.step_stride * step);
  }
  for (const int rank : recorded_) {
    RankInfo info;
    info.rank = rank;
    info.node = layout.node_name(layout.node_of(rank));
    info.gpu = rank % layout.gpus_per_node;
    const int lane = layout.lane_of(rank);
    info.coords[Axis::tp] = lane % layout.tp;
    info.coords[Axis::cp] = 0;
    info.coords[Axis::ep] = lane / layout.tp;
    info.coords[Axis::dp] = layout.dp_of(rank);
    info.coords[Axis::pp] = layout.stage_of(rank);
    run_.ranks.push_back(std::move(info));
  }
  run_.recorded_ranks = run_.ranks.size();
}

void Recorder::add(int step, const std::vector<RankStep>& ranks, const Load& load) {
  const std::size_t s = static_cast<std::size_t>(step);
  const Recording& how = spec_.recording;
  const Noise noise(spec_.seed);
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    const int rank = recorded_[i];
    const RankStep& split = ranks[static_cast<std::size_t>(rank)];
    double comm = 0.0;
    double stall = split.own_stall;
    double wait = 0.0;
    std::array<double, kCommKinds> by_kind{};
    for (std::size_t kind = 0; kind < kCommKinds; ++kind) {
      by_kind[kind] = split.transfer[kind];
      const bool bubble = kind == at(CommKind::p2p) && how.bubbles_in_stall;
      if (bubble || how.waits_in == WaitsIn::stall) {
        stall += split.wait[kind];
      } else if (how.waits_in == WaitsIn::separate) {
        wait += split.wait[kind];
      } else {
        by_kind[kind] += split.wait[kind];
      }
      comm += by_kind[kind];
    }
    run_.compute.at(s, i) = split.compute;
    run_.comm.at(s, i) = comm;
    run_.stall.at(s, i) = stall;
    if (!run_.wait.empty()) run_.wait.at(s, i) = wait;
    if (!run_.step.empty()) run_.step.at(s, i) = split.end - split.begin;
    if (!run_.forward.empty()) {
      run_.forward.at(s, i) = split.forward;
      run_.backward.at(s, i) = split.backward;
    }
    for (std::size_t kind = 0; kind < kCommKinds; ++kind) {
      const auto column = run_.comm_by_group.find(kind_name(kind, spec_.layout));
      if (column != run_.comm_by_group.end() && kind_exists(kind, spec_.layout)) {
        column->second.at(s, i) = by_kind[kind];
      }
    }
    if (how.telemetry) {
      run_.ranks[i].telemetry.sm_clock_mhz.push_back(load.clock_mhz(step, rank));
      run_.ranks[i].telemetry.temperature_c.push_back(load.temperature_c(step, rank));
    }
    const std::uint64_t id = static_cast<std::uint64_t>(rank);
    if (noise.uniform(Draw::missing, s, id) < how.missing_samples) {
      constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
      for (Column* column : {&run_.compute, &run_.comm, &run_.stall, &run_.wait, &run_.step,
                             &run_.forward, &run_.backward}) {
        if (!column->empty()) column->at(s, i) = kMissing;
      }
      for (auto& [name, column] : run_.comm_by_group) column.at(s, i) = kMissing;
    }
  }
}

RunTimings Recorder::finish() { return std::move(run_); }

}  // namespace mfu::faults
