#include "chips/mixups.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mfu {

bool may_be_mixed_up(const Chip* chip, const Chip& other) noexcept {
  constexpr std::array<std::string_view, 5> kUsual{"a100-sxm4-80gb", "h100-sxm5-80gb", "h100-pcie",
                                                   "h100-nvl", "rtx-4090"};
  if (std::find(kUsual.begin(), kUsual.end(), other.id) != kUsual.end()) return true;
  if (chip == nullptr) return false;
  const std::string_view one = chip->id.substr(0, chip->id.find('-'));
  const std::string_view two = other.id.substr(0, other.id.find('-'));
  return one.find(two) != std::string_view::npos || two.find(one) != std::string_view::npos;
}

}  // namespace mfu
