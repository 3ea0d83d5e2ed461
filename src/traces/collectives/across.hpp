// All ranks of one run, from their traces to the step columns and the evidence beside them.
#pragma once

#include <vector>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// Per rank and step: compute; comm = exposed communication; stall = exposed memory + idle; they sum
// to the step. Where nearly all communication is paired across ranks, wait is taken out of comm:
// the rank's duration of each collective beyond the shortest of its group, as far as it is exposed
// (the part that compute hides is taken from the transfer first, so wait is an upper bound).
//
// Ranks are sorted; the answer does not depend on their order. Throws Error{usage} when two traces
// are of one rank or when several have no rank, Error{insufficient} when nothing is left.
// `empty`: traces beside these that held nothing: their ranks are missing.
[[nodiscard]] RunTimings join_ranks(std::vector<RankTrace> traces, Notes& notes,
                                    std::int64_t empty = 0);

}  // namespace mfu::traces
