// A run as read, diagnosed with what the command line says of it: for diagnose and compare.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mfu/analyze.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
#include "run_overrides.hpp"

namespace mfu::app {

struct DiagnosedRun {
  DiagnoseSection section;
  std::vector<InputInfo> inputs;
};

// Counts the work where the run does not state it. `progress`: told of what is done; may be empty.
[[nodiscard]] DiagnosedRun diagnose_run(ReadResult read, const Overrides& overrides,
                                        const Selection& selection, const DiagnoseOptions& options,
                                        Notes& notes,
                                        const std::function<void(const std::string&)>& progress);

}  // namespace mfu::app
