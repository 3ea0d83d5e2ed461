// A pipeline timeline as a run: columns for each worker, and the replayed schedule.
#pragma once

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"

namespace mfu {

// Reads one timeline (src/traces/timeline.hpp): it holds the whole job. Throws what read_timeline()
// throws, and Error{insufficient} where nothing computes.
[[nodiscard]] ReadResult read_timeline_run(ByteSource& source, Notes& notes);

}  // namespace mfu
