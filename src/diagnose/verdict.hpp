// From candidates to a verdict: materiality, support over resampled steps, abstention.
#pragma once

#include <vector>

#include "diagnose/explain/candidate.hpp"

namespace mfu::diagnosis {

// Fills the verdict, its evidence and the findings; set-up and headline must be there.
void judge(RuleContext& context, Diagnosis& diagnosis);

}  // namespace mfu::diagnosis
