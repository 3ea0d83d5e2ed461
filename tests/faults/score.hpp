// A diagnosis held against what is true of the job.
#pragma once

#include "faults/spec.hpp"
#include "mfu/analyze.hpp"

namespace mfu::faults {

struct Score {
  bool family = false;        // one of the accepted families
  bool family_exact = false;  // the best one
  bool culprit = false;       // the right ones, or rightly none
  bool false_alarm = false;   // something found in a job where nothing is
  bool persistence = false;
  bool step_known = false;  // the recoverable step was given
  double step_error = 0.0;  // |recoverable step / true step without the fault - 1|
};

[[nodiscard]] Score score(const Diagnosis& diagnosis, const Job& job);

// Does the verdict name exactly these ranks, by itself or through node and group names?
[[nodiscard]] bool names(const Culprits& told, const Job& job);

}  // namespace mfu::faults
