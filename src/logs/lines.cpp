#include "logs/lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mfu {

namespace {

constexpr std::size_t kPiece = 256 * 1024;

bool part_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == ',' || c == '+' || c == '-' || c == 'e' ||
         c == 'E';
}

const char* find(const char* from, const char* to, char wanted) {
  return static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(to - from)));
}

}  // namespace

LineReader::LineReader(ByteSource& source, std::function<void(std::string_view)> tee,
                       std::size_t most)
    : source_(source), tee_(std::move(tee)), most_(most), buffer_(kPiece + most) {}

// Moves what is left to the front and reads on.
bool LineReader::refill() {
  if (ended_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  if (got == 0) {
    ended_ = true;
    return false;
  }
  if (tee_) tee_({buffer_.data() + end_, got});
  end_ += got;
  return true;
}

std::string_view LineReader::without_colours(std::string_view text) {
  plain_.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain_ += text[i];
      continue;
    }
    if (i + 1 >= text.size() || text[i + 1] != '[') continue;
    // A control sequence: parameters, intermediates, one final byte.
    i += 2;
    while (i < text.size() && text[i] >= '\x20' && text[i] <= '\x3f') ++i;
  }
  return plain_;
}

bool LineReader::next(std::string_view& text, std::int64_t& number) {
  std::size_t searched = at_;
  bool too_long = false;
  for (;;) {
    const char* const from = buffer_.data() + searched;
    const char* const to = buffer_.data() + end_;
    const char* stop = from < to ? find(from, to, '\n') : nullptr;
    if (from < to) {
      const char* const bar = find(from, stop == nullptr ? to : stop, '\r');
      if (bar != nullptr) stop = bar;
    }
    if (stop == nullptr) {
      searched = end_;
      if (end_ - at_ >= most_) {
        // The start is enough; the rest of the line is read over.
        too_long = true;
        end_ = at_ + most_;
        searched = end_;
      }
      const std::size_t before = at_;
      if (refill()) {
        searched -= before - at_;
        continue;
      }
      if (at_ == end_) return false;
      stop = buffer_.data() + end_;
    }
    const char* const start = buffer_.data() + at_;
    text = {start, static_cast<std::size_t>(stop - start)};
    number = number_;
    const bool unfinished = stop == buffer_.data() + end_;
    at_ = static_cast<std::size_t>(stop - buffer_.data()) + (unfinished ? 0 : 1);
    if (unfinished) {
      end_ = at_;
    } else if (*stop == '\n') {
      ++number_;
    }
    if (text.size() > most_) {
      text = text.substr(0, most_);
      too_long = true;
    }
    if (too_long) {
      if (long_lines_++ == 0) first_long_line_ = number;
    }
    if (unfinished || too_long) {
      // The line may end in half a number.
      std::size_t size = text.size();
      while (size > 0 && part_of_number(text[size - 1])) --size;
      if (unfinished && size < text.size()) cut_last_line_ = true;
      text = text.substr(0, size);
    }
    if (text.empty()) {
      if (unfinished) return false;
      searched = at_;
      too_long = false;
      continue;
    }
    if (find(text.data(), text.data() + text.size(), '\x1b') != nullptr) {
      text = without_colours(text);
    }
    return true;
  }
}

}  // namespace mfu
