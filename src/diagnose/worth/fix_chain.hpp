// What the fixes of the candidates are worth: each family's alone, and all in a fixed order.
#pragma once

#include <optional>

#include "diagnose/explain/candidate.hpp"
#include "diagnose/worth/fix_worth.hpp"

namespace mfu::diagnosis {

// From the candidates of all rules. Nothing where so much is explained that no step would be left.
// The steady transfer of a job counts in the order only from its own materiality on: below it is
// the job's own cost, and no fix takes it away.
[[nodiscard]] std::optional<FixWorth> worth_of_fixes(RuleContext& context,
                                                     const Headline& headline);

// The same from the step on from which nothing changes any more: see end_state.hpp. The work of a
// step is taken as that of all steps. Nothing where the run is in one state.
[[nodiscard]] std::optional<EndState> end_state_of(RuleContext& context, const Headline& headline);

}  // namespace mfu::diagnosis
