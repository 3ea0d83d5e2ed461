// The block of a diagnosis about what fixes are worth.
#include <algorithm>

#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/diagnose/worth_section.hpp"

namespace mfu::render {

void text_worth(Screen& screen, const WorthSection& section) {
  constexpr std::size_t kLabel = 27;
  constexpr std::size_t kGap = 2;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < section.headers.size(); ++i) {
    std::size_t width = columns_of(section.headers[i]);
    for (const WorthSection::Row& row : section.rows) {
      if (i < row.cells.size()) width = std::max(width, columns_of(row.cells[i]));
    }
    widths.push_back(width + kGap);
  }
  // What does not fit is left out from the right; the step always stands.
  std::size_t shown = 0;
  std::size_t used = kLabel;
  while (shown < widths.size() && (shown == 0 || used + widths[shown] <= screen.width())) {
    used += widths[shown++];
  }
  const auto cells = [&](const std::vector<std::string>& texts) {
    std::string line;
    for (std::size_t i = 0; i < std::min(shown, texts.size()); ++i) {
      line += pad_left(texts[i], widths[i]);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
  };
  if (columns_of(section.title) < kLabel) {
    screen.line(pad_right(section.title, kLabel) + cells(section.headers), Emphasis::strong);
  } else {
    screen.wrapped(section.title, 0, Emphasis::strong);
    screen.line(std::string(kLabel, ' ') + cells(section.headers));
  }
  for (const WorthSection::Row& row : section.rows) {
    if (row.cells.empty()) {
      screen.line("  " + row.label);
    } else {
      screen.line(pad_right(fit("    " + row.label, kLabel), kLabel) + cells(row.cells));
    }
  }
  for (const std::string& remark : section.remarks) screen.wrapped(remark, 4);
}

}  // namespace mfu::render
