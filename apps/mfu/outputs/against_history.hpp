// --against history: a measurement held against what is usual for its job under its fingerprint.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "compare/side.hpp"
#include "mfu/error.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/regression_limit.hpp"
#include "report/compare/history_section.hpp"

namespace mfu::app {

struct AgainstText {
  std::string against, db, job;
};
void add_against_options(CLI::App& command, AgainstText& text);
// Whether it is asked for. What is wrong is a problem.
[[nodiscard]] bool parse_against(const AgainstText& text, Problems& problems);

// Reads the history and fills report.history. Records of another command or another number of GPUs
// are left out. Too few records are not an error: the section says so, and where a gate depends on
// them a note, which --strict refuses.
void hold_against_history(const AgainstText& text, const Side& side, bool gated, Report& report,
                          Notes& notes);

// Fails when it is slower than usual by more than the limit; beyond noise, only when that is beyond
// the scatter of the history as well. Without a baseline it passes and says why.
[[nodiscard]] Gate judge_history(const HistorySection& history, const RegressionLimit& limit);

}  // namespace mfu::app
