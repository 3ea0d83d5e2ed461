// From candidates to a verdict: materiality, support over resampled steps, abstention.
#pragma once

#include <vector>

#include "diagnose/explain/candidate.hpp"

namespace mfu::diagnosis {

// Fills diagnosis.verdict and diagnosis.findings; diagnosis.setup and headline must be there.
void judge(RuleContext& context, Diagnosis& diagnosis);

}  // namespace mfu::diagnosis
