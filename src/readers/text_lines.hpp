// Lines of a text that a monitoring tool wrote, and the cells in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/temporary.hpp"
#include "mfu/error.hpp"

namespace mfu {

class TextLines {
 public:
  explicit TextLines(ByteSource& bytes) : bytes_(bytes), piece_(64 * 1024) {}

  // The next line that is not blank, trimmed; false at the end. Valid until the next call. A line
  // longer than 1 MiB is Error{format}.
  [[nodiscard]] bool next(std::string_view& line);
  [[nodiscard]] Place place() const;

 private:
  [[nodiscard]] bool next_line();

  ByteSource& bytes_;
  std::vector<char> piece_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::string text_;
  std::int64_t line_ = 0;
};

[[nodiscard]] std::string_view stripped(std::string_view text);
template <TemporaryString Text>
std::string_view stripped(Text&& text) = delete;
// As nvidia-smi writes a table: no quotes. Cells are trimmed.
void split_at_commas(std::string_view line, std::vector<std::string_view>& cells);
void split_at_blanks(std::string_view line, std::vector<std::string_view>& words);
template <TemporaryString Text>
void split_at_commas(Text&& line, std::vector<std::string_view>& cells) = delete;
template <TemporaryString Text>
void split_at_blanks(Text&& line, std::vector<std::string_view>& words) = delete;

}  // namespace mfu
