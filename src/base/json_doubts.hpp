// Questions that JsonScanner asks of text that may not be JSON: answered by what is there, without
// trust in its quotes. Slow, and seldom asked.
#pragma once

#include <string_view>

namespace mfu::json_doubts {

// What stands at a closing brace: `{` of the next event, the end of the array, neither, or too few
// bytes to tell.
enum class Boundary : unsigned char { event, closing, none, unknown };

// `end`: of the bytes at hand; `ended`: there are no more. `next`: where an event or the closing
// bracket stands.
[[nodiscard]] Boundary boundary_at(const char* at, const char* end, bool ended,
                                   const char*& next) noexcept;

// Every string is followed by what may follow a string: the quotes are where they should be.
// `whole`: the text does not stop in the middle.
[[nodiscard]] bool quotes_plausible(std::string_view text, bool whole) noexcept;

[[nodiscard]] bool escapes_valid(std::string_view text) noexcept;
[[nodiscard]] bool utf8_valid(std::string_view text) noexcept;

}  // namespace mfu::json_doubts
