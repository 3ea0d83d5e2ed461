// The same job told differently, or a job that differs in one known way: what a diagnosis must not,
// or must, react to.
#pragma once

#include <cstddef>
#include <vector>

#include "mfu/timings.hpp"

namespace mfu::faults {

// Every time x factor; the work is as it was.
[[nodiscard]] RunTimings scaled(RunTimings run, double factor);

// Takes columns and ranks in this order (indices into run.ranks, each once), and gives them the
// rank numbers 0.. anew. Places, logical and physical, go with them.
[[nodiscard]] RunTimings renumbered(const RunTimings& run, const std::vector<std::size_t>& order);

// The steps in this order (indices), under the step ids as they were.
[[nodiscard]] RunTimings with_steps(const RunTimings& run, const std::vector<std::size_t>& order);

// The ranks whose index is in `kept`, ascending, under their own numbers. The declared sizes stay.
[[nodiscard]] RunTimings with_ranks(const RunTimings& run, const std::vector<std::size_t>& kept);

// One data-parallel rank more, which does what the median rank does.
[[nodiscard]] RunTimings with_typical_rank(const RunTimings& run);

}  // namespace mfu::faults
