// The chips: all parts of the table, in the order in which an undecided name is resolved.
#include <array>
#include <vector>

#include "chips/rows.hpp"

namespace mfu {

std::span<const Chip> chips() noexcept {
  using namespace chips_detail;
  static const std::vector<Chip> all = [] {
    std::vector<Chip> rows;
    for (const std::span<const Chip> part :
         {nvidia_ampere_rows(), nvidia_hopper_rows(), nvidia_cards_rows(), nvidia_variants_rows(),
          amd_rows(), others_rows()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return all;
}

}  // namespace mfu
