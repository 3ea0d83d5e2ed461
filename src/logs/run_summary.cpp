#include "logs/run_summary.hpp"

#include <algorithm>
#include <cmath>

#include "logs/values.hpp"

namespace mfu {

namespace {

// Half of the last printed digit.
double half_digit(std::string_view text) {
  text = trimmed(text);
  std::size_t at = text.find('.');
  if (at == std::string_view::npos) return 0.5;
  double half = 0.5;
  for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) half /= 10.0;
  return half;
}

}  // namespace

std::optional<MeanStep> mean_step(const RunSummary& summary) {
  MeanStep mean;
  LoggedStep& step = mean.step;
  step.samples_per_s = positive(summary.samples_per_s);
  std::optional<double> count = positive(summary.steps);
  const auto runtime = positive(summary.runtime_s);
  if (!count && runtime && summary.steps_per_s) {
    // "0.007" is anything from 0.0065 to 0.0075; times the run's seconds there may be one whole
    // number between.
    const double half = half_digit(summary.steps_per_s_text);
    const double least = std::ceil((*summary.steps_per_s - half) * *runtime - 1e-9);
    const double most = std::floor((*summary.steps_per_s + half) * *runtime + 1e-9);
    if (least == most && least >= 1.0) count = least;
  }
  if (runtime && count) {
    step.step_s = *runtime / *count;
  } else if (const auto rate = positive(summary.steps_per_s)) {
    step.step_s = 1.0 / *rate;
    mean.exact = half_digit(summary.steps_per_s_text) <= 0.01 * *rate;
    if (runtime) count = std::max(1.0, std::round(*rate * *runtime));
  }
  if (!step.step_s && !step.samples_per_s) return std::nullopt;
  const double steps = std::clamp(count.value_or(1.0), 1.0, 1e9);
  step.iteration = static_cast<std::int64_t>(steps);
  step.steps_averaged = static_cast<int>(steps);
  return mean;
}

}  // namespace mfu
