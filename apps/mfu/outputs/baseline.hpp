// The saved JSON report that --max-regression holds a result against.
#pragma once

#include <optional>
#include <string>

#include "mfu/diagnose.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
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
  std::optional<Interval> relative_ci;  // of the median step, relative to it
};

// Throws Error{io}, Error{format}: no report of `mfu log --json` or `mfu calc --json`;
// Error{insufficient}: a report of a command that failed, or of an impossible value.
[[nodiscard]] Baseline read_baseline(const std::string& path, InputInfo& info);

// Fails only when the slowdown is beyond the limit and its 95 % interval excludes none. Throws
// Error{usage} where the two are not comparable, with both fingerprints.
[[nodiscard]] Gate judge_regression(const Baseline& before, const LogSection& now, double limit,
                                    const std::string& limit_text);

}  // namespace mfu::app
