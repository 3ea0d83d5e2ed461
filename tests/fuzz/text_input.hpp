// For readers of text: their notes as text, and that the answer does not hang on the pieces in
// which the bytes come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mfu/error.hpp"

namespace mfu::fuzz {

inline std::string told(const Notes& notes) {
  std::string text;
  for (const Note& note : notes.all()) {
    text += "\n" + note.code.str() + ' ' + std::to_string(note.count) + ' ' + note.first.str();
  }
  return text;
}

// `outcome`: of the bytes in pieces of so many, as text.
inline void check_in_pieces(const std::uint8_t* data, std::size_t size,
                            std::string (*outcome)(std::string_view, std::size_t)) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome(bytes, SIZE_MAX);
  // Where corrupt gzip data is noticed depends on the pieces.
  if (!bytes.starts_with("\x1f\x8b") && outcome(bytes, 5) != whole) std::abort();
}

}  // namespace mfu::fuzz
