#include "readers/telemetry/sample.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/decimal.hpp"

namespace mfu {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kMostIndex = 65535.0;

std::optional<std::uint64_t> whole(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "0x233010DE"; decimal without the prefix.
std::optional<std::uint64_t> bits(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return whole(text.substr(2), 16);
  return whole(text, 10);
}

void set_first(double& place, double value) {
  if (std::isnan(place)) place = value;
}

// A mask tells of every reason that has a bit; a column of its own knows better.
void take_mask(std::uint64_t mask, TelemetrySample& sample) {
  for (std::size_t bit = 0; bit < kThrottleBits; ++bit) {
    set_first(sample.reasons[bit], (mask >> bit & 1U) != 0 ? 1.0 : 0.0);
  }
}

bool says_yes(std::string_view cell) {
  return cell == "Active" || cell == "Enabled" || cell == "Yes" || cell == "1";
}
bool says_no(std::string_view cell) {
  return cell == "Not Active" || cell == "Disabled" || cell == "No" || cell == "0";
}

// Days from 1970-01-01 on, of the Gregorian calendar: months counted from March, so that the leap
// day is the last.
double days_of(std::uint64_t year, std::uint64_t month, std::uint64_t day) {
  const std::uint64_t y = month <= 2 ? year - 1 : year;
  const std::uint64_t m = month <= 2 ? month + 9 : month - 3;
  // Whole days throughout: each quotient is meant to be cut.
  const std::uint64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
  constexpr double kUntil1970 = 719469.0;
  return static_cast<double>(days) - kUntil1970;
}

std::optional<double> date_days(std::string_view text) {
  std::optional<std::uint64_t> year, month, day;
  if (text.size() == 10 && (text[4] == '/' || text[4] == '-') && text[7] == text[4]) {
    year = whole(text.substr(0, 4), 10);
    month = whole(text.substr(5, 2), 10);
    day = whole(text.substr(8, 2), 10);
  } else if (text.size() == 8) {
    year = whole(text.substr(0, 4), 10);
    month = whole(text.substr(4, 2), 10);
    day = whole(text.substr(6, 2), 10);
  }
  if (!year || !month || !day || *month < 1 || *month > 12 || *year < 1) return {};
  return days_of(*year, *month, *day);
}

std::optional<double> time_of_day(std::string_view text) {
  if (text.size() < 8 || text[2] != ':' || text[5] != ':') return {};
  const auto hours = whole(text.substr(0, 2), 10);
  const auto minutes = whole(text.substr(3, 2), 10);
  std::string_view rest = text.substr(6);
  const std::size_t end = rest.find_first_not_of("0123456789.");
  rest = rest.substr(0, end);  // a time zone: the same in the whole file
  // "05.5" is not a JSON number.
  if (rest.size() > 1 && rest[0] == '0' && rest[1] != '.') rest.remove_prefix(1);
  const auto seconds = number_in(rest);
  if (!hours || !minutes || !seconds) return {};
  return static_cast<double>(*hours * 3600 + *minutes * 60) + *seconds;
}

}  // namespace

bool absent(std::string_view cell) noexcept {
  return cell.empty() || cell.starts_with('[') || cell == "N/A" || cell == "-" || cell == "ERR!" ||
         cell == "NaN" || cell == "Unknown Error" || cell == "Not Supported" ||
         cell == "Requested functionality has been deprecated";
}

std::optional<double> number_in(std::string_view cell) {
  if (absent(cell)) return {};
  const Decimal parsed = parse_decimal(cell.substr(0, cell.find(' ')));
  if (parsed.status != DecimalStatus::ok || parsed.value < 0.0) return {};
  return parsed.value;
}

std::string bus_of(std::string_view text) {
  if (const std::size_t dot = text.rfind('.'); dot != std::string_view::npos) {
    text = text.substr(0, dot);
  }
  std::array<std::uint64_t, 3> parts{};
  std::size_t count = 0;
  for (;;) {
    const std::size_t colon = text.find(':');
    const auto part = whole(text.substr(0, colon), 16);
    if (!part || count == parts.size()) return {};
    parts[count++] = *part;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  if (count == 2) parts = {0, parts[0], parts[1]};
  if (count < 2 || parts[0] > 0xFFFFFFFFU || parts[1] > 0xFFU || parts[2] > 0xFFU) return {};
  const auto hexadecimal = [](std::uint64_t value, std::size_t digits) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string written;
    for (std::uint64_t rest = value; rest > 0 || written.size() < digits; rest /= 16) {
      written.insert(written.begin(), kDigits[rest % 16]);
    }
    return written;
  };
  return hexadecimal(parts[0], 4) + ":" + hexadecimal(parts[1], 2) + ":" + hexadecimal(parts[2], 2);
}

std::optional<double> seconds_of(std::string_view text) {
  const std::size_t gap = text.find_first_of(" T");
  if (gap == std::string_view::npos) return {};
  const auto days = date_days(text.substr(0, gap));
  const auto seconds = time_of_day(text.substr(gap + 1));
  if (!days || !seconds) return {};
  return *days * kDay + *seconds;
}

std::optional<double> seconds_of_log_line(std::string_view line) {
  if (line.starts_with('<')) {  // a priority, and with RFC 5424 a version
    line.remove_prefix(std::min(line.find('>'), line.size() - 1) + 1);
    if (line.starts_with("1 ")) line.remove_prefix(2);
  }
  if (!line.starts_with('[')) return seconds_of(line.substr(0, line.find(' ')));
  // "[Mon Nov 30 08:10:54 2026]"
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::vector<std::string_view> words;
  std::string_view stamp = line.substr(1, line.find(']') - 1);
  while (!stamp.empty()) {
    const std::size_t end = std::min(stamp.find(' '), stamp.size());
    if (end > 0) words.push_back(stamp.substr(0, end));
    stamp.remove_prefix(std::min(end + 1, stamp.size()));
  }
  if (words.size() != 5 || words[1].size() != 3) return {};
  const std::size_t month = kMonths.find(words[1]);
  const auto day = whole(words[2], 10);
  const auto year = whole(words[4], 10);
  const auto seconds = time_of_day(words[3]);
  if (month == std::string_view::npos || month % 3 != 0 || !day || !year || *year < 1 || !seconds) {
    return {};
  }
  return days_of(*year, month / 3 + 1, *day) * kDay + *seconds;
}

void take_cell(const TelemetryColumn& column, std::string_view cell, TelemetrySample& sample) {
  // Not a number where one belongs: 17x0 MHz, -5 W.
  const auto number = [&] {
    const std::optional<double> value = number_in(cell);
    if (!value) sample.unreadable = true;
    return value;
  };
  const auto flag = [&](bool& place) {
    const bool readable = says_yes(cell) || says_no(cell);
    place = place || says_yes(cell);
    sample.unreadable = sample.unreadable || !readable;
    return readable;
  };
  switch (column.cell) {
    case Cell::name:
      sample.name = cell;
      break;
    case Cell::index:
      if (const auto value = number(); value && *value <= kMostIndex) {
        sample.index = static_cast<int>(*value);
      }
      break;
    case Cell::uuid:
      sample.uuid = cell;
      break;
    case Cell::node:
      sample.node = cell;
      break;
    case Cell::pci_bus:
      sample.pci_bus = bus_of(cell);
      break;
    case Cell::pci_device:
      if (const auto value = bits(cell);
          value && *value <= 0xFFFFFFFFU && (cell.starts_with("0x") || cell.starts_with("0X"))) {
        sample.pci_device = static_cast<std::uint32_t>(*value);
      }
      break;
    case Cell::memory_mib:
      if (const auto value = number()) sample.memory_bytes = *value * kMiB;
      break;
    case Cell::date:
      if (const auto days = date_days(cell)) {
        sample.time_s = sample.time_s.value_or(0.0) + *days * kDay;
      }
      break;
    case Cell::time:
      if (const auto seconds = time_of_day(cell)) {
        sample.time_s = sample.time_s.value_or(0.0) + *seconds;
      }
      break;
    case Cell::timestamp:
      sample.time_s = seconds_of(cell);
      break;
    case Cell::mig:
      sample.mig = cell == "Enabled";
      break;
    case Cell::gauge:
      if (const auto value = number()) set_first(sample.gauges[column.which], *value);
      break;
    case Cell::ratio:
      if (const auto value = number()) {
        set_first(sample.gauges[column.which], *value > 1.0 ? *value : 100.0 * *value);
      }
      break;
    case Cell::counter:
      if (const auto value = number()) {
        set_first(sample.counters[column.which], *value * column.scale);
      }
      break;
    case Cell::reason: {
      bool on = false;
      if (flag(on)) sample.reasons[column.which] = on ? 1.0 : 0.0;
      break;
    }
    case Cell::reason_part:
      if (const auto value = number()) {
        sample.reasons[column.which] = std::min(1.0, *value / 100.0);
      }
      break;
    case Cell::reason_flag:
      if (const auto value = number()) sample.reasons[column.which] = *value > 0.0 ? 1.0 : 0.0;
      break;
    case Cell::reason_mask:
      if (const auto mask = bits(cell)) {
        take_mask(*mask, sample);
      } else {
        sample.unreadable = true;
      }
      break;
    case Cell::last_xid:
      if (const auto value = number(); value && *value <= kMostIndex) {
        sample.last_xid = static_cast<std::int64_t>(*value);
      }
      break;
    case Cell::recovery:
      if (cell != "None") sample.recovery_action = cell;
      break;
    case Cell::pending:
      (void)flag(sample.remap_pending);
      break;
    case Cell::failed:
      (void)flag(sample.remap_failed);
      break;
  }
}

}  // namespace mfu
