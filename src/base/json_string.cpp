// Strings of the JSON cursor: escapes, surrogates, UTF-8.
#include <cstdint>
#include <string>

#include "base/json_cursor.hpp"

namespace mfu {

namespace {

// Characters of a string that need no look: not a quote, a backslash, a control or beyond ASCII.
bool is_plain(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

}  // namespace

std::string JsonCursor::string() {
  std::string text;
  string(text);
  return text;
}

void JsonCursor::string(std::string& out) {
  if (significant() != '"') fail_unexpected("a string");
  out.clear();
  read_string(&out);
}

void JsonCursor::read_string(std::string* out) {
  ++at_;  // the quote
  for (;;) {
    char* from = at_;
    while (is_plain(*at_)) ++at_;  // the terminator is a control character: it stops this
    if (out != nullptr) {
      out->append(from, at_);
      if (out->size() > limits_.string) {
        fail("a string of more than " + std::to_string(limits_.string) + " bytes");
      }
    }
    if (at_ == end_) {
      if (!refill()) fail_cut_off("inside a string");
      continue;
    }
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte == '"') {
      ++at_;
      return;
    }
    if (byte == '\\') {
      ++at_;
      read_escape(out);
    } else if (byte < 0x20) {
      if (limits_.lines && byte == '\n') fail_cut_off("inside a string");
      fail("a control character inside a string", "write \\n, \\t or \\u00XX");
    } else {
      read_multibyte(out);
    }
  }
}

std::uint32_t JsonCursor::read_hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = take_byte();
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint32_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<std::uint32_t>(c - 'A') + 10;
    } else {
      --at_;
      fail("\\u needs four hexadecimal digits");
    }
    code = code * 16 + digit;
  }
  return code;
}

void JsonCursor::read_escape(std::string* out) {
  const char c = take_byte();
  char plain = '\0';
  switch (c) {
    case '"':
    case '\\':
    case '/':
      plain = c;
      break;
    case 'b':
      plain = '\b';
      break;
    case 'f':
      plain = '\f';
      break;
    case 'n':
      plain = '\n';
      break;
    case 'r':
      plain = '\r';
      break;
    case 't':
      plain = '\t';
      break;
    case 'u':
      break;
    default:
      --at_;
      fail("an unknown escape in a string", "a backslash is written \\\\");
  }
  if (c != 'u') {
    if (out != nullptr) out->push_back(plain);
    return;
  }
  std::uint32_t code = read_hex4();
  if (code >= 0xDC00 && code <= 0xDFFF) fail("the second half of a surrogate pair without a first");
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (take_byte() != '\\' || take_byte() != 'u') {
      --at_;
      fail("the first half of a surrogate pair without a second");
    }
    const std::uint32_t low = read_hex4();
    if (low < 0xDC00 || low > 0xDFFF) {
      fail("the first half of a surrogate pair without a second");
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (out == nullptr) return;
  const auto push = [out](std::uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0 | (code >> 6));
    push(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    push(0xE0 | (code >> 12));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  } else {
    push(0xF0 | (code >> 18));
    push(0x80 | ((code >> 12) & 0x3F));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  }
}

void JsonCursor::read_multibyte(std::string* out) {
  const char first = take_byte();
  const auto lead = static_cast<unsigned char>(first);
  int more = 0;
  std::uint32_t code = 0;
  std::uint32_t least = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    more = 1;
    code = lead & 0x1FU;
    least = 0x80;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    more = 2;
    code = lead & 0x0FU;
    least = 0x800;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    more = 3;
    code = lead & 0x07U;
    least = 0x10000;
  } else {
    --at_;
    fail("a string is not valid UTF-8", "save the file as UTF-8");
  }
  if (out != nullptr) out->push_back(first);
  for (int i = 0; i < more; ++i) {
    const char c = take_byte();
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) {
      --at_;
      fail("a string is not valid UTF-8", "save the file as UTF-8");
    }
    code = (code << 6) | (byte & 0x3FU);
    if (out != nullptr) out->push_back(c);
  }
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    fail("a string is not valid UTF-8", "save the file as UTF-8");
  }
}

}  // namespace mfu
