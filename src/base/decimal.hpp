// Decimal text to double: correctly rounded, independent of the locale, with a power-of-ten shift
// that is applied to the exponent and not to the rounded value. 810.123 with shift -3 is bit for
// bit the double of 0.810123; 810.123 / 1000.0 need not be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mfu {

enum class DecimalStatus : unsigned char {
  ok,
  malformed,  // not a number as JSON writes it
  overflow,   // larger than a double can hold; the value is then +-infinity
};

struct Decimal {
  double value = 0.0;
  const char* end = nullptr;  // after the number; where it is malformed: the offending character
  DecimalStatus status = DecimalStatus::ok;
};

namespace decimal_detail {

inline constexpr std::array<double, 23> kPowersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Any length of mantissa, any exponent. `text` is the whole number, already checked.
[[nodiscard]] Decimal convert_slowly(std::string_view text, int shift);
// The same where the mantissa is known to fit 64 bits.
[[nodiscard]] Decimal convert_mantissa(std::uint64_t mantissa, bool negative,
                                       std::int64_t exponent);

inline bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

}  // namespace decimal_detail

// The number at `text`, by the grammar of JSON, times 10^shift. The text must be followed by a
// character that cannot be part of a number (a terminator counts): there is no bound to check.
[[nodiscard]] inline Decimal scan_decimal(const char* text, int shift) {
  using decimal_detail::is_digit;
  const char* at = text;
  const bool negative = *at == '-';
  if (negative) ++at;
  const char* const first_digit = at;
  std::uint64_t mantissa = 0;
  if (*at == '0') {
    ++at;
    if (is_digit(*at)) return {0.0, at, DecimalStatus::malformed};
  } else {
    if (!is_digit(*at)) return {0.0, at, DecimalStatus::malformed};
    do {
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
      ++at;
    } while (is_digit(*at));
  }
  std::ptrdiff_t digits = at - first_digit;
  std::int64_t exponent = shift;
  if (*at == '.') {
    const char* const fraction = ++at;
    while (is_digit(*at)) {
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
      ++at;
    }
    const std::ptrdiff_t length = at - fraction;
    if (length == 0) return {0.0, at, DecimalStatus::malformed};
    digits += length;
    exponent -= length;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    const bool minus = *at == '-';
    if (*at == '+' || *at == '-') ++at;
    if (!is_digit(*at)) return {0.0, at, DecimalStatus::malformed};
    std::int64_t written = 0;
    while (is_digit(*at)) {
      // Far beyond any double; stops the sum from running over.
      if (written < 1'000'000'000) written = written * 10 + (*at - '0');
      ++at;
    }
    exponent += minus ? -written : written;
  }
  // 19 digits always fit 64 bits. Leading zeros are counted too, which only costs time.
  if (digits > 19) {
    Decimal slow =
        decimal_detail::convert_slowly({text, static_cast<std::size_t>(at - text)}, shift);
    slow.end = at;
    return slow;
  }
  // Clinger: both operands are exact, so one rounding gives the nearest double.
  if (mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    auto value = static_cast<double>(mantissa);
    if (exponent < 0) {
      value /= decimal_detail::kPowersOfTen[static_cast<std::size_t>(-exponent)];
    } else {
      value *= decimal_detail::kPowersOfTen[static_cast<std::size_t>(exponent)];
    }
    return {negative ? -value : value, at, DecimalStatus::ok};
  }
  Decimal exact = decimal_detail::convert_mantissa(mantissa, negative, exponent);
  exact.end = at;
  return exact;
}

// The whole of `text`; trailing characters make it malformed. Also takes ".5" and "+5", as people
// type them on a command line.
[[nodiscard]] Decimal parse_decimal(std::string_view text, int shift = 0);

// value x 10^shift as if its shortest decimal text had been scanned with that shift: for a unit
// that is learnt only after the numbers. Equal bit for bit to scan_decimal() with the shift for
// every text of up to 15 significant digits and for every text that a shortest-round-trip printer
// wrote.
[[nodiscard]] double shift_decimal(double value, int shift);

}  // namespace mfu
