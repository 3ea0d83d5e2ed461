// How a log is read and summed up, on the command line: --columns, --format, --segment, --skip.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "options.hpp"

namespace mfu::app {

struct LogReadingText {
  std::vector<std::string> columns;
  std::string format, segment;
  std::string skip;  // a command that has --skip for runs, too, adds it itself
};
// All but --skip.
void add_log_reading_options(CLI::App& command, LogReadingText& text);
[[nodiscard]] LogReadOptions parse_log_reading(const LogReadingText& text, Problems& problems);
[[nodiscard]] LogSummaryOptions parse_log_summary(const LogReadingText& text, Problems& problems);

}  // namespace mfu::app
