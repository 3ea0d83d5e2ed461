// The version of tool and library.
#pragma once

#include <string_view>

namespace mfu {

// Semantic version of the tool and library; the one place where it is written in the sources is
// CMakeLists.txt.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace mfu
