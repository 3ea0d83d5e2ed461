// Learning-rate schedules, and the peak rates that published runs used.
#include "plan/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "mfu/plan.hpp"

namespace mfu {
namespace {

constexpr std::string_view kGpt3 = "Brown et al. 2020, arXiv:2005.14165";
constexpr std::string_view kLlama1 = "Touvron et al. 2023, arXiv:2302.13971";
constexpr std::string_view kLlama2 = "Touvron et al. 2023, arXiv:2307.09288";
constexpr std::string_view kLlama3 = "Dubey et al. 2024, arXiv:2407.21783";

constexpr std::array kRates{
    PublishedRate{"GPT-3 125M", 125e6, 6e-4, 0.5e6, kGpt3},
    PublishedRate{"GPT-3 350M", 350e6, 3e-4, 0.5e6, kGpt3},
    PublishedRate{"GPT-3 760M", 760e6, 2.5e-4, 0.5e6, kGpt3},
    PublishedRate{"GPT-3 1.3B", 1.3e9, 2e-4, 1e6, kGpt3},
    PublishedRate{"GPT-3 2.7B", 2.7e9, 1.6e-4, 1e6, kGpt3},
    PublishedRate{"GPT-3 6.7B", 6.7e9, 1.2e-4, 2e6, kGpt3},
    PublishedRate{"GPT-3 13B", 13e9, 1e-4, 2e6, kGpt3},
    PublishedRate{"GPT-3 175B", 175e9, 0.6e-4, 3.2e6, kGpt3},
    PublishedRate{"LLaMA 7B", 6.7e9, 3e-4, 4e6, kLlama1},
    PublishedRate{"LLaMA 13B", 13e9, 3e-4, 4e6, kLlama1},
    PublishedRate{"LLaMA 33B", 32.5e9, 1.5e-4, 4e6, kLlama1},
    PublishedRate{"LLaMA 65B", 65.2e9, 1.5e-4, 4e6, kLlama1},
    PublishedRate{"Llama 2 7B", 7e9, 3e-4, 0.0, kLlama2},
    PublishedRate{"Llama 2 13B", 13e9, 3e-4, 0.0, kLlama2},
    PublishedRate{"Llama 2 34B", 34e9, 1.5e-4, 0.0, kLlama2},
    PublishedRate{"Llama 2 70B", 70e9, 1.5e-4, 0.0, kLlama2},
    PublishedRate{"Llama 3 8B", 8e9, 3e-4, 0.0, kLlama3},
    PublishedRate{"Llama 3 70B", 70e9, 1.5e-4, 0.0, kLlama3},
    PublishedRate{"Llama 3 405B", 405e9, 8e-5, 0.0, kLlama3},
};
constexpr std::size_t kGpt3Rows = 8;

double decay_start(const ScheduleInput& schedule) {
  return schedule.shape == ScheduleShape::wsd ? schedule.steps - schedule.decay_steps
                                              : schedule.warmup_steps;
}

}  // namespace

std::string_view to_string(ScheduleShape shape) noexcept {
  switch (shape) {
    case ScheduleShape::cosine:
      return "cosine";
    case ScheduleShape::linear:
      return "linear";
    case ScheduleShape::wsd:
      return "wsd";
  }
  return "";
}

double rate_share(const ScheduleInput& schedule, double step) {
  if (step < schedule.warmup_steps) return step / schedule.warmup_steps;
  const double start = decay_start(schedule);
  if (step <= start) return 1.0;
  const double left = std::min(1.0, (step - start) / (schedule.steps - start));
  const double fall = schedule.shape == ScheduleShape::cosine
                          ? 0.5 * (1.0 + std::cos(std::numbers::pi * left))
                          : 1.0 - left;
  return schedule.final_share + (1.0 - schedule.final_share) * fall;
}

std::vector<SchedulePoint> schedule_points(const ScheduleInput& schedule, std::size_t count) {
  const double last = schedule.steps;
  const double start = decay_start(schedule);
  std::vector<double> steps{1.0, last};
  if (schedule.warmup_steps >= 1.0) steps.push_back(schedule.warmup_steps);
  if (start >= 1.0) steps.push_back(start);
  if (static_cast<double>(count) >= last) {
    for (double step = 1.0; step <= last; step += 1.0) steps.push_back(step);
  } else {
    for (std::size_t i = 1; i < count; ++i) {
      steps.push_back(
          std::max(1.0, std::round(last * static_cast<double>(i) / static_cast<double>(count))));
    }
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::vector<SchedulePoint> points;
  points.reserve(steps.size());
  for (const double step : steps) {
    SchedulePoint point{step, rate_share(schedule, step), "decay"};
    if (step == last) {
      point.phase = "end";
    } else if (step < schedule.warmup_steps) {
      point.phase = "warm-up";
    } else if (step == std::max(1.0, schedule.warmup_steps)) {
      point.phase = "peak";
    } else if (step <= start) {
      point.phase = "constant";
    }
    points.push_back(point);
  }
  return points;
}

double mean_share(const ScheduleInput& schedule) {
  // Sums of what rate_share() gives at whole steps, in closed form: the run may have millions.
  const double warm = schedule.warmup_steps;
  const double start = decay_start(schedule);
  const double left = schedule.steps - start;
  double sum = warm > 0.0 ? (warm + 1.0) / 2.0 : 0.0;
  sum += start - warm;
  // Both shapes go from 1 (before the first of these steps) to 0 (at the last): the mean of the
  // steps is half, less half a step.
  const double fall = (left - 1.0) / 2.0;
  sum += left * schedule.final_share + (1.0 - schedule.final_share) * fall;
  return sum / schedule.steps;
}

std::span<const PublishedRate> published_rates() noexcept { return kRates; }

std::vector<PublishedRate> rates_near(double params, std::size_t count) {
  constexpr double kNear = 2.0;
  const auto distance = [&](const PublishedRate& row) {
    return std::fabs(std::log(row.params / params));
  };
  std::vector<PublishedRate> near;
  for (const PublishedRate& row : kRates) {
    if (distance(row) <= std::log(kNear) * (1.0 + 1e-9)) near.push_back(row);
  }
  std::stable_sort(near.begin(), near.end(), [&](const PublishedRate& a, const PublishedRate& b) {
    return distance(a) < distance(b);
  });
  if (near.size() > count) near.resize(count);
  return near;
}

std::optional<double> gpt3_rate(double params) {
  const std::span<const PublishedRate> rows = std::span(kRates).first(kGpt3Rows);
  // A name's size is rounded: 124.4M parameters are the row of 125M.
  constexpr double kRounded = 0.02;
  if (params < rows.front().params * (1.0 - kRounded) ||
      params > rows.back().params * (1.0 + kRounded)) {
    return {};
  }
  params = std::clamp(params, rows.front().params, rows.back().params);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (params > rows[i + 1].params) continue;
    const double part =
        std::log(params / rows[i].params) / std::log(rows[i + 1].params / rows[i].params);
    return rows[i].rate * std::pow(rows[i + 1].rate / rows[i].rate, part);
  }
  return {};
}

}  // namespace mfu
