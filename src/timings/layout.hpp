// The logical place of each rank: given as `coords`, or derived from the sizes in `parallelism`.
#pragma once

#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// Checks given coordinates against the sizes and derives the missing ones. What is assumed on the
// way is noted. Throws Error{format} on a contradiction.
void settle_layout(RunTimings& run, Notes& notes);

}  // namespace mfu
