#include "inputs/plan_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/decimal.hpp"
#include "mfu/error.hpp"
#include "mfu/quantity.hpp"
#include "options.hpp"

namespace mfu::app {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Commas between groups of three digits; any other comma stays, and is refused with the rest: where
// it is the decimal point, 2,5 would be 25.
bool groups_thousands(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t digits = 0;  // since the last comma
  bool grouped = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (digit(c)) {
      ++digits;
      continue;
    }
    if (grouped && digits != 3) return false;
    if (c == ',' && (digits == 0 || digits > 3)) return false;
    if (c != ',' && digits > 0) return true;
    grouped = grouped || c == ',';
    digits = 0;
  }
  return !grouped;
}

std::string without_commas(std::string_view text) {
  if (!groups_thousands(text)) return std::string(text);
  std::string out;
  for (const char c : text) {
    if (c != ',') out += c;
  }
  return out;
}

bool starts_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+'; }

std::string shown(std::string_view text) {
  return fmt::format("'{}{}'", text.substr(0, 60), text.size() > 60 ? "..." : "");
}

// The number in front and the letters behind it.
struct Split {
  std::string number;
  std::string_view unit;
};
Split split(std::string_view text) {
  text = trimmed(text);
  std::size_t end = text.size();
  while (end > 0 && !(text[end - 1] >= '0' && text[end - 1] <= '9') && text[end - 1] != '.') --end;
  return {without_commas(trimmed(text.substr(0, end))), trimmed(text.substr(end))};
}

struct LongUnit {
  std::string_view name;
  double seconds;
};
constexpr double kDay = 86400.0;
constexpr double kMostPercent = 100.0;
constexpr std::size_t kNotFound = std::string_view::npos;
constexpr std::array kLongUnits{LongUnit{"d", kDay},
                                LongUnit{"day", kDay},
                                LongUnit{"days", kDay},
                                LongUnit{"w", 7 * kDay},
                                LongUnit{"week", 7 * kDay},
                                LongUnit{"weeks", 7 * kDay},
                                LongUnit{"y", 365.25 * kDay},
                                LongUnit{"year", 365.25 * kDay},
                                LongUnit{"years", 365.25 * kDay}};

// A sign of money, or three capitals; nothing names none. Other bytes would go to every screen.
bool names_currency(std::string_view text) {
  constexpr std::string_view kLatin = "\xC2\xA3 \xC2\xA5";  // pound, yen
  if (text.empty() || text == "$") return true;
  if (text.size() == 2) return text[0] == '\xC2' && kLatin.find(text) != kNotFound;
  if (text.size() != 3) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  // U+20A0 to U+20CF are signs of money.
  const bool sign = byte(0) == 0xE2 && ((byte(1) == 0x82 && byte(2) >= 0xA0 && byte(2) <= 0xBF) ||
                                        (byte(1) == 0x83 && byte(2) >= 0x80 && byte(2) <= 0x8F));
  return sign || std::all_of(text.begin(), text.end(), capital);
}

}  // namespace

void refuse_comma_and_scale(std::string_view text, std::string_view option) {
  text = trimmed(text);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto scale = [](char c) { return std::string_view("kKMGBTP").find(c) != kNotFound; };
  const std::size_t comma = text.find_first_of(",_");
  if (comma == std::string_view::npos || text.find_first_of(",_", comma + 1) != kNotFound) return;
  const std::size_t end = text.find_first_not_of("0123456789", comma + 1);
  if (end == std::string_view::npos || end != comma + 4 || comma == 0 || !digit(text[comma - 1])) {
    return;
  }
  const std::string_view unit = trimmed(text.substr(end));
  if (unit.empty() || !scale(unit.front())) return;
  const std::size_t begin = text.find_first_of("0123456789");
  const std::string_view before = text.substr(begin, comma - begin);
  const std::string_view after = text.substr(comma + 1, 3);
  const char letter = unit.front();
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}{}{} or {}.{}{}?", shown(text), before, after, letter, before,
                          after, letter),
              at(option), "a comma and a scale do not go together: write one of the two");
}

