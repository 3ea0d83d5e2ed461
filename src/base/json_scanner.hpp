// Finds the events of a bulk trace at the speed of memory: a JSON document that is an array of
// objects, or an object with such an array under "traceEvents" and other keys before and after it.
// An event is found by its braces; nothing in it is looked at until somebody asks.
//
// Tolerant, because traces in the field are not valid JSON: what is odd is counted, with the place
// of the first, and the scan goes on at the next event. (JsonCursor is the strict parser.)
//
// Memory: one window, whatever the size of the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"

namespace mfu {

namespace json_blocks {
struct Unusual;
}

enum class JsonOddity : unsigned char {
  truncated,           // the bytes end inside an event or before the brackets are closed
  malformed_event,     // quotes or braces do not match: left out up to the next event
  malformed_metadata,  // the same outside the events: the rest of the metadata is left out
  trailing_comma,      // a comma before a closing bracket, or two
  missing_comma,
  control_character,  // events with raw control characters in a string
  invalid_escape,     // events with a backslash before a character that it cannot escape
  not_utf8,           // events with bytes that are not UTF-8
  trailing_bytes,     // something after the end of the document
  count_
};

class JsonScanner {
 public:
  struct Limits {
    std::size_t window = 256 * 1024;       // bytes; small ones are for tests
    std::size_t event = 1024 * 1024;       // a longer event is taken for broken quotes
    std::size_t field = 16 * 1024 * 1024;  // metadata that is handed out
  };
  enum class Part : unsigned char { event, field, end };

  // `wanted`: the keys beside traceEvents whose values are handed out. Both must outlive the scan.
  JsonScanner(ByteSource& source, const std::vector<std::string_view>& wanted)
      : JsonScanner(source, wanted, Limits{}) {}
  JsonScanner(ByteSource& source, const std::vector<std::string_view>& wanted,
              const Limits& limits);
  JsonScanner(ByteSource& source, const std::vector<std::string_view>&& wanted) = delete;
  JsonScanner(ByteSource& source, const std::vector<std::string_view>&& wanted,
              const Limits& limits) = delete;

  // Throws Error{format} when the bytes do not start as such a document, Error{insufficient} when
  // there are none, Error{io} when reading fails.
  [[nodiscard]] Part next();

  // Of the event, braces included, or of the field's value. Valid until next(); at least 64 bytes
  // behind it may be read. In an event strings end where this scanner thinks that they end.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }       // of the field
  [[nodiscard]] std::int64_t offset() const noexcept { return text_offset_; }  // of text()

  // The event that was handed out last is not what an event looks like: counts it as malformed and
  // goes on behind the next boundary between events.
  void reject();

  [[nodiscard]] std::int64_t count(JsonOddity oddity) const noexcept;
  void report(Notes& notes) const;

 private:
  enum class State : unsigned char { start, keys, events, done };
  struct Counted {
    std::int64_t count = 0;
    std::int64_t first = -1;
  };

  bool more();
  bool blanks();  // skips white space; false at the end of the bytes
  void note(JsonOddity oddity, std::size_t at);
  void start();
  void finish();
  [[nodiscard]] bool next_event();
  [[nodiscard]] bool next_field();
  [[nodiscard]] bool take_event();
  [[nodiscard]] bool boundary_ahead() const;
  bool resync(std::size_t from);
  bool find_events();
  bool cut_off();
  bool pass_key();
  bool pass_value(bool keep);
  void look_closer(std::string_view text, const json_blocks::Unusual& seen);
  [[nodiscard]] Place place(std::size_t at) const;

  ByteSource& source_;
  const std::vector<std::string_view>& wanted_;
  Limits limits_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::int64_t base_ = 0;  // offset of buffer_[0] in the (decompressed) bytes
  bool ended_ = false;
  State state_ = State::start;
  bool array_form_ = false;
  bool saw_events_ = false;
  bool comma_due_ = false;
  std::string_view text_;
  std::int64_t text_offset_ = 0;
  std::string key_;
  std::string value_;
  std::array<Counted, static_cast<std::size_t>(JsonOddity::count_)> counted_{};
};

}  // namespace mfu
