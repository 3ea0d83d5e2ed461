// The table of what fixes are worth.
#pragma once

#include <optional>

#include "mfu/report.hpp"
#include "report/diagnose/worth_section.hpp"

namespace mfu {

// Nothing where the diagnosis has no worth. On the screen unasked only where more than one fix
// counts: else the verdict's own line has said it.
[[nodiscard]] std::optional<WorthSection> describe_worth(const Diagnosis& diagnosis,
                                                         const WorthAsk& ask);

}  // namespace mfu
