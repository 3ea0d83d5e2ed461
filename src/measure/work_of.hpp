// The work that a calculation asks to be counted, and how.
#pragma once

#include "mfu/flops.hpp"
#include "mfu/measure.hpp"

namespace mfu {

[[nodiscard]] inline Work work_of(const CalcInput& input) {
  Work work;
  work.seq_len = input.seq_len.value_or(0.0);
  work.lengths = input.lengths;
  work.params = input.params;
  return work;
}

// The overrides that another convention than the chosen one is counted with: what is a fact of the
// run (recomputation, what is trained), as far as the convention knows it; how attention, window
// and router are counted is what conventions differ in. The chosen one takes all of them.
[[nodiscard]] Switches switches_for(const CalcInput& input, const Convention& convention);

}  // namespace mfu
