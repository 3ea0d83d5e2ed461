// Which chips are mistaken for which, by tables or people.
#pragma once

#include "mfu/chip.hpp"

namespace mfu {

// Whether `other` may have been mistaken for `chip`: tools fall back to it, or the name of
// one model is inside the other's ("l4" and "l40s"). Comparing with all chips would make every
// figure a coincidence. `chip`: nothing: not known.
[[nodiscard]] bool may_be_mixed_up(const Chip* chip, const Chip& other) noexcept;

}  // namespace mfu
