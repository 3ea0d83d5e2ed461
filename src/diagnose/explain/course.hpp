// Course: how an effect behaves over the steps. Steady, from an onset, drifting, or in bursts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mfu/diagnose.hpp"

namespace mfu::diagnosis {

struct Course {
  Persistence persistence = Persistence::steady;
  std::vector<bool> on;  // steps in which the effect is there
  std::size_t on_count = 0;
  std::optional<std::size_t> onset;  // index of the first step after the change
  double before = 0.0;               // means around the onset
  double after = 0.0;
  std::optional<double> period_steps;  // bursts that come back regularly
};

// `effect`: seconds lost a step, about 0 where the effect is not there. `ids`: step ids.
[[nodiscard]] Course course_of(std::span<const double> effect, std::span<const std::int64_t> ids);

// Burst cells of a series: above median + max(6 robust sigma, `floor`), in at most 45 % of the
// steps (else nothing is flagged: what happens that often is the level, not a burst). Median and
// MAD because with n samples a z-score cannot exceed (n-1)/sqrt(n).
struct BurstSplit {
  std::vector<bool> on;
  std::size_t on_count = 0;
  double level = 0.0;          // median of the steps outside bursts
  std::vector<double> excess;  // above the level in burst steps, else 0

  [[nodiscard]] double mean_excess() const;  // of the burst steps
};
[[nodiscard]] Course course_of_bursts(const BurstSplit& split, std::span<const std::int64_t> ids);
[[nodiscard]] BurstSplit split_bursts(std::span<const double> series, double floor);

// The upper of two speeds between which a series flips: on in the slow steps, level that of the
// quick ones. Nothing flagged where the series has no two clear modes, a tenth of the steps in
// each, or where most are slow and the quick ones come back regularly (evaluations).
[[nodiscard]] BurstSplit split_modes(std::span<const double> series);

// Steps between the starts of episodes, where they come back regularly; at least 3 episodes.
[[nodiscard]] std::optional<double> period_of(const std::vector<bool>& on,
                                              std::span<const std::int64_t> ids);

}  // namespace mfu::diagnosis
