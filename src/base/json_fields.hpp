// The members of one object of a bulk trace, whose bounds JsonScanner has found.
#pragma once

#include <string_view>

#include "base/temporary.hpp"

namespace mfu {

// One member of an object's text, as a tolerant reader sees it.
struct JsonField {
  std::string_view key;    // between the quotes, escapes left alone
  std::string_view value;  // a string without its quotes; else the whole text
  bool text = false;       // value was a string
};

// Walks over the members of an object whose text comes from JsonScanner. An object as a value is
// not passed over before somebody asks for what is behind it: value is then its brace alone, and it
// may be walked over by enter() and leave().
class JsonFields {
 public:
  explicit JsonFields(std::string_view object) noexcept
      : at_(object.data() + 1), end_(object.data() + object.size()) {}
  template <TemporaryString Text>
  explicit JsonFields(Text&& object) = delete;
  // False: the object ended, or it is broken().
  [[nodiscard]] bool next(JsonField& out) noexcept;
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  // Only after next() gave an object.
  [[nodiscard]] JsonFields enter() const noexcept;
  // Goes on behind the object that was entered, where `inner` has walked to its end.
  void leave(const JsonFields& inner) noexcept;

 private:
  bool fail() noexcept {
    broken_ = true;
    return false;
  }
  void leave_at(const char* at) noexcept;

  const char* at_;
  const char* end_;
  const char* nested_ = nullptr;  // the brace of an object that was given and not passed
  bool ended_ = false;
  bool broken_ = false;
};

}  // namespace mfu
