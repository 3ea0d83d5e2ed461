#include "readers/text_lines.hpp"

#include <algorithm>

namespace mfu {
namespace {

constexpr std::size_t kLongestLine = 1024 * 1024;

}  // namespace

std::string_view stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void split_at_commas(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(stripped(line.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

void split_at_blanks(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  for (;;) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return;
    line.remove_prefix(first);
    const std::size_t end = line.find_first_of(" \t");
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end);
  }
}

Place TextLines::place() const {
  Place where;
  where.file = bytes_.name();
  where.line = line_;
  return where;
}

bool TextLines::next_line() {
  text_.clear();
  for (bool any = false;;) {
    if (at_ == size_) {
      size_ = bytes_.read(piece_.data(), piece_.size());
      at_ = 0;
      if (size_ == 0) {
        if (any) ++line_;
        return any;
      }
    }
    any = true;
    const char* begin = piece_.data() + at_;
    const char* end = std::find(begin, static_cast<const char*>(piece_.data() + size_), '\n');
    text_.append(begin, end);
    at_ += static_cast<std::size_t>(end - begin);
    if (text_.size() > kLongestLine) {
      Place where = place();
      ++where.line;
      throw Error(ErrorKind::format, "a line is too long for a table", where);
    }
    if (at_ < size_) {
      ++at_;
      ++line_;
      return true;
    }
  }
}

bool TextLines::next(std::string_view& line) {
  do {
    if (!next_line()) return false;
    line = text_;
    if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    line = stripped(line);
  } while (line.empty());
  return true;
}

}  // namespace mfu
