// Placement of communication-heavy groups, in words.
#pragma once

#include <string>
#include <vector>

#include "diagnose/worth/exchanges.hpp"
#include "mfu/diagnose.hpp"

namespace mfu {

// What crosses and need not, and the exchanges that mend it; empty: nothing to mend.
[[nodiscard]] std::vector<std::string> placement_actions(const Placement& placement);

}  // namespace mfu
