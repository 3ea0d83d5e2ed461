#include "render/columns.hpp"

#include <cstdint>

namespace mfu::render {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// Strict: no overlong forms, no surrogates, nothing over U+10FFFF.
Character next_character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const std::uint32_t lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint32_t tail = byte(at + i);
    if ((tail & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (tail & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, length, true};
}

bool moves_the_cursor(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::size_t columns_of_code(char32_t code) {
  const auto within = [code](char32_t lo, char32_t hi) { return code >= lo && code <= hi; };
  if (within(0x0300, 0x036F) || within(0x20D0, 0x20FF) || within(0xFE00, 0xFE0F)) return 0;
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) ||
                    within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) ||
                    within(0xFFE0, 0xFFE6) || within(0x1F300, 0x1FAFF) || within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

// Bytes of the longest prefix that takes at most `width` columns.
std::size_t prefix_bytes(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    const Character character = next_character(text, at);
    const std::size_t columns = columns_of_code(character.code);
    if (used + columns > width) break;
    used += columns;
    at += character.bytes;
  }
  return at;
}

// Whether the space at `at` stands between a number and its unit: they stay on one line.
bool holds_a_unit(std::string_view text, std::size_t at) {
  if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9') return false;
  std::string_view word = text.substr(at + 1);
  word = word.substr(0, word.find_first_of(" ,;:)"));
  for (const std::string_view unit : {"%", "s", "ms", "us", "ns", "x", "MHz", "TFLOP/s"}) {
    if (word == unit) return true;
  }
  return false;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = next_character(text, at);
    if (text[at] == '[' && clean.ends_with("##")) {
      clean.push_back('?');  // "##[...]" anywhere in a line is a command to GitHub's runner
    } else if (character.valid && !moves_the_cursor(character.code)) {
      clean.append(text.substr(at, character.bytes));
    } else {
      clean.push_back('?');
    }
    at += character.bytes;
  }
  return clean;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = next_character(text, at);
    columns += columns_of_code(character.code);
    at += character.bytes;
  }
  return columns;
}

std::string fit(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string(text);
  if (width <= 3) return std::string(text.substr(0, prefix_bytes(text, width)));
  return std::string(text.substr(0, prefix_bytes(text, width - 3))) + "...";
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  return std::string(columns < width ? width - columns : 0, ' ') + std::string(text);
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (columns_of(text) > width) {
    std::size_t end = prefix_bytes(text, width);
    // Break at the last space that leaves a line; the space itself may stand just past the edge.
    std::size_t space = text.rfind(' ', end);
    while (space != std::string_view::npos && space > 0 && holds_a_unit(text, space)) {
      space = text.rfind(' ', space - 1);
    }
    if (space != std::string_view::npos && space > 0) end = space;
    if (end == 0) end = next_character(text, 0).bytes;  // wider than the line: still move on
    std::string_view line = text.substr(0, end);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace mfu::render
