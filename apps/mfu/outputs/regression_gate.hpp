// The gate --max-regression of a comparison.
#pragma once

#include <string>

#include "mfu/compare.hpp"
#include "mfu/report.hpp"
#include "outputs/regression_limit.hpp"

namespace mfu::app {

// Fails when the slowdown of what was recorded is beyond the limit; beyond noise, only when its 95
// % interval excludes none as well.
[[nodiscard]] Gate judge_regression(const Comparison& comparison, const RegressionLimit& limit);

}  // namespace mfu::app
