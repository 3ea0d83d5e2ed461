#include "traces/kineto/event.hpp"

#include <charconv>
#include <limits>

#include "base/json_fields.hpp"

namespace mfu::traces {

namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
// No activity lasts so long: a collective's watchdog ends the job long before.
constexpr std::int64_t kLongestNs = std::int64_t{6} * 3600 * 1'000'000'000;

enum class Category : std::uint8_t { other, kernel, copy, launch, host };

bool same(std::string_view text, std::string_view lower) noexcept {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != (lower[i] | 0x20)) return false;
  }
  return true;
}

bool ends(std::string_view text, std::string_view lower) noexcept {
  return text.size() >= lower.size() && same(text.substr(text.size() - lower.size()), lower);
}

// PyTorch up to 1.9 wrote capitals and other names.
Category category_of(std::string_view text) noexcept {
  if (same(text, "kernel") || same(text, "concurrent_kernel") || same(text, "mtia_ccp_events")) {
    return Category::kernel;
  }
  if (same(text, "gpu_memcpy") || same(text, "gpu_memset") || same(text, "memcpy") ||
      same(text, "memset")) {
    return Category::copy;
  }
  if (same(text, "runtime") || ends(text, "_runtime") || ends(text, "_driver")) {
    return Category::launch;
  }
  if (same(text, "cpu_op") || same(text, "user_annotation") || same(text, "operator")) {
    return Category::host;
  }
  return Category::other;
}

EventKind host_kind(std::string_view name) noexcept {
  if (name.empty()) return EventKind::other;
  switch (name.front()) {
    case 'P':
      return name.starts_with("ProfilerStep#") ? EventKind::step : EventKind::other;
    case 'r':
      return name == "record_param_comms" ? EventKind::collective_call : EventKind::other;
    case 'g':
      return name.starts_with("gloo:") ? EventKind::host_collective : EventKind::other;
    case 'm':
      return name.starts_with("mpi:") ? EventKind::host_collective : EventKind::other;
    case 'u':
      return name.starts_with("ucc:") ? EventKind::host_collective : EventKind::other;
    default:
      return EventKind::other;
  }
}

// A bare word that JSON does not know: NaN, inf, N/A, -nan.
bool odd_token(std::string_view value) noexcept {
  const char first = value.front();
  if ((first >= '0' && first <= '9') || first == '[' || first == '{') return false;
  if (first == '-') return value.size() < 2 || value[1] < '0' || value[1] > '9';
  return value != "null" && value != "true" && value != "false";
}

void take_argument(const JsonField& field, KinetoEvent& out) {
  const std::string_view key = field.key;
  switch (key.size()) {
    case 3:
      if (key == "Seq") out.sequence = integer_of(field.value);
      break;
    case 5:
      if (key == "dtype") out.data_type = field.value;
      break;
    case 6:
      if (key == "stream") {
        out.stream = integer_of(field.value);
      } else if (key == "device") {
        out.device = integer_of(field.value);
      }
      break;
    case 10:
      if (key == "Group size") out.group_size = integer_of(field.value);
      break;
    case 11:
      if (key == "correlation") {
        out.correlation = identifier_of(field.value);
      } else if (key == "External id" || key == "external id") {
        out.external_id = identifier_of(field.value);
      }
      break;
    case 13:
      if (key == "In msg nelems") out.elements_in = integer_of(field.value);
      break;
    case 15:
      if (key == "Collective name") out.collective = field.value;
      break;
    case 18:
      if (key == "Process Group Name") out.group_name = field.value;
      break;
    case 19:
      if (key == "Process Group Ranks") out.group_ranks = field.value;
      break;
    default:
      break;
  }
}

// False: broken. A launch is left as soon as its correlation is known.
bool take_arguments(JsonFields& fields, KinetoEvent& out) {
  JsonField field;
  while (fields.next(field)) {
    if (!field.text && odd_token(field.value)) ++out.odd_tokens;
    take_argument(field, out);
    if (out.kind == EventKind::launch && out.correlation) return true;
  }
  return !fields.broken();
}

struct Times {
  JsonField start;
  JsonField length;
};

void take_times(const Times& times, KinetoEvent& out) {
  out.time_as_text = times.start.text || times.length.text;
  const std::optional<std::int64_t> start = nanoseconds_of(times.start.value);
  const std::string_view length_text = times.length.value;
  if (!start || length_text.empty()) {
    out.fault = TimeFault::absent;
    return;
  }
  out.start_ns = *start;
  const std::optional<std::int64_t> length = nanoseconds_of(length_text);
  if (length) {
    out.length_ns = *length;
    if (*length < 0) {
      out.fault = TimeFault::negative;
    } else if (*length > kLongestNs || ran_below_zero(*length) || *start > kLargest / 4 ||
               *start < -(kLargest / 4)) {
      out.fault = TimeFault::overflow;
    }
    return;
  }
  const char first = length_text.front();
  out.fault = first >= '0' && first <= '9' ? TimeFault::overflow : TimeFault::absent;
}

