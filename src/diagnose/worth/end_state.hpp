// The state that holds at the end of a run: what began late acts from then on, what is gone does
// not come back. What is left of the job is priced on it, and not on the mean over all steps.
#pragma once

#include <cstddef>
#include <optional>

#include "diagnose/explain/candidate.hpp"

namespace mfu::diagnosis {

// Sets Finding::gone_since_step of what was there in one stretch of steps that ended.
void mark_what_is_gone(RuleContext& context);

// What began and goes on counts by what it costs since, not by the mean over steps in which it was
// not there: lowers the share of the whole run from which it is material.
void count_from_onset(RuleContext& context);

// The index of the first step from which on nothing changes any more; nothing: the whole run is one
// state. The last fifth of what drifts is taken for where it stands.
[[nodiscard]] std::optional<std::size_t> first_of_end_state(const RuleContext& context);

}  // namespace mfu::diagnosis
