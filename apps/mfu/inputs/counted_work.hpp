// The work of a step, counted from the model that a run file names, where the file does not state
// it.
#pragma once

#include <vector>

#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/timings.hpp"

namespace mfu::app {

// As the library's, and a model given as a path is looked for beside the first of `files`, which
// are the run's.
void count_work(RunTimings& run, std::vector<InputInfo>& files, Notes& notes);

}  // namespace mfu::app
