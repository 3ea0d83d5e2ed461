// A training log as read, answered with what the command line says of it: for log and compare.
#pragma once

#include <vector>

#include "commands/calc_options.hpp"
#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "mfu/error.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "report/measure/log_section.hpp"

namespace mfu::app {

struct LogAnswer {
  LogSection section;
  std::vector<InputInfo> files;  // that were read beside the log
};

// Throws what is in `problems`, and statements that contradict each other. Throws Interrupted where
// the log was broken off (`interrupted`) before it held anything to answer.
[[nodiscard]] LogAnswer answer_log(const TrainingLog& log, const CalcText& text,
                                   LogSummaryOptions summing, Problems& problems, Notes& notes,
                                   bool interrupted = false);

}  // namespace mfu::app
