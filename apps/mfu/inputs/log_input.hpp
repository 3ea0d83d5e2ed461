// What a log is counted with: what the command line gives, then what the log says, and of each
// where it comes from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/calc_options.hpp"
#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "mfu/error.hpp"
#include "mfu/measure.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "report/measure/log_section.hpp"

namespace mfu::app {

struct LogInput {
  CalcInput input;
  std::vector<LogSource> sources;
  std::vector<InputInfo> files;
  bool model_from_log = false;
  std::optional<std::size_t> model_source;  // of sources
};

// An option stands over what the log says. A model, chip or precision of the log that is not known
// is a note; of an option, a problem.
[[nodiscard]] LogInput gather_log_input(const CalcText& text, const TrainingLog& log,
                                        Problems& problems, Notes& notes);

// Adds what the steps say: the median step as the measurement, their batch, their tokens.
void add_measurement(LogInput& gathered, const CalcText& text, const TrainingLog& log,
                     const LogSummary& summary, Notes& notes);

// The calculation of the median step. What the log's own model cannot be counted with is a note,
// and the log's own FLOP/s stand in.
[[nodiscard]] Calculation calculate_log(LogInput& gathered, const TrainingLog& log,
                                        const LogSummary& summary, Notes& notes);

}  // namespace mfu::app
