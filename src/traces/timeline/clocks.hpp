// Whether the clocks of a timeline's workers are one clock, seen from what the workers did
// together.
//
// What cannot be on one clock: a receive that ends before its send begins; a collective that one
// worker leaves before another has come; collectives that one worker always leaves earlier or later
// than its peers, by more than their ends scatter; and, where they are too few to tell that, ends
// that differ by more than the transfer takes. (A send may well end before its receive begins: it
// is buffered.)
#pragma once

#include "mfu/error.hpp"
#include "traces/timeline/groups.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu::traces {

// False, with a note that has a place: whatever compares times of two workers (who waited for whom,
// transfers, the replay) is not to be said. A few impossible pairs among many are noted, and no
// reason: recorders lose events.
[[nodiscard]] bool clocks_agree(const Timeline& timeline, const OpGroups& groups, Notes& notes);

}  // namespace mfu::traces
