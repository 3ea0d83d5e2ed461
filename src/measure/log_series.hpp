// The costs of the steps of a log that count, and what is unusual about them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "mfu/interval.hpp"

namespace mfu::measurement {

// One line of a log that counts.
struct CountedStep {
  double cost = 0.0;
  double weight = 1.0;  // steps that the line averages over
  std::int64_t iteration = 0;
  std::size_t segment = 0;
  std::optional<double> timestamp_s;
};

// Of values with weights: the median line of all the steps that they stand for. Not empty.
[[nodiscard]] double weighted_quantile(std::span<const CountedStep> steps, double q);
[[nodiscard]] double weighted_median(std::span<const CountedStep> steps);

// 95 % interval of the median, with neighbours kept together. Nothing for fewer than 5 lines.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const CountedStep> steps,
                                                      std::uint64_t seed);

// The two speeds of a log that goes between them.
[[nodiscard]] std::optional<LogLevels> find_levels(std::span<const CountedStep> steps);

// Standard error of the median relative to it; nothing for fewer than 5 lines.
[[nodiscard]] std::optional<double> median_error(std::span<const CountedStep> steps);

// `step_seconds`: of one unit of cost, where that is known: else periods in seconds need
// timestamps.
[[nodiscard]] OutlierSteps find_outliers(std::span<const CountedStep> steps,
                                         const std::vector<LoggedPause>& pauses,
                                         bool cost_is_step_seconds);

[[nodiscard]] std::optional<LogDrift> find_drift(std::span<const CountedStep> steps);

// The period of events that lie on integers, `span` of them in all: events in ascending order. Only
// where the events lie on the period and the period's points are events, and chance would not do it
// once in a hundred.
[[nodiscard]] std::optional<std::int64_t> integer_period(std::span<const std::int64_t> events,
                                                         std::int64_t span);
// The same for times that are known to within `resolution`.
[[nodiscard]] std::optional<double> time_period(std::span<const double> events, double resolution);

}  // namespace mfu::measurement
