// Many literals looked for in one pass over a line (Aho and Corasick): most lines of a log concern
// no format, and each format asks about a few words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mfu {

class Needles {
 public:
  // `bits` come back from scan() where `literal` occurs. Returns the literal's number.
  std::size_t add(std::string_view literal, std::uint64_t bits);
  void build();

  // The bits of every literal in `text`; marks the literals as seen.
  [[nodiscard]] std::uint64_t scan(std::string_view text) noexcept {
    std::uint64_t bits = 0;
    std::uint32_t state = 0;
    const std::uint16_t* const next = next_.data();
    for (const char c : text) {
      state = next[(state & kState) * classes_ + class_of_[static_cast<unsigned char>(c)]];
      if ((state & kFound) != 0) bits |= found(state & kState);
    }
    return bits;
  }
  [[nodiscard]] bool seen(std::size_t literal) const noexcept { return seen_[literal] != 0; }

 private:
  static constexpr std::uint32_t kFound = 0x8000;
  static constexpr std::uint32_t kState = 0x7fff;

  std::uint64_t found(std::uint32_t state) noexcept {
    for (const std::uint16_t literal : literals_[state]) seen_[literal] = 1;
    return bits_[state];
  }

  struct Literal {
    std::string_view text;
    std::uint64_t bits;
  };
  std::vector<Literal> all_;
  std::vector<char> seen_;
  std::array<unsigned char, 256> class_of_{};
  std::size_t classes_ = 1;
  std::vector<std::uint16_t> next_;
  std::vector<std::uint64_t> bits_;                   // of a state
  std::vector<std::vector<std::uint16_t>> literals_;  // of a state
};

}  // namespace mfu
