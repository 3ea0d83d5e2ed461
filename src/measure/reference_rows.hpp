// The table of published measurements. A new one is one row.
#pragma once

#include <span>

#include "measure/references.hpp"

namespace mfu::measurement {

[[nodiscard]] std::span<const ReferencePoint> reference_rows() noexcept;

}  // namespace mfu::measurement