double parse_long_time(const std::string& text, std::string_view option) {
  const Split parts = split(text);
  const std::string_view unit = parts.unit;
  const Decimal parsed = parse_decimal(parts.number);
  if (parsed.status == DecimalStatus::ok && unit.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{0} days or {0} hours?", trimmed(text)), at(option),
                fmt::format("write {0}d or {0}h", trimmed(text)));
  }
  const auto long_unit = std::find_if(kLongUnits.begin(), kLongUnits.end(),
                                      [&](const LongUnit& known) { return known.name == unit; });
  double seconds = 0.0;
  if (parsed.status == DecimalStatus::ok && long_unit != kLongUnits.end()) {
    seconds = parsed.value * long_unit->seconds;
  } else {
    try {
      seconds = parse_seconds(without_commas(trimmed(text)), option);
    } catch (const Error& error) {
      throw Error(ErrorKind::usage, error.message(), at(option),
                  "write a unit: 30d, 12h, 45m, 90s");
    }
  }
  if (seconds > 0.0 && std::isfinite(seconds)) return seconds;
  throw Error(ErrorKind::usage,
              fmt::format("{} is {}", shown(text),
                          seconds > 0.0   ? "too large"
                          : seconds < 0.0 ? "negative"
                                          : "zero"),
              at(option), "it must be more than 0");
}

Money parse_money(const std::string& text, std::string_view option) {
  refuse_comma_and_scale(text, option);
  Money money;
  std::string_view rest = trimmed(text);
  const std::size_t begin = static_cast<std::size_t>(
      std::find_if(rest.begin(), rest.end(), starts_number) - rest.begin());
  money.currency = std::string(trimmed(rest.substr(0, begin)));
  rest.remove_prefix(begin);
  const Error error(ErrorKind::usage, fmt::format("{} is not an amount of money", shown(text)),
                    at(option), "write 250000, 1.5M, $250k or EUR 1.5M");
  auto [number, unit] = split(rest);
  // The currency may stand behind, too.
  // A sign may stand behind a scale without a blank: 5M$.
  if (unit.size() > 1 && money.currency.empty() &&
      (unit[1] == '$' || static_cast<unsigned char>(unit[1]) >= 0x80) &&
      std::string_view("kKMB").find(unit[0]) != std::string_view::npos) {
    money.currency = std::string(unit.substr(1));
    unit = unit.substr(0, 1);
  }
  std::string_view prefix = unit;
  const std::size_t blank = unit.find(' ');
  constexpr std::array<std::string_view, 5> kPrefixes{"", "k", "K", "M", "B"};
  if (std::find(kPrefixes.begin(), kPrefixes.end(), unit) == kPrefixes.end() &&
      money.currency.empty()) {
    prefix = blank == std::string_view::npos ? std::string_view() : unit.substr(0, blank);
    money.currency =
        std::string(blank == std::string_view::npos ? unit : trimmed(unit.substr(blank)));
  }
  const Decimal parsed = parse_decimal(number);
  const double scale = prefix == "k" || prefix == "K" ? 1e3
                       : prefix == "M"                ? 1e6
                       : prefix == "B"                ? 1e9
                                                      : 1.0;
  const bool known = std::find(kPrefixes.begin(), kPrefixes.end(), prefix) != kPrefixes.end();
  // A sign, or the three capitals of a code: T or MM is a scale that is not known.
  if (parsed.status != DecimalStatus::ok || !known || !names_currency(money.currency)) throw error;
  money.amount = parsed.value * scale;
  if (money.amount > 0.0 && std::isfinite(money.amount)) return money;
  throw Error(ErrorKind::usage,
              fmt::format("{} is {}", shown(text),
                          money.amount > 0.0   ? "too large"
                          : money.amount < 0.0 ? "negative"
                                               : "zero"),
              at(option), "it must be more than 0");
}

