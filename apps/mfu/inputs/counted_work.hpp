// The work of a step, counted from the model that a run file names, where the file does not state
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/model.hpp"
#include "mfu/read.hpp"
#include "mfu/timings.hpp"

namespace mfu::app {

struct CountedWork {
  double params = 0.0;
  double active_params = 0.0;
  std::optional<double> hardware_share;  // hardware over model FLOPs, where recompute is given
  std::string settings;                  // the convention's switches
  ModelShape shape;
};

struct WorkCount {
  std::optional<CountedWork> work;
  std::string why_not;  // where a model is given and cannot be counted; noted, too
};

// Fills run.workload.flops_per_step and run.convention where a known model, the sequence length and
// the tokens of a step allow it. A model that is not known is a note. `files`: of the run; a model
// given as a path is looked for beside the first.
[[nodiscard]] WorkCount count_work(RunTimings& run, std::vector<InputInfo>& files, Notes& notes);

}  // namespace mfu::app
