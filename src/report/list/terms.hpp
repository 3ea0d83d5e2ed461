// Words of the field, explained.
#pragma once

#include <span>
#include <string_view>

namespace mfu {

struct Term {
  std::string_view id, title, text, source;
};

[[nodiscard]] std::span<const Term> terms() noexcept;  // all of them
[[nodiscard]] std::span<const Term> plan_terms() noexcept;

}  // namespace mfu
