// The block of a diagnosis that a replayed pipeline schedule fills.
#pragma once

#include <optional>

#include "mfu/report.hpp"

namespace mfu {

[[nodiscard]] std::optional<ReplaySection> describe_replay(const RunTimings& run,
                                                           const Diagnosis& diagnosis);

}  // namespace mfu
