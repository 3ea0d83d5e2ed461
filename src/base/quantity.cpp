#include "mfu/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

#include "base/decimal.hpp"
#include "mfu/error.hpp"

namespace mfu {

namespace {

// Splits "12.9 s" into the number and what follows it.
struct NumberAndUnit {
  std::string_view number;
  std::string_view unit;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

NumberAndUnit split(std::string_view text) {
  text = trimmed(text);
  std::size_t end = 0;
  while (end < text.size()) {
    const char c = text[end];
    const bool exponent =
        (c == 'e' || c == 'E') && end + 1 < text.size() && end > 0 &&
        (decimal_detail::is_digit(text[end + 1]) || text[end + 1] == '-' || text[end + 1] == '+');
    const bool sign =
        (c == '-' || c == '+') && (end == 0 || text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!decimal_detail::is_digit(c) && c != '.' && !exponent && !sign) break;
    ++end;
  }
  return {text.substr(0, end), trimmed(text.substr(end))};
}

Error refuse(std::string_view what, std::string message, std::string hint) {
  Place place;
  place.what = std::string(what);
  return Error(ErrorKind::usage, std::move(message), std::move(place), std::move(hint));
}

// Four significant digits of a value that is scaled to [1, 1000) or is the largest unit.
std::string four_digits(double value) {
  const double size = std::fabs(value);
  // The thresholds are where rounding would carry into the next digit.
  const int decimals = size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

struct Prefix {
  double scale;
  std::string_view text;
};

// No accelerator's peak is less than 10 GFLOP/s: a bare number of this size is in FLOP/s.
constexpr double kSlowestPeak = 1e10;

int power_of_ten(double scale) { return static_cast<int>(std::lround(std::log10(scale))); }

struct GroupedNumber {
  std::string number;
  std::string unit;
};

// As split(), with the grouping of "4,194,304" and "4_194_304" taken out. Groups of three only:
// what is written with a decimal comma stays wrong.
GroupedNumber split_grouped(std::string_view text) {
  text = trimmed(text);
  std::string plain;
  bool grouped = false;
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool separator =
        (c == ',' || c == '_') && digits > 0 && (!grouped || digits == 3) && digits <= 3 &&
        at + 3 < text.size() && decimal_detail::is_digit(text[at + 1]) &&
        decimal_detail::is_digit(text[at + 2]) && decimal_detail::is_digit(text[at + 3]);
    if (separator) {
      grouped = true;
      digits = 0;
      continue;
    }
    if (decimal_detail::is_digit(c)) {
      ++digits;
    } else {
      if (grouped && digits != 3) return {"", std::string(text)};
      grouped = false;
      digits = 4;  // no grouping after the point
    }
    plain.push_back(c);
  }
  if (grouped && digits != 3) return {"", std::string(text)};
  const auto [number, unit] = split(plain);
  return {std::string(number), std::string(unit)};
}

void require_positive(double value, std::string_view text, std::string_view what) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw refuse(what,
               fmt::format("'{}' is {}", text.substr(0, 80),
                           value < 0.0    ? "negative"
                           : value == 0.0 ? "zero"
                                          : "too large"),
               "it must be more than 0");
}

}  // namespace

double parse_ratio(std::string_view text, std::string_view what) {
  constexpr std::string_view kHint = "a ratio is written 40% or 0.4";
  const auto [number, unit] = split(text);
  const bool percent = unit == "%";
  const Decimal parsed = parse_decimal(number, percent ? -2 : 0);
  if (parsed.status != DecimalStatus::ok || (!unit.empty() && !percent)) {
    throw refuse(what, fmt::format("'{}' is not a ratio", text), std::string(kHint));
  }
  if (parsed.value < 0.0) {
    throw refuse(what, fmt::format("'{}' is negative", text), std::string(kHint));
  }
  if (parsed.value > 1.0) {
    if (percent)
      throw refuse(what, fmt::format("'{}' is more than 100%", text), std::string(kHint));
    throw refuse(what, fmt::format("{0} or {0}%?", number), "a bare number is a ratio from 0 to 1");
  }
  return parsed.value;
}

double parse_seconds(std::string_view text, std::string_view what) {
  struct Unit {
    std::string_view name;
    int shift;        // powers of ten, exact
    double multiple;  // the rest
  };
  static constexpr std::array<Unit, 14> kUnits{{{"ns", -9, 1},
                                                {"us", -6, 1},
                                                {"\xC2\xB5s", -6, 1},  // micro sign
                                                {"\xCE\xBCs", -6, 1},  // Greek mu
                                                {"ms", -3, 1},
                                                {"s", 0, 1},
                                                {"sec", 0, 1},
                                                {"m", 0, 60},
                                                {"min", 0, 60},
                                                {"h", 0, 3600},
                                                {"hr", 0, 3600},
                                                {"hours", 0, 3600},
                                                {"seconds", 0, 1},
                                                {"minutes", 0, 60}}};
  constexpr std::string_view kHint = "write a unit: 12.9s, 810ms, 35us, 2m or 1.5h";
  const auto [number, unit] = split(text);
  if (unit.empty() && !number.empty() && parse_decimal(number).status == DecimalStatus::ok) {
    throw refuse(what, fmt::format("'{}' has no unit", text), std::string(kHint));
  }
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    const Decimal parsed = parse_decimal(number, known.shift);
    if (parsed.status != DecimalStatus::ok) break;
    const double seconds = parsed.value * known.multiple;
    if (seconds < 0.0)
      throw refuse(what, fmt::format("'{}' is negative", text), std::string(kHint));
    if (!std::isfinite(seconds)) break;
    return seconds;
  }
  throw refuse(what, fmt::format("'{}' is not a duration", text), std::string(kHint));
}

