// The unit in which times are shown.
#pragma once

#include <string_view>

namespace mfu {

// The unit in which seconds of this magnitude are read, and the decimals that give four digits. All
// times that are compared with one another are shown in one scale.
struct TimeScale {
  double unit_seconds = 1.0;
  std::string_view unit = "s";
  int decimals = 2;
};
[[nodiscard]] TimeScale time_scale(double seconds) noexcept;

}  // namespace mfu
