#include "render/text/screen.hpp"

#include <algorithm>

#include "render/columns.hpp"

namespace mfu::render {
namespace {

constexpr std::size_t kWidest = 80;
constexpr std::size_t kNarrowest = 46;  // label, seconds and share

}  // namespace

Screen::Screen(const RenderStyle& style)
    : width_(std::clamp(static_cast<std::size_t>(std::max(style.width, 0)), kNarrowest, kWidest)),
      color_(style.color),
      utf8_(style.utf8) {}

void Screen::line(std::string_view text, Emphasis emphasis) {
  std::string shown = fit(printable(text), width_);
  while (!shown.empty() && shown.back() == ' ') shown.pop_back();
  // At the start of a line it is a command to GitHub's runner, blanks before it or not. Names come
  // from files, and lines are broken anywhere.
  const std::size_t start = shown.find_first_not_of(' ');
  if (start != std::string::npos && shown.compare(start, 2, "::") == 0) shown[start] = '?';
  if (color_ && emphasis != Emphasis::none && !shown.empty()) {
    out_ += emphasis == Emphasis::strong   ? "\x1b[1m"
            : emphasis == Emphasis::blamed ? "\x1b[1;33m"
                                           : "\x1b[2m";
    out_ += shown;
    out_ += "\x1b[0m";
  } else {
    out_ += shown;
  }
  out_ += '\n';
}

void Screen::wrapped(std::string_view text, std::size_t indent, Emphasis emphasis) {
  for (const std::string& part : wrap(printable(text), width_ - indent)) {
    line(std::string(indent, ' ') + part, emphasis);
  }
}

void Screen::title(std::string_view text, std::string_view beside) {
  const std::string shown = printable(text);
  const std::string rest = "   " + printable(beside);
  if (columns_of(shown) + columns_of(rest) <= width_) {
    line(shown + rest);
    return;
  }
  wrapped(text, 0);
  line(rest);
}

void Screen::hanging(std::string_view label, std::string_view text, Emphasis emphasis) {
  bool first = true;
  for (const std::string& part : wrap(printable(text), width_ - kHanging)) {
    line(pad_right(first ? label : std::string_view{}, kHanging) + part, emphasis);
    first = false;
  }
}

void Screen::hanging(std::string_view label, const std::vector<std::string>& texts) {
  bool first = true;
  for (const std::string& text : texts) {
    hanging(first ? label : std::string_view{}, text);
    first = false;
  }
}

void Screen::pieces(const std::vector<std::string>& all, Emphasis emphasis) {
  std::string text;
  for (const std::string& piece : all) {
    if (!text.empty() && columns_of(text) + 4 + columns_of(piece) > width_) {
      line(text, emphasis);
      text.clear();
    }
    text += (text.empty() ? "  " : "    ") + piece;
  }
  if (!text.empty()) line(text, emphasis);
}

}  // namespace mfu::render
