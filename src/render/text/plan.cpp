// The screen of plan: the answer, the tables, what is left out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

constexpr std::size_t kPlanIndent = 4;
constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastWords = 12;

struct Widths {
  std::size_t words = 0;
  std::vector<std::size_t> numbers;  // of the columns that have room
};

// Columns from the left, as many as fit.
Widths widths_of(const PlanTable& table, std::size_t room) {
  Widths widths;
  for (const PlanTable::Row& row : table.rows) {
    widths.words = std::max(widths.words, columns_of(row.cells.front()));
  }
  std::size_t used = kPlanIndent + kLeastWords;
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    std::size_t width = columns_of(table.heads[i]);
    for (const PlanTable::Row& row : table.rows) {
      if (i + 1 < row.cells.size()) width = std::max(width, columns_of(row.cells[i + 1]));
    }
    if (used + kGap + width > room) break;
    used += kGap + width;
    widths.numbers.push_back(width);
  }
  widths.words = std::min(widths.words, room - (used - kLeastWords));
  // The title is above the first column and may widen it, so that the heads stay on their line.
  const std::size_t title = columns_of(table.title) + 2;
  if (title > kPlanIndent + widths.words && title + used - kPlanIndent - kLeastWords <= room) {
    widths.words = title - kPlanIndent;
  }
  return widths;
}

void heads(Screen& screen, const PlanTable& table, const Widths& widths) {
  std::string text = "  " + table.title;
  const std::size_t edge = kPlanIndent + widths.words;
  if (columns_of(text) > edge) {
    screen.line(text, Emphasis::strong);
    text.clear();
  }
  text = pad_right(text, edge);
  for (std::size_t i = 0; i < widths.numbers.size(); ++i) {
    text += pad_left(table.heads[i], widths.numbers[i] + kGap);
  }
  screen.line(text, Emphasis::strong);
}

void plot(Screen& screen, const PlanSection& section) {
  if (!section.findings.schedule) return;
  const ScheduleInput& schedule = *section.findings.schedule;
  constexpr std::size_t kHeight = 7;
  constexpr std::size_t kLabels = 8;
  const std::size_t width = std::min<std::size_t>(60, screen.width() - kPlanIndent - kLabels - 2);
  std::vector<std::string> lines(kHeight, std::string(width, ' '));
  for (std::size_t x = 0; x < width; ++x) {
    const double part = static_cast<double>(x) / static_cast<double>(width - 1);
    const double step = std::max(1.0, std::round(part * schedule.steps));
    const double share = rate_share(schedule, step);
    const auto y = static_cast<std::size_t>(
        std::lround((1.0 - std::min(1.0, share)) * static_cast<double>(kHeight - 1)));
    lines[y][x] = '*';
  }
  for (std::size_t y = 0; y < kHeight; ++y) {
    const std::string label = y == 0 ? "peak" : y + 1 == kHeight ? "0" : "";
    screen.line(std::string(kPlanIndent, ' ') + pad_left(label, kLabels - 2) + " |" + lines[y]);
  }
  screen.line(std::string(kPlanIndent + kLabels - 1, ' ') + "+" + std::string(width, '-'));
  const std::string last = "step " + format_grouped(schedule.steps);
  screen.line(std::string(kPlanIndent + kLabels, ' ') + "1" + pad_left(last, width - 1));
}

void table_of(Screen& screen, const PlanSection& section, const PlanTable& table) {
  screen.blank();
  const Widths widths = widths_of(table, screen.width());
  if (table.plot) {
    screen.wrapped(table.title, 2, Emphasis::strong);
    plot(screen, section);
    PlanTable untitled = table;
    untitled.title.clear();
    heads(screen, untitled, widths);
  } else {
    heads(screen, table, widths);
  }
  std::size_t edge = kPlanIndent + widths.words;
  for (const std::size_t width : widths.numbers) edge += width + kGap;
  for (const PlanTable::Row& row : table.rows) {
    if (row.total)
      screen.line(std::string(kPlanIndent, ' ') + std::string(edge - kPlanIndent, '-'));
    std::string text = row.own ? "  > " : "    ";
    text += pad_right(fit(row.cells.front(), widths.words), widths.words);
    for (std::size_t i = 0; i < widths.numbers.size() && i + 1 < row.cells.size(); ++i) {
      text += pad_left(row.cells[i + 1], widths.numbers[i] + kGap);
    }
    screen.line(text, row.own ? Emphasis::blamed : Emphasis::none);
  }
  for (const std::string& remark : table.remarks) screen.wrapped(remark, 2);
}

void labelled(Screen& screen, const std::vector<PlanLine>& lines, std::size_t indent) {
  for (const PlanLine& line : lines) {
    bool first = true;
    for (const std::string& part : wrap(printable(line.text), screen.width() - indent)) {
      screen.line(pad_right(first ? "  " + line.label : std::string(), indent) + part);
      first = false;
    }
  }
}

}  // namespace

void text_plan(Screen& screen, const PlanSection& section) {
  constexpr std::size_t kLabel = 12;
  screen.wrapped(section.title, 0);
  if (!section.title.empty()) screen.blank();
  screen.pieces(section.headline, Emphasis::strong);
  screen.wrapped(to_text(section.fingerprint), 2, Emphasis::quiet);
  if (!section.open_text.empty()) screen.wrapped(section.open_text, 2, Emphasis::blamed);
  labelled(screen, section.lines, kLabel);
  for (const PlanTable& table : section.tables) table_of(screen, section, table);
  for (const std::string* missing : {&section.optimal_missing, &section.batch_missing}) {
    if (missing->empty()) continue;
    screen.blank();
    screen.wrapped(*missing + ".", 2);
  }
  if (!section.advice.empty()) screen.blank();
  for (const std::string& line : section.advice) screen.wrapped(line, 0);
  if (section.left_out.empty()) return;
  screen.line("Left out", Emphasis::strong);
  labelled(screen, section.left_out, kLabel);
}

}  // namespace mfu::render
