// The block of a diagnosis that a replayed pipeline schedule fills.
#pragma once

#include <optional>

#include "mfu/report.hpp"
#include "report/diagnose/trace_section.hpp"

namespace mfu {

[[nodiscard]] std::optional<ReplaySection> describe_replay(const RunTimings& run,
                                                           const Diagnosis& diagnosis);

}  // namespace mfu
