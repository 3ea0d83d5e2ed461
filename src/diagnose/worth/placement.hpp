// Which communication-heavy groups cross nodes or switches needlessly, from the ranks' places.
#pragma once

#include <optional>

#include "diagnose/fit/job.hpp"
#include "diagnose/worth/exchanges.hpp"

namespace mfu::diagnosis {

// Traffic, heaviest first: tensor and context parallel inside every layer, expert parallel twice a
// layer, data parallel once a step; pipeline stages exchange little. Ranks are rearranged over the
// places that the run has, ranks over nodes and whole nodes over switches, by filling the places in
// every nesting of the axes. The arrangement that mends the heaviest axis best with the fewest
// moves is kept; what no arrangement mends is nobody's fault.
[[nodiscard]] std::optional<Placement> placement_of(const Job& job);

}  // namespace mfu::diagnosis
