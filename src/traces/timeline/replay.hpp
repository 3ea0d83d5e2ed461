// The counterfactuals of a recorded pipeline schedule (replay_graph.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "mfu/error.hpp"
#include "timings/trace.hpp"
#include "traces/timeline/groups.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu::traces {

// `ranks`: the rank number of each worker. nullopt, with a note: the workers' clocks do not agree
// (noted where it was found), the recorded order contradicts itself, or nothing takes any time.
[[nodiscard]] std::optional<PipelineReplay> replay_timeline(const Timeline& timeline,
                                                            const OpGroups& groups,
                                                            std::span<const std::int64_t> ranks,
                                                            Notes& notes);

}  // namespace mfu::traces
