// Where the time of each worker of a timeline goes, step by step.
#pragma once

#include <vector>

#include "traces/timeline/groups.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu::traces {

// Seconds of one worker in one step; compute + comm + wait + stall = step.
//
// Where the workers' clocks do not agree nothing is compared between them: the step is the worker's
// own, from its first operation to its last; communication is as recorded, with the waiting in it;
// wait is 0, and what else a worker waited stands in stall.
struct WorkerStep {
  double compute_s = 0.0;  // an operation of the compute lane runs
  double comm_s = 0.0;     // transfer that no compute hides, from when all of its group are there
  double wait_s = 0.0;     // until the last of a communication's group was ready; after its last
                           // operation, until the step ends
  double stall_s = 0.0;    // the rest: before compute, or while nobody was missing
  double forward_s = 0.0;  // part of compute
  double backward_s = 0.0;
  double step_s = 0.0;  // of the whole pipeline, the same for all workers
  int forwards = 0;     // operations: microbatches times chunks
};

// [step][worker]
[[nodiscard]] std::vector<std::vector<WorkerStep>> split_timeline(const Timeline& timeline,
                                                                  const OpGroups& groups);

}  // namespace mfu::traces
