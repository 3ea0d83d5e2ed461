// Words of the field, explained.
#pragma once

#include <span>
#include <string_view>

namespace mfu {

struct Term {
  std::string_view id, title, text, source;
};

[[nodiscard]] std::span<const Term> terms() noexcept;

}  // namespace mfu
