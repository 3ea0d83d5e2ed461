// A diagnosis held against what is true of the job.
#pragma once

#include "faults/job/spec.hpp"
#include "mfu/diagnose.hpp"

namespace mfu::faults {

struct Score {
  bool family = false;        // one of the accepted families
  bool family_exact = false;  // the best one
  bool culprit = false;       // the right ones, or rightly none
  bool false_alarm = false;   // something found in a job where nothing is
  bool abstained = false;     // inconclusive
  bool reasoned = false;      // where the data cannot tell: says so, and why
  bool persistence = false;
  bool step_known = false;  // the recoverable step was given
  double step_error = 0.0;  // |recoverable step / true step without the fault - 1|
};

// A fault that the recording can show and that is worth looking for: at least 6 % of the step.
[[nodiscard]] bool counts(const Truth& truth);

// Is there exactly one right answer to "who"? Not for uneven shards, loads or mixed faults.
[[nodiscard]] bool has_culprit(const Truth& truth);

[[nodiscard]] Score score(const Diagnosis& diagnosis, const Job& job);

// Does the verdict name exactly these ranks, by itself or through node and group names?
[[nodiscard]] bool names(const Culprits& told, const Job& job);

}  // namespace mfu::faults