double parse_count(std::string_view text, std::string_view what) {
  constexpr std::string_view kHint = "write the whole number: 8192 or 4,194,304";
  const auto [number, unit] = split_grouped(text);
  const Decimal parsed = parse_decimal(number);
  if (parsed.status != DecimalStatus::ok) {
    throw refuse(what, fmt::format("'{}' is not a number", text.substr(0, 80)), std::string(kHint));
  }
  if ((unit == "k" || unit == "K" || unit == "M") && parsed.value > 0) {
    const bool kilo = unit != "M";
    throw refuse(
        what,
        fmt::format("'{}': {} or {}?", text, format_grouped(parsed.value * (kilo ? 1e3 : 1e6)),
                    format_grouped(parsed.value * (kilo ? 1024.0 : 1048576.0))),
        std::string(kHint));
  }
  if (!unit.empty()) {
    throw refuse(what, fmt::format("'{}' is not a number", text.substr(0, 80)), std::string(kHint));
  }
  require_positive(parsed.value, text, what);
  return parsed.value;
}

double parse_large(std::string_view text, std::string_view what) {
  static constexpr std::array<Prefix, 8> kUnits{{{1, ""},
                                                 {1e3, "k"},
                                                 {1e3, "K"},
                                                 {1e6, "M"},
                                                 {1e9, "B"},
                                                 {1e9, "G"},
                                                 {1e9, "b"},
                                                 {1e12, "T"}}};
  const auto [number, unit] = split_grouped(text);
  for (const Prefix& known : kUnits) {
    if (unit != known.text) continue;
    const Decimal parsed = parse_decimal(number, power_of_ten(known.scale));
    if (parsed.status != DecimalStatus::ok) break;
    require_positive(parsed.value, text, what);
    return parsed.value;
  }
  throw refuse(what, fmt::format("'{}' is not a number", text.substr(0, 80)),
               "write 8030261248, 8.03B, 124M or 53k");
}

double parse_price(std::string_view text, std::string_view what) {
  constexpr std::string_view kHint = "write the price of one GPU for one hour: 2.5/h";
  const auto [number, unit] = split_grouped(text);
  const Decimal parsed = parse_decimal(number);
  if (parsed.status != DecimalStatus::ok) {
    throw refuse(what, fmt::format("'{}' is not a price", text.substr(0, 80)), std::string(kHint));
  }
  if (unit != "/h") {
    throw refuse(what,
                 unit.empty() ? fmt::format("'{}' for how long?", text.substr(0, 80))
                              : fmt::format("'{}' is not a price per hour", text.substr(0, 80)),
                 std::string(kHint));
  }
  require_positive(parsed.value, text, what);
  return parsed.value;
}

