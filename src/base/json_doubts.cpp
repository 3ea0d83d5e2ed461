#include "base/json_doubts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "base/json_blocks.hpp"

namespace mfu::json_doubts {

namespace {

// The keys with which events start; a boundary is believed only before one of them.
bool event_key(std::string_view key) noexcept {
  constexpr std::string_view kKeys[] = {"ph",  "cat", "name", "pid",  "tid", "ts",
                                        "dur", "id",  "s",    "args", "bp"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

}  // namespace

Boundary boundary_at(const char* at, const char* end, bool ended, const char*& next) noexcept {
  const auto skip = [&] {
    while (at < end && json_blocks::blank(*at)) ++at;
    return at < end;
  };
  const Boundary out_of_bytes = ended ? Boundary::none : Boundary::unknown;
  ++at;  // the brace
  if (!skip()) return out_of_bytes;
  if (*at == ']') {
    next = at++;
    if (!skip()) return ended ? Boundary::closing : Boundary::unknown;
    if (*at == '}') return Boundary::closing;
    if (*at != ',') return Boundary::none;
    ++at;
    if (!skip()) return out_of_bytes;
    return *at == '"' ? Boundary::closing : Boundary::none;
  }
  if (*at != ',') return Boundary::none;
  ++at;
  if (!skip()) return out_of_bytes;
  if (*at != '{') return Boundary::none;
  next = at++;
  if (!skip()) return out_of_bytes;
  if (*at != '"') return Boundary::none;
  const char* const key = ++at;
  while (at < end && *at != '"' && at - key < 8) ++at;
  if (at == end) return out_of_bytes;
  if (*at != '"' || !event_key({key, static_cast<std::size_t>(at - key)})) return Boundary::none;
  ++at;
  if (!skip()) return out_of_bytes;
  return *at == ':' ? Boundary::event : Boundary::none;
}

bool quotes_plausible(std::string_view text, bool whole) noexcept {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      if (inside) {
        std::size_t after = i + 1;
        while (after < text.size() && json_blocks::blank(text[after])) ++after;
        if (after < text.size() && std::strchr(",:}]", text[after]) == nullptr) return false;
      } else {
        std::size_t before = i;
        while (before > 0 && json_blocks::blank(text[before - 1])) --before;
        if (before > 0 && std::strchr(",:{[", text[before - 1]) == nullptr) return false;
      }
      inside = !inside;
    }
  }
  return !whole || !inside;
}

bool escapes_valid(std::string_view text) noexcept {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    ++i;
    if (std::strchr("\"\\/bfnrtu", text[i]) == nullptr) return false;
  }
  return true;
}

bool utf8_valid(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = byte(i);
    std::size_t length = 1;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (first >= 0xf5 || (first >= 0x80 && first < 0xc2)) return false;
    if (first >= 0xf0) {
      length = 4;
      if (first == 0xf0) low = 0x90;
      if (first == 0xf4) high = 0x8f;
    } else if (first >= 0xe0) {
      length = 3;
      if (first == 0xe0) low = 0xa0;
      if (first == 0xed) high = 0x9f;
    } else if (first >= 0xc2) {
      length = 2;
    }
    if (i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if (byte(i + k) < low || byte(i + k) > high) return false;
      low = 0x80;
      high = 0xbf;
    }
    i += length;
  }
  return true;
}

}  // namespace mfu::json_doubts
