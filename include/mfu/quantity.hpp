// Numbers as people type and read them. Independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace mfu {

// "40%" or "0.4" -> 0.4. A bare number above 1 is refused: "40 or 40%?".
// `what` names the option in the error. Throws Error{usage}.
[[nodiscard]] double parse_ratio(std::string_view text, std::string_view what);

// Seconds with a unit: "12.9s", "810ms", "35us", "2m", "1.5h". A unit is required. Throws
// Error{usage}.
[[nodiscard]] double parse_seconds(std::string_view text, std::string_view what);

// Text of a duration, four significant digits at most: "12.90 s", "810.0 ms", "35.00 us".
[[nodiscard]] std::string format_seconds(double seconds);

// "31.4 %"
[[nodiscard]] std::string format_percent(double ratio, int decimals = 1);

// "325,140"
[[nodiscard]] std::string format_grouped(double value);

// Engineering notation with an SI prefix: format_si(256.1e15, "FLOP") -> "256.1 PFLOP".
[[nodiscard]] std::string format_si(double value, std::string_view unit);

}  // namespace mfu