double parse_flops(std::string_view text, std::string_view what) {
  static constexpr std::array<Prefix, 5> kUnits{
      {{1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}, {1, ""}}};
  constexpr std::string_view kHint = "write T or P: 989.4T is 989.4 TFLOP/s, 1.2P is 1.2 PFLOP/s";
  auto [number, unit] = split(text);
  for (const std::string_view ending :
       {"FLOP/s", "FLOPs/s", "FLOPS", "FLOPs", "FLOP", "flops", "F/s", "F"}) {
    if (unit.ends_with(ending)) {
      unit.remove_suffix(ending.size());
      break;
    }
  }
  for (const Prefix& known : kUnits) {
    if (unit != known.text) continue;
    const Decimal parsed = parse_decimal(number, power_of_ten(known.scale));
    if (parsed.status != DecimalStatus::ok) break;
    require_positive(parsed.value, text, what);
    if (unit.empty() && parsed.value < kSlowestPeak) {
      throw refuse(what, fmt::format("{0}T or {0}P?", number), std::string(kHint));
    }
    return parsed.value;
  }
  throw refuse(what, fmt::format("'{}' is not a rate of FLOPs", text.substr(0, 80)),
               std::string(kHint));
}

double parse_megahertz(std::string_view text, std::string_view what) {
  const auto [number, unit] = split(text);
  const bool giga = unit == "GHz";
  const Decimal parsed = parse_decimal(number, giga ? 3 : 0);
  if (parsed.status != DecimalStatus::ok || (!giga && !unit.empty() && unit != "MHz")) {
    throw refuse(what, fmt::format("'{}' is not a clock", text.substr(0, 80)),
                 "write datasheet, max, base or a number in MHz: 1830");
  }
  require_positive(parsed.value, text, what);
  return parsed.value;
}

double parse_printed_ratio(std::string_view text, std::string_view what) {
  const auto [number, unit] = split(text);
  const bool percent = unit == "%";
  const Decimal parsed = parse_decimal(number, percent ? -2 : 0);
  if (parsed.status != DecimalStatus::ok || (!unit.empty() && !percent)) {
    throw refuse(what, fmt::format("'{}' is not a ratio", text.substr(0, 80)),
                 "a ratio is written 74.13% or 0.7413");
  }
  require_positive(parsed.value, text, what);
  if (!percent && parsed.value >= 2.0) {
    throw refuse(what, fmt::format("{0}% or {0}T?", number),
                 "a ratio is written 74.13% or 0.7413, TFLOP/s are written 231T");
  }
  return parsed.value;
}

double rounding_of(std::string_view text) {
  const std::string number = split_grouped(text).number;
  const Decimal parsed = parse_decimal(number);
  if (parsed.status != DecimalStatus::ok || parsed.value == 0.0) return 0.0;
  const std::size_t exponent = number.find_first_of("eE");
  const std::string_view mantissa = std::string_view(number).substr(0, exponent);
  const std::size_t point = mantissa.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : mantissa.size() - point - 1;
  const double written = parse_decimal(mantissa).value;
  return std::fabs(0.5 * std::pow(10.0, -static_cast<double>(decimals)) / written);
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds == 0.0) return "0 s";
  static constexpr std::array<Prefix, 3> kUnits{{{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}};
  for (const Prefix& unit : kUnits) {
    const double scaled = seconds / unit.scale;
    // 0.99996 s is shown as 1.000 s and not as 1000 ms.
    if (std::fabs(scaled) >= 0.99995) return four_digits(scaled) + " " + std::string(unit.text);
  }
  return four_digits(seconds / 1e-9) + " ns";
}

std::string format_percent(double ratio, int decimals) {
  if (!std::isfinite(ratio)) return "unknown";
  std::string digits = fmt::format("{:.{}f}", ratio * 100.0, decimals);
  // "-0.0 %" would look like a loss.
  if (digits.find_first_not_of("-0.") == std::string::npos && digits.front() == '-') {
    digits.erase(0, 1);
  }
  return digits + " %";
}

std::string format_grouped(double value) {
  if (!std::isfinite(value)) return "unknown";
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return value < 0.0 && digits != "0" ? "-" + digits : digits;
}

std::string format_si(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  if (value == 0.0) return fmt::format("0 {}", unit);
  static constexpr std::array<Prefix, 12> kPrefixes{{{1e24, "Y"},
                                                     {1e21, "Z"},
                                                     {1e18, "E"},
                                                     {1e15, "P"},
                                                     {1e12, "T"},
                                                     {1e9, "G"},
                                                     {1e6, "M"},
                                                     {1e3, "k"},
                                                     {1.0, ""},
                                                     {1e-3, "m"},
                                                     {1e-6, "u"},
                                                     {1e-9, "n"}}};
  for (const Prefix& prefix : kPrefixes) {
    const double scaled = value / prefix.scale;
    if (std::fabs(scaled) >= 0.99995) {
      return fmt::format("{} {}{}", four_digits(scaled), prefix.text, unit);
    }
  }
  return fmt::format("{} n{}", four_digits(value / 1e-9), unit);
}

}  // namespace mfu
