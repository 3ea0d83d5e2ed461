// A run as read, diagnosed with what the command line says of it: for diagnose and compare.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "commands/worth_options.hpp"
#include "inputs/run_overrides.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
#include "readers/telemetry/telemetry.hpp"
#include "report/diagnose/diagnose_section.hpp"

namespace mfu::app {

struct DiagnosedRun {
  DiagnoseSection section;
  std::vector<InputInfo> inputs;
};

// What the command line says of a run.
struct RunRequest {
  Overrides overrides;
  Selection selection;
  DiagnoseOptions options;
  std::vector<TelemetryFile> telemetry;  // to be joined to the ranks
  WorthLimits worth;
};

// Joins the telemetry, which may name the chip, and counts the work where the run does not state
// it. `progress`: told of what is done; may be empty.
[[nodiscard]] DiagnosedRun diagnose_run(ReadResult read, const RunRequest& request, Notes& notes,
                                        const std::function<void(const std::string&)>& progress);

}  // namespace mfu::app
