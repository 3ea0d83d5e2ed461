// What the fixes of the candidates are worth: each family's alone, and all in a fixed order.
#pragma once

#include <optional>

#include "analysis/candidate.hpp"

namespace mfu::analysis {

// From the candidates of all rules. Nothing where so much is explained that no step would be left.
// The steady transfer of a job counts in the order only from its own materiality on: below it is
// the job's own cost, and no fix takes it away.
[[nodiscard]] std::optional<FixWorth> worth_of_fixes(RuleContext& context,
                                                     const Headline& headline);

}  // namespace mfu::analysis
