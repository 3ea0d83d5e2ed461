// A pull parser for JSON and JSON Lines over a window of bytes: what is asked for is parsed, the
// rest is checked and skipped. Memory: the window. No recursion: depth is counted, and limited.
//
// Stricter than many: UTF-8 must be valid, lone surrogates, NaN and Infinity are refused by name.
// A UTF-8 byte order mark at the start is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"

namespace mfu {

// The input ended, or the line did in JSON Lines, inside a value.
class JsonCutOff : public Error {
 public:
  using Error::Error;
};

class JsonCursor {
 public:
  enum class Kind : unsigned char { object, array, string, number, boolean, null, end };

  struct Limits {
    std::size_t window = 256 * 1024;   // bytes; small ones are for tests
    std::size_t depth = 128;           // of nested objects and arrays
    std::size_t string = 1024 * 1024;  // bytes of a string that is handed out
    std::size_t number = 4096;         // characters of a number
    bool lines = false;                // JSON Lines: a newline inside a value is a cut-off line
  };

  explicit JsonCursor(ByteSource& source) : JsonCursor(source, Limits{}) {}
  JsonCursor(ByteSource& source, const Limits& limits);

  // What comes next. `end` only at the top level, at the end of the input.
  [[nodiscard]] Kind peek();

  void enter_object();
  // False: the object has ended. Else the cursor stands before the key's value.
  [[nodiscard]] bool next_key(std::string& key);
  void enter_array();
  // False: the array has ended. Else the cursor stands before an element.
  [[nodiscard]] bool next_element();

  [[nodiscard]] std::string string();
  void string(std::string& out);
  // The number times 10^shift. Throws Error{format} when it is too large for a double.
  [[nodiscard]] double number(int shift = 0);
  // A number without a fraction that fits 64 bits; 1e3 and 5.0 are whole too.
  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] bool boolean();
  void null();

  void skip_value();
  // The text of the next value, white space included. Throws Error{format} beyond `cap` bytes.
  [[nodiscard]] std::string capture_value(std::size_t cap);

  // A number or null (NaN) as series have them.
  enum class Element : unsigned char {
    plain,
    negative,    // only where negative numbers are refused
    too_large,   // more than `most`
    not_finite,  // the tokens NaN, Infinity, -Infinity, or a number that overflows
    other,       // a string, an object ...
  };
  struct NumberRule {
    int shift = 0;  // the number is multiplied by 10^shift
    double most = 0.0;
    bool negative_allowed = false;
  };
  // Anything but plain is not consumed: the cursor stands before it, for the complaint.
  [[nodiscard]] Element sample(double& out, const NumberRule& rule);
  struct Series {
    Element stopped_at = Element::plain;  // plain: the whole array was taken
    std::size_t index = 0;                // of the element that stopped it
  };
  // The fast path: an array of them, appended to `out`. Stops at the first that is not plain.
  [[nodiscard]] Series number_array(std::vector<double>& out, const NumberRule& rule);

  // Throws Error{format} when anything but white space is left.
  void finish();
  // JSON Lines: the rest of this line must be white space. False: the input ended.
  [[nodiscard]] bool next_line();
  // JSON Lines, after an error: true when every byte from here to the end of the input is zero (and
  // there is one): what a file system leaves behind when a machine goes down during an append.
  // Consumes bytes: only the end or an error can follow.
  [[nodiscard]] bool zeros_to_the_end();
  // JSON Lines, after JsonCutOff: gives up the open containers. True: the input goes on.
  [[nodiscard]] bool abandon_line();
  // True when the input ends here (white space aside).
  [[nodiscard]] bool at_end();

  // Of the next byte. `what` stays empty.
  [[nodiscard]] Place place();
  // The same without the file's name, cheaper to keep.
  struct Spot {
    std::int64_t line = 0;
    std::int64_t column = 0;
  };
  [[nodiscard]] Spot spot();

  // What the next token looks like, for a message: "a string", "NaN", "'x'".
  [[nodiscard]] std::string describe_next();

  [[noreturn]] void fail(std::string message, std::string hint = {});

 private:
  // Makes at least one more byte follow `at_`; keeps [at_, end_). False at the end of the input.
  bool refill();
  // The next byte that is not white space, not consumed; -1 at the end of the input.
  int significant() {
    const auto byte = static_cast<unsigned char>(*at_);  // at the window's end: the terminator
    return byte > ' ' ? byte : skip_white_space();
  }
  int skip_white_space();
  // Consumes a byte inside a token; the end of the input is an error.
  char take_byte();
  void literal(std::string_view text);
  // Makes the whole number at `at_` lie in the window.
  void need_whole_number();
  void read_string(std::string* out);
  void read_escape(std::string* out);
  void read_multibyte(std::string* out);
  std::uint32_t read_hex4();
  void open_container(char kind);
  void close_container();
  void count_lines();
  [[noreturn]] void fail_cut_off(std::string_view where);
  [[noreturn]] void fail_unexpected(std::string_view wanted);
  Element classify(char first);
  Element take_sample(double& out, const NumberRule& rule);

  ByteSource& source_;
  Limits limits_;
  std::vector<char> window_;  // one byte longer than its content, which ends in '\0'
  char* at_ = nullptr;
  char* end_ = nullptr;
  bool input_ended_ = false;

  std::vector<char> open_;  // '{' or '[' for each container that is open
  bool fresh_ = false;      // nothing of the innermost container has been read yet

  // Newlines are counted only when a place is asked for or the window moves on.
  std::int64_t base_offset_ = 0;  // of the window's first byte
  std::int64_t lines_before_ = 0;
  std::int64_t line_start_ = 0;  // offset of the current line's first byte
  char* counted_to_ = nullptr;

  std::string* captured_ = nullptr;
  char* capture_from_ = nullptr;
  std::size_t capture_cap_ = 0;
};

}  // namespace mfu
