// The writer beside the reader: RunTimings as a mfu.run/1 document.
#pragma once

#include <string>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// One JSON object, a line for each rank, a newline at the end. Reading it gives the same run to the
// last bit: numbers are the shortest that round-trip, a missing sample is null. The keys and the
// ranks always stand in the same order. `notes` go with the trace evidence, where there is any.
[[nodiscard]] std::string write_run(const RunTimings& run, const Notes& notes);

}  // namespace mfu
