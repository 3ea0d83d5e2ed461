// What each command measured, as one side of a comparison.
#pragma once

#include <string>

#include "compare/side.hpp"

namespace mfu {

struct CalcSection;
struct DiagnoseSection;
struct LogSection;

// What was measured, as one side of a comparison. `name`: of the input.
[[nodiscard]] Side side_of(const DiagnoseSection& section, std::string name);
[[nodiscard]] Side side_of(const LogSection& section, std::string name);
[[nodiscard]] Side side_of(const CalcSection& section, std::string name);

}  // namespace mfu
