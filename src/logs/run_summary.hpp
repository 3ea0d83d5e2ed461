// Hugging Face's summary of a run: one mean over all of its steps.
#pragma once

#include <optional>
#include <string_view>

#include "logs/training_log.hpp"

namespace mfu {

struct RunSummary {
  std::optional<double> runtime_s;
  std::optional<double> samples_per_s;
  std::optional<double> steps_per_s;
  std::string_view steps_per_s_text;  // its digits say how exact it is
  std::optional<double> steps;        // where the log says how many
};

// The mean step. `exact` is false where the printed rate has too few digits for a step time within
// 1 %. None: nothing to say.
struct MeanStep {
  LoggedStep step;
  bool exact = true;
};
[[nodiscard]] std::optional<MeanStep> mean_step(const RunSummary& summary);

}  // namespace mfu
