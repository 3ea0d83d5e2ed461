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

// A positive number of things: "512", "4,194,304". A prefix is refused with a question, since "8k"
// tokens are 8,000 to one and 8,192 to another. Throws Error{usage}.
[[nodiscard]] double parse_count(std::string_view text, std::string_view what);
// The same where a prefix always means a power of 1000: "8.03B" or "8030261248" parameters, "124M",
// "53k" tokens per second. Throws Error{usage}.
[[nodiscard]] double parse_large(std::string_view text, std::string_view what);

// FLOP/s with a prefix: "989.4T", "1.2P", "312 TFLOP/s"; also plain FLOP/s ("3.12e14"), since no
// device is that slow. "989.4" alone is refused with a question. Throws Error{usage}.
[[nodiscard]] double parse_flops(std::string_view text, std::string_view what);

// MHz: "1830", "1830MHz", "1.83GHz". Throws Error{usage}.
[[nodiscard]] double parse_megahertz(std::string_view text, std::string_view what);

// What one of something costs for an hour: "2.5/h". Without "/h" it is refused with a question,
// since prices of a day and of a whole node are quoted as well. Throws Error{usage}.
[[nodiscard]] double parse_price(std::string_view text, std::string_view what);

// A ratio that somebody printed: as parse_ratio(), but it may be over 100 %: "563%", "0.74". A bare
// number of 2 and more is refused: "74.13% or 74.13T?". Throws Error{usage}.
[[nodiscard]] double parse_printed_ratio(std::string_view text, std::string_view what);

// Half a unit of the last digit of a number as it is written, relative to it: "74.13%" -> 6.7e-5.
// 0 where the text holds no number.
[[nodiscard]] double rounding_of(std::string_view text);

// Text of a duration, four significant digits at most: "12.90 s", "810.0 ms", "35.00 us".
[[nodiscard]] std::string format_seconds(double seconds);

// "31.4 %"
[[nodiscard]] std::string format_percent(double ratio, int decimals = 1);

// "325,140"
[[nodiscard]] std::string format_grouped(double value);

// Engineering notation with an SI prefix: format_si(256.1e15, "FLOP") -> "256.1 PFLOP".
[[nodiscard]] std::string format_si(double value, std::string_view unit);

}  // namespace mfu
