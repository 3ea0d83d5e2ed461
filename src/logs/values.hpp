// Numbers, times and names in the text of a log line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/temporary.hpp"

namespace mfu {

inline bool digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

// A cursor over the text of one line.
class LogText {
 public:
  explicit LogText(std::string_view text) noexcept : text_(text) {}
  template <TemporaryString Text>
  explicit LogText(Text&& text) = delete;

  // Moves behind the next `literal`. False, and nothing moves, where there is none.
  bool find(std::string_view literal) noexcept;
  bool take(std::string_view literal) noexcept;  // only when it comes next
  void blanks() noexcept;
  [[nodiscard]] std::string_view rest() const noexcept { return text_.substr(at_); }
  [[nodiscard]] char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }

  // The number that comes next, after blanks, times 10^shift: "7,282", "-1", "9e+3", ".5". None,
  // and nothing moves, for anything else. "nan" and "inf" are taken and give none.
  std::optional<double> number(int shift = 0) noexcept;
  // The same with a suffix K, M, G (or B), T, P where one is glued on: "11.5K".
  std::optional<double> si_number(int shift = 0) noexcept;
  std::optional<std::int64_t> integer() noexcept;

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// The number behind the first `key` in `text`.
[[nodiscard]] std::optional<double> number_after(std::string_view text, std::string_view key,
                                                 int shift = 0) noexcept;
[[nodiscard]] std::optional<double> si_number_after(std::string_view text, std::string_view key,
                                                    int shift = 0) noexcept;

// A number that is above 0; a step time or rate that is not says nothing.
[[nodiscard]] inline std::optional<double> positive(std::optional<double> value) noexcept {
  return value && *value > 0.0 ? value : std::nullopt;
}

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
template <TemporaryString Text>
std::string_view trimmed(Text&& text) = delete;

// "2025-12-18 22:03:52", "2025-12-18T22:03:52,123Z", "01/17/2024 13:47:27" at the start of `text`:
// seconds since the epoch, read as UTC, and the characters taken.
struct Timestamp {
  double seconds = 0.0;
  std::size_t length = 0;
};
[[nodiscard]] std::optional<Timestamp> timestamp_at(std::string_view text) noexcept;

// Parts of a JSON object on one line, found without reading all of it.
// The text of the value of `key` (with its quotes where it is a string); empty: no such key.
[[nodiscard]] std::string_view json_value(std::string_view object, std::string_view key) noexcept;
template <TemporaryString Text>
std::string_view json_value(Text&& object, std::string_view key) = delete;

}  // namespace mfu
