// How sure: what was measured, what was worked out from it, what was assumed, what nobody saw.
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
