// Levels of compute over the whole run, seconds a step.
#pragma once

#include <span>
#include <vector>

#include "diagnose/explain/candidate.hpp"

namespace mfu::diagnosis {

// Mean over the steps of each rank's compute under a scenario.
[[nodiscard]] std::vector<double> rank_means(RuleContext& context, const Scenario& scenario);

// Mean of `row` (one value a rank) over the ranks of each stage; 0 for a stage without ranks.
[[nodiscard]] std::vector<double> stage_means(const Job& job, std::span<const double> row);

// Every rank at the mean of its step.
[[nodiscard]] RowEdit everything_even();
// What each step would save with the work spread evenly and all else as it is.
[[nodiscard]] std::vector<double> saved_by_balancing(RuleContext& context);

}  // namespace mfu::diagnosis
