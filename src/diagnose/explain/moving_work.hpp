// Compute that varies from step to step: sequence lengths, jitter, or one event.
#pragma once

#include "diagnose/explain/candidate.hpp"

namespace mfu::diagnosis {

// Median over the ranks of the coefficient of variation of their compute over the steps, with what
// all ranks have in common (longer steps for everybody) taken out.
[[nodiscard]] double compute_variation(RuleContext& context, const Scenario& scenario);

// Nearly all of the loss in one step, in which one rank computed long: once is not a pattern, and
// work that moves from rank to rank would show in the other steps. True: the candidate is that
// event.
[[nodiscard]] bool take_once(RuleContext& context, const Scenario& scenario, Candidate& candidate);

// What moves: sequence lengths where forward and backward vary together, jitter where they do
// not or where there is too little of it; where that cannot be told, a fact says so.
void describe_moving(RuleContext& context, const Scenario& scenario, Candidate& candidate);

}  // namespace mfu::diagnosis
