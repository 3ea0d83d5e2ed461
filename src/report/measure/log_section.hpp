// A training log as a report holds it: numbers and finished sentences.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/term_spread.hpp"
#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "mfu/interval.hpp"
#include "report/measure/calc_section.hpp"

namespace mfu {

// Where an input of `log` comes from: an option, a line of the log, a file.
struct LogSource {
  std::string what;   // "model", "batch"
  std::string value;  // "32"
  std::string from;   // "arguments block, line 212"; "--batch; the log says 64"
};

struct LogSection {
  LogSummary summary;
  CalcSection calc;  // of the headline's step
  std::string format;
  std::string title;       // format, model, GPUs, peak
  std::string steps_line;  // which steps
  // Nothing where the log gives rates and the tokens of a step are not known.
  std::optional<double> p50_seconds, mean_seconds, p95_seconds, wall_seconds;
  std::optional<double> headline_seconds;     // that of the summary's statistic
  std::optional<Interval> headline_relative;  // 95 % of it, over it, less 1
  std::optional<Interval> p50_seconds_ci;     // 95 %
  std::optional<LogSpread> spread;            // how sure the mean is
  std::map<std::string, int> parallel;        // as the log says: "tp", "pp" ...
  std::string seconds_missing;                // why not; else empty
  std::vector<LogSource> sources;
  std::vector<LoggedFigure> reported;
  std::vector<std::string> reported_texts;   // one for each of reported
  std::optional<std::string> reproduced_by;  // of the first of reported; nothing: nothing does
  struct Line {
    std::string label;  // "outliers"
    std::string text;
    bool blamed = false;
  };
  std::vector<Line> lines;  // about the steps
};

// Words and numbers of a log. `calculation`: of the headline's step; what it lacks is said. Pure.
[[nodiscard]] LogSection describe_log(const TrainingLog& log, LogSummary summary,
                                      Calculation calculation, std::vector<LogSource> sources);

}  // namespace mfu
