// Two speeds: which of some units (ranks, nodes ...) are slow, for any share of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mfu::diagnosis {

// One unit's excess over the fast ones, seconds a step.
struct UnitLevel {
  double mean = 0.0;      // over the steps, without the largest one: one step proves nothing
  double variance = 0.0;  // of its steps around their mean
};

[[nodiscard]] UnitLevel level_of(std::span<const double> series);

// The slow units, as indices, ascending: the fast ones lie close together, a gap follows, and above
// it the slow ones lie with any spread. Nothing where no gap parts them, where the slow ones are
// not `least` seconds above the fast ones, or where what the fast ones do from step to step (over
// `steps` steps) could have parted them as well. The tolerances are shares of the gap and quantiles
// of the units: they do not grow with the number of units.
[[nodiscard]] std::optional<std::vector<std::size_t>> slow_units(std::span<const UnitLevel> units,
                                                                 std::size_t steps, double least);

}  // namespace mfu::diagnosis
