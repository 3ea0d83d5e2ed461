// What `compare` is given: a run, traces, a log or a saved report, as one side.
#pragma once

#include <string>
#include <vector>

#include "commands/calc_options.hpp"
#include "compare/side.hpp"
#include "inputs/run_overrides.hpp"
#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "mfu/compare.hpp"
#include "mfu/read.hpp"

namespace mfu::app {

// How both sides are read: what the command line says of runs and logs. Saved reports stand as they
// are.
struct SideRequest {
  Overrides overrides;
  CalcText calc;
  Selection selection;
  LogReadOptions reading;
  LogSummaryOptions summing;
  DiagnoseOptions analysis;
  unsigned threads = 0;
  bool options_given = false;
  std::string log_options;  // those given that are of logs alone: "--params, --columns"
};

// `path`: a file, a folder or pattern of traces or of the parts of a run, a pipe; "-": standard
// input.
// Notes bear the name of the input.
[[nodiscard]] Side read_side(const std::string& path, const SideRequest& request,
                             std::vector<InputInfo>& inputs, Notes& notes);

}  // namespace mfu::app
