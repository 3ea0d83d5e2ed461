// The exact product of owned factors, and the same seconds as parts of the step.
#pragma once

#include <vector>

#include "diagnose/fit/model.hpp"
#include "diagnose/setup.hpp"
#include "diagnose/step_terms.hpp"
#include "mfu/diagnose.hpp"

namespace mfu::diagnosis {

struct Accounts {
  std::vector<Factor> factors;
  std::vector<Part> parts;
  std::vector<StepTerms> terms;  // by step
  Headline headline;
};

// Source of the product: reference computation in mfu/diagnose.hpp. Each denominator is the very
// double that is the next numerator, so the product equals the direct quotient to a few ulp. Of one
// rank of several nobody knows whom it waits for: balance and imbalance_wait are left out. Throws
// Error{insufficient} when there is no compute time to refer to.
[[nodiscard]] Accounts account(StepModel& model, const Setup& setup);

}  // namespace mfu::diagnosis
