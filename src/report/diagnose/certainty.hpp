// How sure: what was measured, derived and assumed, and what was not seen.
#pragma once

#include <string>
#include <vector>

#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"
#include "report/diagnose/diagnose_section.hpp"

namespace mfu {

struct Certainty {
  std::string measured, derived, assumed, unseen;
};

[[nodiscard]] Certainty certainty_of(const Diagnosis& diagnosis, const RunTimings& run);

[[nodiscard]] std::vector<Unmeasured> unmeasured_of(const Diagnosis& diagnosis);

}  // namespace mfu
