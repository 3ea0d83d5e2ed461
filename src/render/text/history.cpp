// The screen of history: a line of what was, what is usual, when it changed.
#include <algorithm>
#include <array>
#include <cmath>

#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/compare/history_section.hpp"

namespace mfu::render {
namespace {

constexpr std::size_t kMostShown = 10;  // of the records of a job

// One sign for each value, lowest to highest; the last ones where there are too many.
std::string sparkline(const std::vector<double>& values, std::size_t room, bool utf8) {
  constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kAscii{"_", ".", ",", "-", "~", "=", "*", "#"};
  const std::size_t shown = std::min(values.size(), room);
  const auto begin = values.end() - static_cast<std::ptrdiff_t>(shown);
  if (begin == values.end()) return "";
  const auto [low, high] = std::minmax_element(begin, values.end());
  // A steady level should look steady: one percent fills the height.
  constexpr double kLeastHeight = 0.01;
  const double height = std::max(kLeastHeight, *high - *low);
  std::string line;
  for (auto value = begin; value != values.end(); ++value) {
    const double place = (*value - *low) / height;
    const auto step = static_cast<std::size_t>(std::min(7.0, std::floor(place * 8.0)));
    line += utf8 ? kBlocks[step] : kAscii[step];
  }
  return line;
}

}  // namespace

void text_against(Screen& screen, const HistorySection& section) {
  screen.hanging("history", section.against_line);
  if (section.series.empty()) return;
  const std::string line = sparkline(section.series.front().log_speeds, 60, screen.utf8());
  if (!line.empty()) screen.hanging("", line);
  for (const std::string& change : section.texts.front().changes) screen.hanging("", change);
}

void text_history(Screen& screen, const HistorySection& section) {
  screen.line(section.title, Emphasis::strong);
  for (std::size_t i = 0; i < section.series.size(); ++i) {
    const HistorySeries& series = section.series[i];
    const HistorySection::SeriesText& text = section.texts[i];
    screen.blank();
    screen.line(text.title, Emphasis::strong);
    screen.wrapped(to_text(series.fingerprint), 2, Emphasis::quiet);
    if (section.action != HistoryAction::add) {
      const std::string line = sparkline(series.log_speeds, screen.width() - 4, screen.utf8());
      if (!line.empty()) screen.line("  " + line);
      screen.wrapped(text.baseline, 2);
    }
    for (const std::string& change : text.changes) screen.wrapped(change, 2, Emphasis::blamed);
    if (section.action == HistoryAction::baseline) continue;
    const std::size_t first =
        text.entries.size() > kMostShown ? text.entries.size() - kMostShown : 0;
    if (first > 0) screen.line("    ... and " + std::to_string(first) + " before");
    for (std::size_t k = first; k < text.entries.size(); ++k) {
      screen.line("    " + pad_right(fit(text.entries[k].name, 21), 22) + text.entries[k].text);
    }
  }
}

}  // namespace mfu::render
