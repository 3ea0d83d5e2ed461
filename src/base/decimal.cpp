#include "base/decimal.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

namespace mfu {

namespace {

// std::from_chars leaves the value alone when it is out of range and does not say on which side.
Decimal from_text(const char* first, const char* last, bool negative, bool would_overflow) {
  double value = 0.0;
  const auto result = std::from_chars(first, last, value, std::chars_format::general);
  if (result.ec == std::errc::result_out_of_range) {
    if (would_overflow) {
      const double infinity = std::numeric_limits<double>::infinity();
      return {negative ? -infinity : infinity, nullptr, DecimalStatus::overflow};
    }
    return {negative ? -0.0 : 0.0, nullptr, DecimalStatus::ok};
  }
  if (result.ec != std::errc{} || result.ptr != last) {
    return {0.0, nullptr, DecimalStatus::malformed};
  }
  return {negative ? -value : value, nullptr, DecimalStatus::ok};
}

}  // namespace

namespace decimal_detail {

Decimal convert_mantissa(std::uint64_t mantissa, bool negative, std::int64_t exponent) {
  if (mantissa == 0) return {negative ? -0.0 : 0.0, nullptr, DecimalStatus::ok};
  std::array<char, 48> text;
  char* end = std::to_chars(text.data(), text.data() + 24, mantissa).ptr;
  *end++ = 'e';
  end = std::to_chars(end, text.data() + text.size(), exponent).ptr;
  return from_text(text.data(), end, negative, exponent > 0);
}

Decimal convert_slowly(std::string_view text, int shift) {
  // Rewritten as 0.DIGITSe EXPONENT: the shift joins the exponent before anything is rounded.
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  std::string digits = "0.";
  std::int64_t exponent = shift;
  bool fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      fraction = true;
    } else if (digits.size() > 2 || text[at] != '0') {
      digits.push_back(text[at]);
      if (!fraction) ++exponent;
    } else if (fraction) {
      --exponent;  // a zero between the point and the first significant digit
    }
  }
  if (digits.size() == 2) return {negative ? -0.0 : 0.0, nullptr, DecimalStatus::ok};
  if (at < text.size()) {
    ++at;
    const bool minus = text[at] == '-';
    if (text[at] == '+' || text[at] == '-') ++at;
    std::int64_t written = 0;
    for (; at < text.size(); ++at) {
      if (written < 1'000'000'000) written = written * 10 + (text[at] - '0');
    }
    exponent += minus ? -written : written;
  }
  const bool would_overflow = exponent > 0;
  digits += "e" + std::to_string(exponent);
  return from_text(digits.data(), digits.data() + digits.size(), negative, would_overflow);
}

}  // namespace decimal_detail

Decimal parse_decimal(std::string_view text, int shift) {
  std::string owned(text);
  bool negative = false;
  if (!owned.empty() && (owned.front() == '+' || owned.front() == '-')) {
    negative = owned.front() == '-';
    owned.erase(0, 1);
  }
  if (!owned.empty() && owned.front() == '.') owned.insert(0, 1, '0');
  if (owned.empty() || !decimal_detail::is_digit(owned.front())) {
    return {0.0, nullptr, DecimalStatus::malformed};
  }
  Decimal result = scan_decimal(owned.c_str(), shift);
  if (result.end != owned.c_str() + owned.size()) result.status = DecimalStatus::malformed;
  result.end = nullptr;  // it pointed into a copy
  if (negative) result.value = -result.value;
  return result;
}

double shift_decimal(double value, int shift) {
  if (shift == 0 || !std::isfinite(value)) return value;
  std::array<char, 64> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size() - 1, value);
  *written.ptr = '\0';
  return scan_decimal(text.data(), shift).value;
}

}  // namespace mfu
