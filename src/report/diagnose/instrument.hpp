// What a diagnosis was measured with, as comparisons and saved reports hold it.
#pragma once

#include <vector>

#include "compare/side.hpp"
#include "diagnose/setup.hpp"
#include "measure/fingerprint.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/measure.hpp"

namespace mfu {

// What the MFU of a diagnosis stands on.
[[nodiscard]] Fingerprint fingerprint_of(const Setup& setup);
// no_model: no work.
[[nodiscard]] CalcStatus status_of(const Headline& headline);
// What a comparison can restate the run by.
[[nodiscard]] std::vector<SideCount> counts_of(const Setup& setup);

}  // namespace mfu
