// What `compare` is given: a run, traces, a log or a saved report, as one side.
#pragma once

#include <string>
#include <vector>

#include "calc_options.hpp"
#include "mfu/compare.hpp"
#include "mfu/log_summary.hpp"
#include "mfu/read.hpp"
#include "run_overrides.hpp"

namespace mfu::app {

// How both sides are read: what the command line says of runs and logs. Saved reports stand as they
// are.
struct SideRequest {
  Overrides overrides;
  CalcText calc;
  Selection selection;
  LogSummaryOptions summing;
  DiagnoseOptions analysis;
  unsigned threads = 0;
  bool options_given = false;
};

// `path`: a file, a folder or pattern of traces or of the parts of a run; "-": a saved report.
// Notes bear the name of the input.
[[nodiscard]] Side read_side(const std::string& path, const SideRequest& request,
                             std::vector<InputInfo>& inputs, Notes& notes);

}  // namespace mfu::app
