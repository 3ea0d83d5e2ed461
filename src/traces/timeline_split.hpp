// Where the time of each worker of a timeline goes, step by step.
#pragma once

#include <vector>

#include "traces/timeline.hpp"

namespace mfu::traces {

// Seconds of one worker in one step; compute + comm + wait + stall = step.
struct WorkerStep {
  double compute_s = 0.0;  // an operation of the compute lane runs
  double comm_s = 0.0;     // communication alone: transfer, as a timeline has it
  double wait_s = 0.0;     // idle until the last of a communication's group had come
  double stall_s = 0.0;    // idle otherwise: before compute, or while nobody was missing
  double forward_s = 0.0;  // part of compute
  double backward_s = 0.0;
  double step_s = 0.0;  // of the whole pipeline, the same for all workers
  int forwards = 0;     // operations: microbatches times chunks
};

// [step][worker]
[[nodiscard]] std::vector<std::vector<WorkerStep>> split_timeline(const Timeline& timeline);

}  // namespace mfu::traces
