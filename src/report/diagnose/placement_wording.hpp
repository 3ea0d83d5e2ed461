// Placement of communication-heavy groups, in words.
#pragma once

#include <string>
#include <vector>

#include "diagnose/worth/exchanges.hpp"
#include "mfu/diagnose.hpp"

namespace mfu {

// What crosses needlessly, and the exchanges that fix it; empty: nothing to fix.
[[nodiscard]] std::vector<std::string> placement_actions(const Placement& placement);

}  // namespace mfu
