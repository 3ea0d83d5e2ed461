// Bytes that are no text of ours, told by how they begin: what people hand over by mistake.
#pragma once

#include <string>
#include <string_view>

#include "mfu/error.hpp"

namespace mfu {

enum class ForeignKind { zstd, zip, bzip2, xz, parquet, utf16 };

struct ForeignBytes {
  ForeignKind kind;
  std::string_view bytes;   // that it begins with
  std::string_view called;  // "zstd data"
  std::string_view unpack;  // a command that writes text to standard output; empty: none
  std::string_view hint;    // without such a command; empty: whoever reads knows better
};

// nullptr: none of them.
[[nodiscard]] const ForeignBytes* foreign_bytes(std::string_view head) noexcept;

// "is zstd data", with the way out. `command`: of mfu, to pipe it into; `otherwise`: the hint where
// there is no way out but another file.
[[nodiscard]] Error foreign_error(const ForeignBytes& found, std::string_view command,
                                  std::string_view otherwise, Place place);

}  // namespace mfu
