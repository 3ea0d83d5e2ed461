// Rounding that keeps a column's sum: what is shown adds up to the total that is shown.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mfu::render {

// Each value as a whole number of 10^-decimals, so that they add up to the rounded `total`. The
// first value is rounded by itself (it is shown elsewhere too); the others take the
// largest-remainder rule. Where the values do not add up to the total (by more than rounding can
// hide), each is rounded by itself: nothing is made to fit.
[[nodiscard]] std::vector<std::int64_t> shown_units(std::span<const double> values, double total,
                                                    int decimals);

// "-0.05" from -5 units and 2 decimals.
[[nodiscard]] std::string unit_text(std::int64_t units, int decimals);

}  // namespace mfu::render
