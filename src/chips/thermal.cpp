// At which temperature a chip slows down. Sources: `nvidia-smi -q -x` of the devices named; T.Limit
// is the margin that Ada, Hopper and Blackwell report instead of a threshold, and the sum of it and
// the temperature is the same at all times.
#include <array>

#include "mfu/chip.hpp"

namespace mfu {
namespace {

struct ThermalRow {
  std::string_view id;  // the first tokens of a chip's id
  ThermalLimits limits;
};
// T.Limit: the threshold is the sum less the (negative) margin at which the chip slows down.
constexpr std::array kThermalRows{
    ThermalRow{"a100-sxm4", {89.0, 95.0}}, ThermalRow{"t4", {93.0, 0.0}},
    ThermalRow{"h100-sxm", {89.0, 0.0}},   ThermalRow{"b200", {91.0, 0.0}},
    ThermalRow{"gb200", {89.0, 0.0}},      ThermalRow{"gb300", {89.0, 0.0}},
    ThermalRow{"l40s", {90.0, 0.0}},
};

}  // namespace

ThermalLimits thermal_limits(const Chip& chip) noexcept {
  for (const ThermalRow& row : kThermalRows) {
    if (!chip.user_defined && chip.id.starts_with(row.id)) return row.limits;
  }
  return {};
}

}  // namespace mfu
