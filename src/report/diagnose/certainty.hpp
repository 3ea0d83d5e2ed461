// How sure: what was measured, derived and assumed, and what was not seen.
#pragma once

#include <string>

#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"

namespace mfu {

struct Certainty {
  std::string measured, derived, assumed, unseen;
};

[[nodiscard]] Certainty certainty_of(const Diagnosis& diagnosis, const RunTimings& run);

}  // namespace mfu
