// Lines of a log: streamed, without colours, and with what launchers put in front of them taken off
// and kept as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace mfu {

struct LogLine {
  std::string_view text;     // without prefixes
  std::int64_t number = 0;   // of the file, from 1; pieces between carriage returns share it
  std::int64_t rank = -1;    // said by the prefix; -1: not said
  std::uint64_t origin = 0;  // which process printed it, as far as the prefix tells; 0: unknown
  std::optional<double> timestamp_s;
  std::int64_t iteration = -1;  // the last step that any format has found
};

class LineReader {
 public:
  // Bytes of a line beyond `most` are dropped.
  LineReader(ByteSource& source, std::function<void(std::string_view)> tee,
             std::size_t most = 64 * 1024);

  // False at the end. The text is valid until the next call.
  [[nodiscard]] bool next(std::string_view& text, std::int64_t& number);

  // Of what next() has handed out so far.
  [[nodiscard]] std::int64_t long_lines() const noexcept { return long_lines_; }
  [[nodiscard]] std::int64_t first_long_line() const noexcept { return first_long_line_; }
  // The last line has no end and stopped inside a number or word, which is left out.
  [[nodiscard]] bool cut_last_line() const noexcept { return cut_last_line_; }

 private:
  bool refill();
  std::string_view without_colours(std::string_view text);

  ByteSource& source_;
  std::function<void(std::string_view)> tee_;
  std::size_t most_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::int64_t number_ = 1;
  std::int64_t long_lines_ = 0;
  std::int64_t first_long_line_ = 0;
  bool cut_last_line_ = false;
  std::string plain_;
};

// Takes off what launchers and logging libraries put in front, again and again: "3: ", "[rank3]:",
// "host/0 [default3]:", "host-3: ", "[worker :3]", dates, levels, "INFO:module:", pods ...
// Fills rank, origin and timestamp_s.
void strip_prefixes(LogLine& line);

}  // namespace mfu
