// Reference points in words.
#pragma once

#include <optional>

#include "measure/references.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/references_section.hpp"

namespace mfu {

[[nodiscard]] ListSection list_references();

// Where a measurement stands: the usual range, then points of like scale. Nothing without an MFU.
[[nodiscard]] std::optional<ReferencesSection> placed_among_references(const CalcSection& section);
[[nodiscard]] std::optional<ReferencesSection> placed_among_references(
    const DiagnoseSection& section);

}  // namespace mfu
