// Reference points in words.
#pragma once

#include <string>
#include <vector>

#include "mfu/references.hpp"
#include "mfu/report.hpp"

namespace mfu {

[[nodiscard]] ListSection list_references();

// Where a measurement stands: the usual range, then points of like scale. Empty without an MFU.
[[nodiscard]] std::vector<std::string> placement_lines(const CalcSection& section);
[[nodiscard]] std::vector<std::string> placement_lines(const DiagnoseSection& section);

}  // namespace mfu
