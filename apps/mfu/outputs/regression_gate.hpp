// The gate --max-regression of a comparison.
#pragma once

#include <string>

#include "mfu/compare.hpp"
#include "mfu/report.hpp"

namespace mfu::app {

// Fails only when the slowdown is beyond the limit and its 95 % interval excludes none.
[[nodiscard]] Gate judge_regression(const Comparison& comparison, double limit,
                                    const std::string& limit_text);

}  // namespace mfu::app
