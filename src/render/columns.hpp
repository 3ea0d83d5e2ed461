// Text in terminal columns. Names come from files: what could move the cursor is taken out here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mfu::render {

// Control characters, direction overrides and bytes that are not UTF-8 become '?'.
[[nodiscard]] std::string printable(std::string_view text);

// Columns of printable text: 2 for East Asian wide characters, 0 for combining marks, else 1.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// Cut to `width` columns, with "..." where something was cut.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at spaces; a longer word is broken inside.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace mfu::render
