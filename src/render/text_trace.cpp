// The block of a diagnosis that traces fill.
#include "render/columns.hpp"
#include "render/text_sections.hpp"

namespace mfu::render {

void text_trace(Screen& screen, const TraceSection& section) {
  screen.line(section.title, Emphasis::strong);
  constexpr std::size_t kIndent = 12;
  for (const TraceSection::Line& line : section.lines) {
    bool first = true;
    for (const std::string& part : wrap(printable(line.text), screen.width() - kIndent)) {
      screen.line(pad_right(first ? "  " + line.label : std::string(), kIndent) + part);
      first = false;
    }
  }
}

}  // namespace mfu::render
