// Names and numbers as text inside traces.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mfu::traces {

inline bool digit(char c) noexcept { return c >= '0' && c <= '9'; }
inline bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

// What an error may quote of bytes that are not ours: '?' for what is not printable ASCII, and at
// most `most` bytes.
inline std::string printable(std::string_view text, std::size_t most = std::string_view::npos) {
  std::string out(text.substr(0, most));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return out;
}

// Nothing where the text is not one whole number.
inline std::optional<std::int64_t> integer_of_text(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return value;
}

// Devices that one capture may show: beyond that something else was taken for a device.
inline constexpr std::size_t kMostDevices = 63;

}  // namespace mfu::traces
