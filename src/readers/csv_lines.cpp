#include "readers/csv_lines.hpp"

#include <algorithm>

#include "mfu/error.hpp"

namespace mfu {
namespace {

constexpr std::size_t kLongestLine = 1024 * 1024;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

bool CsvLines::next_line() {
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
      Place place;
      place.file = bytes_.name();
      place.line = static_cast<decltype(place.line)>(line_ + 1);
      throw Error(ErrorKind::format, "a line is too long for a table", place);
    }
    if (at_ < size_) {
      ++at_;
      ++line_;
      return true;
    }
  }
}

bool CsvLines::next(std::vector<std::string_view>& cells) {
  do {
    if (!next_line()) return false;
  } while (trimmed(text_).empty());
  cells.clear();
  std::string_view rest = text_;
  if (line_ == 1 && rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  for (;;) {
    const std::size_t comma = rest.find(',');
    cells.push_back(trimmed(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace mfu
