// An MFU over 1: no GPU does more than its peak, so one of the inputs is wrong.
#pragma once

#include <string>
#include <vector>

#include "mfu/diagnose.hpp"

namespace mfu {

// What would explain it, likeliest first, each with the MFU that it would give. Empty when the MFU
// is possible or not known. A sparse peak is not an explanation: it is too high, and makes the MFU
// too low.
[[nodiscard]] std::vector<std::string> explain_impossible(const Diagnosis& diagnosis);

}  // namespace mfu
