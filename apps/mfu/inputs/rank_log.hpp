// A log with per-rank values, as a run that can be diagnosed if it says enough.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "logs/training_log.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/scores_section.hpp"

namespace mfu::app {

// Scores of ranks of which none stands out: an answer, if not a diagnosis. An error to callers that
// need the times of the steps.
class HealthyScores : public Error {
 public:
  HealthyScores(ScoresSection scores, Place place)
      : Error(ErrorKind::insufficient, scores.verdict_line + "; unseen: " + scores.unseen,
              std::move(place), scores.next),
        section(std::move(scores)) {}

  ScoresSection section;
  std::vector<InputInfo> inputs;
};

// The ranks' compute and communication by step. Megatron's timers of all ranks (forward-compute and
// backward-compute are needed) and Ascend's step_trace_time.csv hold them. Scores and step times of
// ranks do not: Error{insufficient} says what they show and what they cannot, HealthyScores where
// nobody stands out. What the log says of
// the job (model, batch, layout) goes into the run.
[[nodiscard]] RunTimings run_of_log(const TrainingLog& log, Notes& notes);

// read_inputs(); files that are not timing documents are read as logs.
[[nodiscard]] ReadResult read_run_or_log(const std::vector<std::string>& paths, unsigned threads,
                                         Notes& notes);

}  // namespace mfu::app
