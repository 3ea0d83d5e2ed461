// Lines of a text screen, never wider than its style allows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mfu/render.hpp"

namespace mfu::render {

// Columns of a hanging label: "  why    ".
inline constexpr std::size_t kHanging = 9;

enum class Emphasis { none, strong, blamed, quiet };

class Screen {
 public:
  explicit Screen(const RenderStyle& style);

  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] bool utf8() const noexcept { return utf8_; }

  void line(std::string_view text, Emphasis emphasis = Emphasis::none);
  void blank() { out_ += '\n'; }
  // Wrapped, each line indented.
  void wrapped(std::string_view text, std::size_t indent, Emphasis emphasis = Emphasis::none);
  // What the screen is of, with `beside` on the same line where both fit.
  void title(std::string_view text, std::string_view beside);
  // A label, then text that hangs under itself.
  void hanging(std::string_view label, std::string_view text, Emphasis emphasis = Emphasis::none);
  void hanging(std::string_view label, const std::vector<std::string>& texts);
  // Pieces side by side, on as many lines as they need.
  void pieces(const std::vector<std::string>& all, Emphasis emphasis);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::size_t width_;
  bool color_;
  bool utf8_;
  std::string out_;
};

}  // namespace mfu::render
