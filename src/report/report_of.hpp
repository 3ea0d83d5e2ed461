// An empty report of a command.
#pragma once

#include <string_view>

#include "mfu/report.hpp"

namespace mfu {

// With the tool's version; nothing is found yet.
[[nodiscard]] Report report_of(std::string_view command);

}  // namespace mfu
