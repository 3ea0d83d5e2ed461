// A log that says something rank by rank, as a run that can be diagnosed, where it says enough.
#pragma once

#include <string>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/training_log.hpp"

namespace mfu::app {

// The ranks' compute and communication by step. Megatron's timers of all ranks (forward-compute and
// backward-compute are needed) and Ascend's step_trace_time.csv hold them. Scores and step times of
// ranks do not: Error{insufficient} says what they show and what they cannot. What the log says of
// the job (model, batch, layout) goes into the run.
[[nodiscard]] RunTimings run_of_log(const TrainingLog& log, Notes& notes);

// read_inputs(); files that are no timing documents are read as logs.
[[nodiscard]] ReadResult read_run_or_log(const std::vector<std::string>& paths, unsigned threads,
                                         Notes& notes);

}  // namespace mfu::app
