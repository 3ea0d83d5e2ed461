// Setup: what the numbers of a report mean. Which GPUs, which peak, which work, which convention.
#pragma once

#include "diagnose/setup.hpp"
#include "mfu/diagnose.hpp"

namespace mfu::diagnosis {

// Throws Error{unsupported} on a chip or precision that is not known, at "hardware.chip".
[[nodiscard]] Setup resolve_setup(const RunTimings& run, const DiagnoseOptions& options,
                                  Notes& notes);

}  // namespace mfu::diagnosis
