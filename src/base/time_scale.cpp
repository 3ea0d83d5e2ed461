#include "base/time_scale.hpp"

#include <cmath>

namespace mfu {

TimeScale time_scale(double seconds) noexcept {
  const double size = std::fabs(seconds);
  TimeScale scale;
  if (!(size >= 1e-6)) {
    scale = {1e-9, "ns", 0};
  } else if (size < 1e-3) {
    scale = {1e-6, "us", 0};
  } else if (size < 1.0) {
    scale = {1e-3, "ms", 0};
  } else {
    scale = {1.0, "s", 0};
  }
  const double value = size / scale.unit_seconds;
  // 12.90, 810.0, 2.214: as many decimals as give four digits.
  scale.decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
  return scale;
}

}  // namespace mfu
