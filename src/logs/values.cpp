#include "logs/values.hpp"

#include <cmath>

#include "base/decimal.hpp"

namespace mfu {

namespace {

std::int64_t days_from_civil(std::int64_t year, int month, int day) noexcept {
  // Howard Hinnant's algorithm: years start in March.
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// `count` digits at `at`; -1 for anything else.
int digits(std::string_view text, std::size_t at, std::size_t count) noexcept {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::size_t word(std::string_view text, std::string_view wanted) noexcept {
  if (text.size() < wanted.size()) return 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != wanted[i]) return 0;
  }
  return wanted.size();
}

}  // namespace

bool LogText::find(std::string_view literal) noexcept {
  const std::size_t found = text_.find(literal, at_);
  if (found == std::string_view::npos) return false;
  at_ = found + literal.size();
  return true;
}

bool LogText::take(std::string_view literal) noexcept {
  if (!rest().starts_with(literal)) return false;
  at_ += literal.size();
  return true;
}

void LogText::blanks() noexcept {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

std::optional<double> LogText::number(int shift) noexcept {
  const std::size_t before = at_;
  blanks();
  char plain[64];
  std::size_t size = 0;
  std::size_t i = at_;
  const auto at = [this](std::size_t index) { return index < text_.size() ? text_[index] : '\0'; };
  if (at(i) == '-' || at(i) == '+') {
    if (at(i) == '-') plain[size++] = '-';
    ++i;
  }
  // "nan.0" is what a formatter makes of "nan" when it wants a fraction.
  for (const std::string_view name : {std::string_view("nan"), std::string_view("inf")}) {
    if (const std::size_t taken = word(text_.substr(std::min(i, text_.size())), name); taken > 0) {
      at_ = i + taken;
      return std::nullopt;
    }
  }
  const std::size_t whole = i;
  while (digit(at(i)) && size < 40) {
    plain[size++] = at(i++);
    // A thousands separator has three digits behind it, no more.
    if (at(i) == ',' && i - whole <= 27 && digit(at(i + 1)) && digit(at(i + 2)) &&
        digit(at(i + 3)) && !digit(at(i + 4))) {
      ++i;
    }
  }
  if (i == whole && at(i) != '.') {
    at_ = before;
    return std::nullopt;
  }
  // JSON's grammar, which the conversion follows, has no leading zeros.
  std::size_t lead = size > 0 && plain[0] == '-' ? 1 : 0;
  std::size_t zeros = 0;
  while (lead + zeros + 1 < size && plain[lead + zeros] == '0') ++zeros;
  if (zeros > 0) {
    for (std::size_t k = lead; k + zeros < size; ++k) plain[k] = plain[k + zeros];
    size -= zeros;
  }
  if (i == whole) plain[size++] = '0';
  if (at(i) == '.' && digit(at(i + 1))) {
    plain[size++] = '.';
    ++i;
    while (digit(at(i))) {
      if (size < 56) plain[size++] = at(i);
      ++i;
    }
  } else if (i == whole) {
    at_ = before;
    return std::nullopt;
  } else if (at(i) == '.' && !digit(at(i + 1)) && at(i + 1) != '.') {
    ++i;  // "12."
  }
  if ((at(i) == 'e' || at(i) == 'E') &&
      (digit(at(i + 1)) || ((at(i + 1) == '+' || at(i + 1) == '-') && digit(at(i + 2))))) {
    plain[size++] = 'e';
    ++i;
    if (at(i) == '+' || at(i) == '-') plain[size++] = at(i++);
    while (digit(at(i))) {
      if (size < 62) plain[size++] = at(i);
      ++i;
    }
  }
  plain[size] = '\0';
  const Decimal value = scan_decimal(plain, shift);
  at_ = i;
  if (value.status != DecimalStatus::ok) return std::nullopt;
  return value.value;
}

std::optional<double> LogText::si_number(int shift) noexcept {
  const std::size_t before = at_;
  const std::optional<double> plain = number(shift);
  if (!plain) return plain;
  int power = 0;
  switch (peek()) {
    case 'k':
    case 'K':
      power = 3;
      break;
    case 'M':
      power = 6;
      break;
    case 'G':
    case 'B':
      power = 9;
      break;
    case 'T':
      power = 12;
      break;
    case 'P':
      power = 15;
      break;
    default:
      return plain;
  }
  at_ = before;
  const std::optional<double> scaled = number(shift + power);
  ++at_;
  return scaled;
}

std::optional<std::int64_t> LogText::integer() noexcept {
  const std::optional<double> value = number();
  if (!value || std::fabs(*value) > 9e15 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> number_after(std::string_view text, std::string_view key,
                                   int shift) noexcept {
  LogText at(text);
  return at.find(key) ? at.number(shift) : std::nullopt;
}

std::optional<double> si_number_after(std::string_view text, std::string_view key,
                                      int shift) noexcept {
  LogText at(text);
  return at.find(key) ? at.si_number(shift) : std::nullopt;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<Timestamp> timestamp_at(std::string_view text) noexcept {
  int year = digits(text, 0, 4);
  int month = 0;
  int day = 0;
  if (text.size() < 19) return std::nullopt;
  if (year >= 0 && text[4] == text[7] && (text[4] == '-' || text[4] == '/')) {
    month = digits(text, 5, 2);
    day = digits(text, 8, 2);
  } else if (text[2] == '/' && text[5] == '/') {
    month = digits(text, 0, 2);
    day = digits(text, 3, 2);
    year = digits(text, 6, 4);
  } else {
    return std::nullopt;
  }
  if (text[10] != ' ' && text[10] != 'T') return std::nullopt;
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (text[13] != ':' || text[16] != ':' || year < 1970 || month < 1 || month > 12 || day < 1 ||
      day > 31 || hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return std::nullopt;
  }
  Timestamp time;
  time.seconds = static_cast<double>(days_from_civil(year, month, day) * 86400 + hour * 3600 +
                                     minute * 60 + second);
  std::size_t at = 19;
  if (at + 1 < text.size() && (text[at] == '.' || text[at] == ',') && digit(text[at + 1])) {
    double unit = 1.0;
    double fraction = 0.0;
    for (++at; at < text.size() && digit(text[at]); ++at) {
      if (unit >= 1e9) continue;
      unit *= 10.0;
      fraction = fraction * 10.0 + (text[at] - '0');
    }
    time.seconds += fraction / unit;
  }
  if (at < text.size() && text[at] == 'Z') {
    ++at;
  } else if (at + 5 < text.size() && (text[at] == '+' || text[at] == '-') &&
             digits(text, at + 1, 2) >= 0 && text[at + 3] == ':') {
    at += 6;
  }
  time.length = at;
  return time;
}

std::string_view json_value(std::string_view object, std::string_view key) noexcept {
  std::size_t from = 0;
  for (;;) {
    const std::size_t found = object.find(key, from);
    if (found == std::string_view::npos) return {};
    from = found + key.size();
    if (found == 0 || object[found - 1] != '"' || from >= object.size() || object[from] != '"') {
      continue;
    }
    std::size_t at = from + 1;
    const auto blanks = [&] {
      while (at < object.size() && object[at] == ' ') ++at;
    };
    blanks();
    if (at >= object.size() || object[at] != ':') continue;
    ++at;
    blanks();
    const std::size_t start = at;
    int depth = 0;
    bool quoted = false;
    for (; at < object.size(); ++at) {
      const char c = object[at];
      if (quoted) {
        if (c == '\\') {
          ++at;
        } else if (c == '"') {
          quoted = false;
        }
        continue;
      }
      if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth-- == 0) break;
      } else if (c == ',' && depth == 0) {
        break;
      }
    }
    return trimmed(object.substr(start, std::min(at, object.size()) - start));
  }
}

}  // namespace mfu
