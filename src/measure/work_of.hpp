// The work that a calculation asks to be counted.
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

}  // namespace mfu
