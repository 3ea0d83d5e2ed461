// How sure the steps of a run or the lines of a log are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "diagnose/step_terms.hpp"
#include "measure/log_summary.hpp"
#include "mfu/interval.hpp"

namespace mfu {

// 95 % intervals of the mean step and of each factor of a run, over the value, less 1. Nothing for
// fewer than 5 steps.
struct TermSpread {
  Interval step;
  std::vector<Interval> factors;  // single_gpu, balance, own_stall, transfer, dependency
};
[[nodiscard]] std::optional<TermSpread> spread_of(std::span<const StepTerms> terms);

// The same of a log: of the mean cost of all lines that count, and of the usual over it.
struct LogSpread {
  Interval mean;
  Interval slow_steps;
};
[[nodiscard]] std::optional<LogSpread> spread_of(const LogSummary& summary);

}  // namespace mfu
