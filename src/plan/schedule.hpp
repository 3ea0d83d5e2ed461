// The learning rate over the steps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mfu {

enum class ScheduleShape { cosine, linear, wsd };
[[nodiscard]] std::string_view to_string(ScheduleShape shape) noexcept;

struct ScheduleInput {
  ScheduleShape shape = ScheduleShape::cosine;
  double steps = 0.0;         // whole
  double warmup_steps = 0.0;  // fewer than steps
  double decay_steps = 0.0;   // of wsd; else all that is left
  double final_share = 0.1;   // of the peak
  std::optional<double> peak_rate;
  std::optional<double> tokens_per_step;
};

// Of the step's rate over the peak; steps count from 1. Warm-up rises from 1/w at step 1 to 1 at
// step w; the last step has `final_share`.
[[nodiscard]] double rate_share(const ScheduleInput& schedule, double step);

struct SchedulePoint {
  double step = 0.0;
  double share = 0.0;      // of the peak
  std::string_view phase;  // "warm-up", "peak", "constant", "decay", "end"
};
// About `count` steps at equal distances, and the corners. Each step once, in order.
[[nodiscard]] std::vector<SchedulePoint> schedule_points(const ScheduleInput& schedule,
                                                         std::size_t count);
// Mean of the shares over all steps.
[[nodiscard]] double mean_share(const ScheduleInput& schedule);

struct PublishedRate {
  std::string_view model;
  double params;
  double rate;          // peak, Adam or AdamW
  double batch_tokens;  // 0: not one number
  std::string_view source;
};
[[nodiscard]] std::span<const PublishedRate> published_rates() noexcept;
// The nearest in size, at most `count` and within a factor of 2; nearest first.
[[nodiscard]] std::vector<PublishedRate> rates_near(double params, std::size_t count);
// Between the rows of GPT-3's table of sizes, straight in the logarithms; nothing outside of it.
[[nodiscard]] std::optional<double> gpt3_rate(double params);

}  // namespace mfu
