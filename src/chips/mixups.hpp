// Which chip a table, or a person, takes for which.
#pragma once

#include "mfu/chip.hpp"

namespace mfu {

// Whether `other` may have been taken for `chip`: it is one that tools fall back to, or the name of
// one model is inside the other's ("l4" and "l40s"). All chips of the world would make every figure
// a coincidence. `chip`: nothing: not known.
[[nodiscard]] bool may_be_mixed_up(const Chip* chip, const Chip& other) noexcept;

}  // namespace mfu
