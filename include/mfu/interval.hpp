// An interval of values: a confidence interval where a figure was estimated. Its unit is the
// figure's.
#pragma once

namespace mfu {

struct Interval {
  double lo = 0.0;
  double hi = 0.0;
};

}  // namespace mfu
