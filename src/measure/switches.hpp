// The switches that a measurement is counted with.
#pragma once

#include "mfu/flops.hpp"
#include "mfu/measure.hpp"

namespace mfu {

// The overrides that another convention than the chosen one is counted with: what is a fact of the
// run (recomputation, what is trained), as far as the convention knows it; how attention, window
// and router are counted is what conventions differ in. The chosen one takes all of them.
[[nodiscard]] Switches switches_for(const CalcInput& input, const Convention& convention);

}  // namespace mfu
