// Lines of a comma-separated table as `nvidia-smi` writes it: no quotes, ", " between the cells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace mfu {

class CsvLines {
 public:
  explicit CsvLines(ByteSource& bytes) : bytes_(bytes), piece_(64 * 1024) {}

  // The cells of the next line that is not blank, trimmed; false at the end. Views are valid until
  // the next call. A line longer than 1 MiB is Error{format}.
  [[nodiscard]] bool next(std::vector<std::string_view>& cells);
  [[nodiscard]] std::int64_t line() const noexcept { return line_; }

 private:
  [[nodiscard]] bool next_line();

  ByteSource& bytes_;
  std::vector<char> piece_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::string text_;
  std::int64_t line_ = 0;
};

}  // namespace mfu