Money parse_money_price(const std::string& text, std::string_view option) {
  struct Per {
    std::string_view name;
    double seconds;
  };
  constexpr std::array kPer{Per{"h", 3600.0},     Per{"hour", 3600.0}, Per{"gpu-hour", 3600.0},
                            Per{"gpuh", 3600.0},  Per{"d", kDay},      Per{"day", kDay},
                            Per{"gpu-day", kDay}, Per{"gpu/h", 3600.0}};
  const std::size_t slash = text.find('/');
  const Money money = parse_money(text.substr(0, slash), option);
  if (slash == std::string::npos) {
    throw Error(ErrorKind::usage, fmt::format("{} per what time?", shown(text)), at(option),
                fmt::format("the price of a GPU is written {}/h", trimmed(text)));
  }
  const std::string_view per = trimmed(std::string_view(text).substr(slash + 1));
  for (const Per& known : kPer) {
    if (known.name == per) return {money.amount / known.seconds, money.currency};
  }
  throw Error(ErrorKind::usage, fmt::format("{} is not a time that a GPU is paid for", shown(per)),
              at(option), "write 2.5/h or 60/d: of one GPU");
}

Mtbf parse_mtbf(const std::string& text, std::string_view option) {
  const std::size_t slash = text.find('/');
  const double seconds = parse_long_time(text.substr(0, slash), option);
  const std::string time(trimmed(std::string_view(text).substr(0, slash)));
  const std::string_view of = slash == std::string::npos
                                  ? std::string_view()
                                  : trimmed(std::string_view(text).substr(slash + 1));
  if (of == "gpu" || of == "GPU") return {seconds, true};
  if (of == "job") return {seconds, false};
  throw Error(ErrorKind::usage,
              of.empty() ? fmt::format("{} between failures of one GPU, or of the job?", time)
                         : fmt::format("{} is neither gpu nor job", shown(of)),
              at(option), fmt::format("write {0}/gpu or {0}/job", time));
}

Portion parse_portion(const std::string& text, std::string_view option) {
  const auto [number, unit] = split(text);
  const Decimal parsed = parse_decimal(number);
  const bool steps = unit == "steps" || unit == "step";
  const bool number_alone = parsed.status == DecimalStatus::ok && unit.empty();
  if (number_alone && parsed.value > 1.0) {
    const std::string_view given = trimmed(text);
    const bool whole = std::floor(parsed.value) == parsed.value;
    if (whole && parsed.value > kMostPercent) {
      throw Error(ErrorKind::usage, fmt::format("{} of what?", given), at(option),
                  fmt::format("write \"{} steps\", or a share of the steps: 1%", given));
    }
    throw Error(
        ErrorKind::usage,
        whole ? fmt::format("{0} steps or {0}%?", given) : fmt::format("{} of what?", given),
        at(option),
        whole ? fmt::format("write \"{0} steps\" or {0}%", given)
              : "write a share of the steps, 1%, or \"2000 steps\"");
  }
  // A share of 1 is nobody's; one step may be somebody's.
  if (number_alone && parsed.value == 1.0) {
    throw Error(ErrorKind::usage, "1 step or 1%?", at(option), "write \"1 step\" or 1%");
  }
  if (parsed.status == DecimalStatus::ok && steps) {
    if (parsed.value < 0.0 || std::floor(parsed.value) != parsed.value) {
      throw Error(ErrorKind::usage, fmt::format("{} is not a number of steps", shown(text)),
                  at(option), "steps are whole numbers");
    }
    return {{}, parsed.value};
  }
  try {
    return {parse_ratio(std::string(trimmed(text)), option), {}};
  } catch (const Error& error) {
    // "2k", "375M tokens", "30d": what a ratio's hint would not help.
    throw Error(error.kind(),
                unit.empty() || unit == "%"
                    ? error.message()
                    : fmt::format("{} is neither a share nor steps", shown(trimmed(text))),
                at(option), "write a share of the steps, 1%, or \"2000 steps\"");
  }
}

double parse_learning_rate(const std::string& text, std::string_view option) {
  const Decimal parsed = parse_decimal(trimmed(text));
  if (parsed.status == DecimalStatus::ok && parsed.value > 0.0 && parsed.value < 1.0) {
    return parsed.value;
  }
  throw Error(ErrorKind::usage, fmt::format("{} is not a learning rate", shown(text)), at(option),
              "write 3e-4: above 0 and below 1");
}

}  // namespace mfu::app
