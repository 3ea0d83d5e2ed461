// The saved JSON report that --max-regression holds a result against.
#pragma once

#include <optional>
#include <string>

#include "mfu/diagnose.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
#include "outputs/regression_limit.hpp"
#include "report/measure/log_section.hpp"

namespace mfu::app {

struct Baseline {
  std::string path;
  bool of_log = false;  // else of calc: one figure, as sure as it was given
  Fingerprint fingerprint;
  std::optional<double> mfu;
  std::optional<double> step_seconds;
  std::optional<double> tokens_per_step;
  std::optional<double> gpus;
  std::optional<Interval> relative_ci;  // 95 % of the step, over it, less 1
};

// Throws Error{io}, Error{format}: no report of `mfu log --json` or `mfu calc --json`;
// Error{insufficient}: a report of a command that failed, or of an impossible value. Figures of
// `statistic`: a report of another is restated where it holds the steps for that, else refused.
[[nodiscard]] Baseline read_baseline(const std::string& path, LogStatistic statistic,
                                     InputInfo& info);

// Fails when the slowdown of the steps that were recorded is beyond the limit; beyond noise, only
// when its 95 % interval excludes none as well. Throws Error{usage} where the two are not
// comparable, with both fingerprints.
[[nodiscard]] Gate judge_regression(const Baseline& before, const LogSection& now,
                                    const RegressionLimit& limit);

}  // namespace mfu::app
