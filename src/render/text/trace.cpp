// The block of a diagnosis that traces fill.
#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/diagnose/trace_section.hpp"

namespace mfu::render {

namespace {

void labelled(Screen& screen, std::string_view title,
              const std::vector<TraceSection::Line>& lines) {
  screen.line(title, Emphasis::strong);
  constexpr std::size_t kIndent = 12;
  for (const TraceSection::Line& line : lines) {
    bool first = true;
    for (const std::string& part : wrap(printable(line.text), screen.width() - kIndent)) {
      screen.line(pad_right(first ? "  " + line.label : std::string(), kIndent) + part);
      first = false;
    }
  }
}

}  // namespace

void text_trace(Screen& screen, const TraceSection& section) {
  labelled(screen, section.title, section.lines);
}

void text_replay(Screen& screen, const ReplaySection& section) {
  labelled(screen, section.title, section.lines);
}

}  // namespace mfu::render
