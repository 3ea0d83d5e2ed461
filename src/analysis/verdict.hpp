// From candidates to a verdict: materiality, support over resampled steps, abstention.
#pragma once

#include <vector>

#include "analysis/candidate.hpp"

namespace mfu::analysis {

// Fills diagnosis.verdict and diagnosis.findings; diagnosis.setup and headline must be there.
void judge(RuleContext& context, Diagnosis& diagnosis);

}  // namespace mfu::analysis
