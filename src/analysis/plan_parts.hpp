// What the files of the plan share.
#pragma once

#include <optional>

#include "mfu/plan.hpp"

namespace mfu {

// The fewest GPUs that together do as much as `useful_gpus` without failures. Nothing: no number
// does, since failures grow with them.
[[nodiscard]] std::optional<double> gpus_for(double useful_gpus, const PlanInput& input);

}  // namespace mfu
