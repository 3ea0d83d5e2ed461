// Resampled logs of what two sides of a comparison are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/side.hpp"
#include "mfu/compare.hpp"

namespace mfu::comparison {

// Log of the speed and of each factor, one value a replicate; all but for a constant.
//
// Two questions are asked of the same steps. Of the speed: would it be this again? So steps are
// drawn as they come, and a single long pause makes it uncertain. Of a factor: how sure is the size
// of what happened? So steps that are bursts are drawn apart from the others.
struct Replicates {
  std::vector<double> speed;
  std::vector<std::vector<double>> factors;  // in the order of Side::factors of that measure
};

// Nothing for fewer than 5 steps or lines. The stream depends on `seed` alone.
[[nodiscard]] std::optional<Replicates> resample(const Side& side, int replicates,
                                                 std::uint64_t seed);

// Standard deviation of a log from 95 % ends that are relative to it; nothing: not a width.
[[nodiscard]] std::optional<double> log_deviation(const std::optional<Interval>& relative);

// Student's t for 95 %: how many standard errors, where these are known of `freedom` (2 and more)
// independent values. Abramowitz and Stegun 26.7.5.
[[nodiscard]] double student95(double freedom) noexcept;

// 2.5 % to 97.5 % of a sample.
[[nodiscard]] Interval central_interval(const std::vector<double>& values);
[[nodiscard]] double deviation(const std::vector<double>& values);

}  // namespace mfu::comparison
