// What a diagnosis was measured with, as comparisons and saved reports hold it.
#pragma once

#include <string>
#include <vector>

#include "compare/side.hpp"
#include "diagnose/setup.hpp"
#include "mfu/diagnose.hpp"

namespace mfu {

// "convention=palm ... peak=989.4T precision=bf16 clock=datasheet@1830MHz"
[[nodiscard]] std::string fingerprint_of(const Setup& setup);
// "ok", "impossible", "no-peak", "no-model" (no work)
[[nodiscard]] std::string status_of(const Headline& headline);
// What a comparison can restate the run by.
[[nodiscard]] std::vector<SideCount> counts_of(const Setup& setup);

}  // namespace mfu
