// The best fit of two constants to a series, one behind the other.
#pragma once

#include <cstddef>
#include <span>

namespace mfu {

struct LevelSplit {
  std::size_t at = 0;  // first index of the second part; 0: the series does not split
  double before = 0.0;
  double after = 0.0;
  double explained = 0.0;  // share of the variance that the two means explain
};

// Each part at least `edge` values long. Of ascending values: the two groups that lie closest.
[[nodiscard]] LevelSplit best_split(std::span<const double> y, std::size_t edge);

}  // namespace mfu