// "stream 7" of old traces, or 7.
std::optional<std::int64_t> trailing_number(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') --at;
  return integer_of(text.substr(at));
}

}  // namespace

bool parse_event(std::string_view text, KinetoEvent& out) {
  out = {};
  JsonFields fields(text);
  JsonField field;
  Times times;
  Category category = Category::other;
  bool category_known = false;
  bool name_known = false;
  std::string_view process;
  std::string_view thread;
  const char* arguments = nullptr;  // not yet looked into
  const auto decide = [&] {
    switch (category) {
      case Category::kernel:
        out.kind = EventKind::kernel;
        break;
      case Category::copy:
        out.kind = EventKind::copy;
        break;
      case Category::launch:
        out.kind = EventKind::launch;
        break;
      case Category::host:
        if (name_known) out.kind = host_kind(out.name);
        break;
      case Category::other:
        break;
    }
    return category_known && out.kind == EventKind::other &&
           (name_known || category == Category::other);
  };
  while (fields.next(field)) {
    const std::string_view key = field.key;
    if (key == "ph") {
      out.ends = field.value == "E";
      out.begin_end = out.ends || field.value == "B";
      if (field.value != "X" && !out.begin_end) {
        out.kind = EventKind::other;
        return true;
      }
    } else if (key == "cat") {
      category = category_of(field.value);
      category_known = true;
      if (decide() && !out.begin_end) return true;
    } else if (key == "name") {
      out.name = field.value;
      name_known = true;
      if (decide() && !out.begin_end) return true;
    } else if (key == "ts") {
      times.start = field;
    } else if (key == "dur") {
      times.length = field;
    } else if (key == "pid") {
      process = field.value;
    } else if (key == "tid") {
      thread = field.value;
    } else if (key == "args" && field.value.front() == '{') {
      if (out.kind == EventKind::other) {
        arguments = field.value.data();
      } else if (out.kind != EventKind::step && out.kind != EventKind::host_collective) {
        JsonFields inner = fields.enter();
        if (!take_arguments(inner, out)) return false;
        fields.leave(inner);
      }
    }
  }
  if (fields.broken()) return false;
  if (out.begin_end) {
    out.process = process;
    out.thread = thread;
    const std::optional<std::int64_t> start = nanoseconds_of(times.start.value);
    out.start_ns = start.value_or(0);
    if (!start) out.fault = TimeFault::absent;
  }
  if (out.kind == EventKind::other) return true;
  if (arguments != nullptr) {
    JsonFields inner({arguments, static_cast<std::size_t>(text.data() + text.size() - arguments)});
    if (!take_arguments(inner, out)) return false;
  }
  if (!out.begin_end) take_times(times, out);
  if (out.kind == EventKind::kernel || out.kind == EventKind::copy) {
    if (!out.device) out.device = integer_of(process);
    if (!out.stream) out.stream = trailing_number(thread);
  }
  return true;
}

std::optional<std::int64_t> nanoseconds_of(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at == end) return std::nullopt;
  const bool negative = *at == '-';
  if (negative) ++at;
  std::uint64_t value = 0;
  int digits = 0;    // of the mantissa, leading zeros left out
  int exponent = 3;  // of ten: microseconds to nanoseconds
  bool any = false;
  bool point = false;
  int rounding = -1;  // the first digit that did not fit
  for (; at < end; ++at) {
    const auto digit = static_cast<unsigned>(*at - '0');
    if (digit < 10) {
      any = true;
      if (digits < 19) {  // fits 64 bits
        value = value * 10 + digit;
        if (value != 0) ++digits;
        if (point) --exponent;
      } else {
        if (rounding < 0) rounding = static_cast<int>(digit);
        if (!point) ++exponent;
      }
    } else if (*at == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (!any) return std::nullopt;
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && *at == '+') ++at;
    int written = 0;
    const auto result = std::from_chars(at, end, written);
    if (result.ec != std::errc{} || result.ptr == at || written > 1000 || written < -1000) {
      return std::nullopt;
    }
    exponent += written;
    at = result.ptr;
  }
  if (at != end) return std::nullopt;
  if (value == 0) return 0;
  for (; exponent > 0; --exponent) {
    if (value > static_cast<std::uint64_t>(kLargest) / 10) return std::nullopt;
    value *= 10;
  }
  if (exponent < 0) {
    // Digits below a nanosecond: half a one and more counts as one.
    for (; exponent < -1 && value != 0; ++exponent) value /= 10;
    value = exponent < -1 ? 0 : (value + 5) / 10;
  } else if (rounding >= 5) {
    ++value;
  }
  if (value > static_cast<std::uint64_t>(kLargest)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  return negative ? -whole : whole;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> identifier_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace mfu::traces
