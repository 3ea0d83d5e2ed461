// What profiler traces show, in words.
#pragma once

#include <optional>

#include "mfu/report.hpp"
#include "mfu/timings.hpp"
#include "report/diagnose/trace_section.hpp"

namespace mfu {

// Nothing where the run does not come from traces.
[[nodiscard]] std::optional<TraceSection> describe_trace(const RunTimings& run);

}  // namespace mfu
