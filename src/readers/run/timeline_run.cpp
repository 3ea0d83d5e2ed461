#include "readers/run/timeline_run.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "timings/builder.hpp"
#include "timings/trace.hpp"
#include "traces/timeline/groups.hpp"
#include "traces/timeline/replay.hpp"
#include "traces/timeline/split.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu {
namespace {

using traces::Timeline;
using traces::WorkerStep;

// Innermost tp, then dp, then pp: the usual order.
std::vector<std::int64_t> rank_numbers(const Timeline& timeline) {
  std::vector<std::int64_t> ranks;
  for (const traces::TimelineWorker& worker : timeline.workers) {
    ranks.push_back(worker.tp + std::int64_t{timeline.tp} *
                                    (worker.dp + std::int64_t{timeline.dp} * worker.pp));
  }
  return ranks;
}

// All forwards of the last stage before its first backward: GPipe. One microbatch tells nothing.
bool is_gpipe(const Timeline& timeline) {
  bool backward = false;
  int forwards = 0;
  for (const traces::TimelineOp& op : timeline.ops_of(timeline.steps.front())) {
    const traces::TimelineWorker& worker = timeline.workers[op.worker];
    if (worker.pp != timeline.pp - 1 || worker.dp != timeline.workers.front().dp) continue;
    if (op.work == traces::Work::backward) backward = true;
    if (op.work != traces::Work::forward) continue;
    if (backward) return false;
    ++forwards;
  }
  return forwards > 1;
}

void describe_layout(const Timeline& timeline, const std::vector<std::vector<WorkerStep>>& split,
                     bool waits_separate, RunTimings& run) {
  run.parallelism[Axis::dp] = timeline.dp;
  run.parallelism[Axis::pp] = timeline.pp;
  if (timeline.tp > 1) run.parallelism[Axis::tp] = timeline.tp;
  run.hardware.count = static_cast<std::int64_t>(timeline.workers.size());
  // Waiting of unknown kind is in the gaps.
  run.waits_in = waits_separate ? WaitsIn::separate : WaitsIn::stall;
  run.waits_in_given = true;
  if (timeline.pp < 2) return;
  std::set<int> forwards;
  for (const auto& step : split) {
    for (const WorkerStep& worker : step) forwards.insert(worker.forwards);
  }
  // A schedule whose number of microbatches changes is not replayed from its columns.
  if (forwards.size() == 1 && *forwards.begin() > 0 && *forwards.begin() % timeline.chunks == 0) {
    run.workload.microbatches = *forwards.begin() / timeline.chunks;
  }
  run.workload.virtual_stages = timeline.chunks;
  run.workload.pipeline_schedule = timeline.chunks > 1  ? PipelineSchedule::interleaved
                                   : is_gpipe(timeline) ? PipelineSchedule::gpipe
                                                        : PipelineSchedule::one_f_one_b;
  run.workload.pipeline_schedule_given = true;
}

}  // namespace

ReadResult read_timeline_run(ByteSource& source, Notes& notes) {
  const Timeline timeline = traces::read_timeline(source, notes);
  const traces::OpGroups groups = traces::pair_operations(timeline, notes);
  const bool waits_separate = groups.clocks_agree;
  const std::vector<std::vector<WorkerStep>> split = traces::split_timeline(timeline, groups);
  const std::vector<std::int64_t> ranks = rank_numbers(timeline);
  const bool computes = std::any_of(split.begin(), split.end(), [](const auto& step) {
    return std::any_of(step.begin(), step.end(),
                       [](const WorkerStep& worker) { return worker.compute_s > 0.0; });
  });
  if (!computes) {
    throw Error(ErrorKind::insufficient, "no worker of the timeline computes",
                Place{.file = source.name()}, "compute is in lanes named \"..., compute\"");
  }
  RunBuilder builder;
  const std::size_t from = builder.add_source(source.name(), false);
  for (std::size_t w = 0; w < timeline.workers.size(); ++w) {
    RankRecord& record = builder.add(from);
    record.source = from;
    record.info.rank = ranks[w];
    record.info.coords[Axis::dp] = timeline.workers[w].dp;
    record.info.coords[Axis::pp] = timeline.workers[w].pp;
    if (timeline.tp > 1) record.info.coords[Axis::tp] = timeline.workers[w].tp;
    record.steps = builder.follow_steps();
    for (std::size_t s = 0; s < timeline.steps.size(); ++s) {
      const WorkerStep& row = split[s][w];
      record.steps.push_back(timeline.steps[s].id);
      record.at(kCompute).values.push_back(row.compute_s);
      record.at(kComm).values.push_back(row.comm_s);
      if (waits_separate) record.at(kWait).values.push_back(row.wait_s);
      record.at(kStall).values.push_back(row.stall_s);
      record.at(kStep).values.push_back(row.step_s);
      record.at(kForward).values.push_back(row.forward_s);
      record.at(kBackward).values.push_back(row.backward_s);
    }
  }
  describe_layout(timeline, split, waits_separate, builder.run);
  builder.run.job["recorder"] = "pipeline timeline";
  ReadResult result;
  result.run = builder.build(notes);
  if (auto replay = traces::replay_timeline(timeline, groups, ranks, notes)) {
    result.run.replay = *std::move(replay);
  }
  result.inputs.push_back({source.name(),
                           std::string("pipeline timeline") + (source.gzip() ? " (gzip)" : ""),
                           source.raw_bytes()});
  return result;
}

}  // namespace mfu
