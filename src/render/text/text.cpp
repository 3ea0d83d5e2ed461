// The screen: answer first, table second, advice last. Never wider than 80 columns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/time_scale.hpp"
#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/renderers.hpp"
#include "render/shown_sums.hpp"
#include "render/text/screen.hpp"
#include "render/text/sections.hpp"
#include "report/compare/compare_section.hpp"
#include "report/compare/history_section.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/scores_section.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/flops_section.hpp"
#include "report/measure/log_section.hpp"
#include "report/measure/peak_section.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

// Columns of the table, from the left: mark and label, seconds, share, bar, factor, efficiency.
constexpr std::size_t kPartLabel = 20;
constexpr std::size_t kSeconds = 10;
constexpr std::size_t kShare = 9;
constexpr std::size_t kBar = 14;
constexpr std::size_t kBarLongest = 12;
constexpr std::size_t kFactor = 9;
constexpr std::size_t kWithout = 9;
constexpr std::size_t kNarrow = 4 + kPartLabel + kSeconds + kShare;

std::string bar_of(double share, double largest, bool utf8) {
  if (!(share > 0) || !(largest > 0)) return "";
  const double length = static_cast<double>(kBarLongest) * std::min(1.0, share / largest);
  std::string bar;
  if (!utf8) {
    return std::string(static_cast<std::size_t>(std::max(1.0, std::round(length))), '#');
  }
  constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::max(1.0, std::round(length * 8)));
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + std::string(kEighths[eighths % 8]);
}

struct PartRow {
  std::string label, seconds, share, bar, factor, without;
  bool blamed = false;
};

void table_row(Screen& screen, const PartRow& row) {
  std::string text = row.blamed ? "  > " : "    ";
  text += pad_right(fit(row.label, kPartLabel - 1), kPartLabel);
  // A number that is too long for its column moves the rest, but never touches its neighbour.
  text += " " + pad_left(row.seconds, kSeconds - 1) + " " + pad_left(row.share, kShare - 1);
  const bool factors = screen.width() >= kNarrow + 2 + kFactor + kWithout;
  const bool bars = screen.width() >= kNarrow + 2 + kBar + kFactor + kWithout;
  if (bars) text += "  " + pad_right(row.bar, kBar);
  if (factors)
    text += (bars ? "" : "  ") + pad_right(row.factor, kFactor) + pad_left(row.without, kWithout);
  screen.line(text, row.blamed ? Emphasis::blamed : Emphasis::none);
}

// Rows that say nothing in most runs are left out when they would show zero.
bool hidden_when_zero(PartId part) {
  return part == PartId::recomputation || part == PartId::pipeline_bubble ||
         part == PartId::unattributed;
}

std::string factor_text(std::optional<double> factor) {
  return factor ? fmt::format("x {:.3f}", *factor) : std::string();
}

void table(Screen& screen, const DiagnoseSection& section) {
  const Diagnosis& diagnosis = section.diagnosis;
  const double step = diagnosis.headline.step_seconds;
  const TimeScale scale = time_scale(step);
  const std::string total =
      fmt::format("{:.{}f} {}", step / scale.unit_seconds, scale.decimals, scale.unit);

  std::string heading = fmt::format("  Where the {} of a step go", total);
  const std::string right = diagnosis.headline.mfu ? "MFU if it were 0" : "efficiency if it were 0";
  constexpr std::size_t kRightEdge = kNarrow + 2 + kBar + kFactor + kWithout;
  if (screen.width() >= kRightEdge) {
    const std::size_t used = columns_of(heading);
    heading += pad_left(right, used < kRightEdge ? kRightEdge - used : 0);
  }
  screen.line(heading, Emphasis::strong);

  std::vector<double> seconds, shares;
  double largest = 0.0;
  for (const Part& part : diagnosis.parts) {
    seconds.push_back(part.seconds / scale.unit_seconds);
    shares.push_back(part.share * 100);
    largest = std::max(largest, part.share);
  }
  const std::vector<std::int64_t> shown_seconds =
      shown_units(seconds, step / scale.unit_seconds, scale.decimals);
  const std::vector<std::int64_t> shown_shares = shown_units(shares, 100.0, 1);

  for (std::size_t i = 0; i < diagnosis.parts.size(); ++i) {
    const Part& part = diagnosis.parts[i];
    const PartText text = i < section.part_texts.size() ? section.part_texts[i] : PartText{};
    const bool zero = shown_seconds[i] == 0 && shown_shares[i] == 0;
    if (zero && hidden_when_zero(part.id) && !text.blamed) continue;
    table_row(
        screen,
        {text.label, unit_text(shown_seconds[i], scale.decimals) + " " + std::string(scale.unit),
         unit_text(shown_shares[i], 1) + " %", bar_of(part.share, largest, screen.utf8()),
         factor_text(text.factor),
         text.efficiency_without ? format_percent(*text.efficiency_without) : std::string(),
         text.blamed});
  }
  screen.line("    " + std::string(std::min(kRightEdge, screen.width()) - 4, '-'));
  table_row(screen, {"step", total, "100.0 %", "",
                     factor_text(diagnosis.headline.mfu ? *diagnosis.headline.mfu
                                                        : diagnosis.headline.parallel_efficiency),
                     "", false});
}

void headline(Screen& screen, const DiagnoseSection& section) {
  const Headline& headline = section.diagnosis.headline;
  const TimeScale scale = time_scale(headline.step_seconds);
  std::vector<std::string> pieces;
  if (headline.mfu) {
    pieces.push_back("MFU " + format_percent(*headline.mfu));
    if (headline.impossible) pieces.back() += "  IMPOSSIBLE";
    if (section.hfu) pieces.push_back("HFU " + format_percent(*section.hfu));
  } else {
    pieces.push_back("parallel efficiency " + format_percent(headline.parallel_efficiency));
  }
  pieces.push_back(fmt::format(
      "step {:.{}f} {} (p95 {:.{}f})", headline.step_seconds / scale.unit_seconds, scale.decimals,
      scale.unit, headline.p95_seconds / scale.unit_seconds, scale.decimals));
  if (headline.tokens_per_second) {
    pieces.push_back(format_grouped(*headline.tokens_per_second) + " tokens/s");
  }
  screen.pieces(pieces, Emphasis::strong);
  screen.wrapped(headline.mfu ? to_text(section.fingerprint) : section.mfu_missing, 2,
                 Emphasis::quiet);
  text_impossible(screen, section.impossible_because);
}

void verdict(Screen& screen, const DiagnoseSection& section) {
  screen.hanging("VERDICT", section.verdict_line, Emphasis::strong);
  screen.hanging("  why", section.why);
  screen.hanging("  health", section.health.checked);
  if (!section.worth.empty()) {
    std::string worth = section.worth;
    if (screen.utf8()) {
      for (std::size_t at = worth.find("->"); at != std::string::npos; at = worth.find("->", at)) {
        worth.replace(at, 2, "→");
      }
    }
    screen.hanging("  worth", worth);
  }
  std::vector<std::string> actions = section.actions;
  bool owner_shown = section.owner.empty();
  if (!actions.empty() && !owner_shown) {
    // The owner stands at the right of the first action where there is room.
    const std::string owner = "owner: " + section.owner;
    const std::size_t room = screen.width() - kHanging;
    const std::size_t needed = columns_of(actions.front()) + 3 + columns_of(owner);
    if (needed <= room) {
      actions.front() += std::string(room - needed + 3, ' ') + owner;
      owner_shown = true;
    }
  }
  const bool decides = section.diagnosis.verdict.family == Family::inconclusive;
  screen.hanging(decides ? "  needs" : "  try", actions);
  if (!owner_shown) screen.hanging("  owner", section.owner);
  if (!section.verify.empty()) screen.hanging("  verify", section.verify);
  if (!section.refuted_by.empty()) screen.hanging("  not if", section.refuted_by);
  std::vector<std::string> also = section.also;
  if (section.references && !section.references->line.empty()) {
    also.push_back(section.references->line);
  }
  screen.hanging("  also", also);
  if (!section.health.clock.empty()) screen.hanging("  clock", section.health.clock);
  std::vector<std::string> remarks = section.health.remarks;
  if (!section.health.two_modes.empty()) remarks.push_back(section.health.two_modes);
  screen.hanging("  remark", remarks);
}

void how_sure(Screen& screen, const DiagnoseSection& section) {
  screen.line("How sure", Emphasis::strong);
  const auto entry = [&](std::string_view label, const std::string& text) {
    if (text.empty()) return;
    constexpr std::size_t kIndent = 12;
    bool first = true;
    for (const std::string& part : wrap(printable(text), screen.width() - kIndent)) {
      screen.line(pad_right(first ? label : std::string_view{}, kIndent) + part);
      first = false;
    }
  };
  entry("  measured", section.measured);
  entry("  derived", section.derived);
  entry("  assumed", section.assumed);
  entry("  unseen", section.unseen);
}

void diagnose(Screen& screen, const DiagnoseSection& section) {
  screen.title(section.title, section.steps_line);
  screen.blank();
  headline(screen, section);
  screen.blank();
  table(screen, section);
  screen.blank();
  verdict(screen, section);
  if (section.worth_table && section.worth_table->on_screen) {
    text_worth(screen, *section.worth_table);
  }
  if (section.replay) text_replay(screen, *section.replay);
  if (section.trace) text_trace(screen, *section.trace);
  how_sure(screen, section);
}

void scores(Screen& screen, const ScoresSection& section) {
  screen.hanging("VERDICT", section.verdict_line, Emphasis::strong);
  screen.hanging("  why", section.why);
  screen.hanging("  unseen", section.unseen);
  screen.hanging("  needs", section.next);
}

void gates(Screen& screen, const std::vector<Gate>& all) {
  for (const Gate& gate : all) {
    screen.hanging("GATE",
                   fmt::format("--{} {}: {}, {}", gate.id, gate.limit, gate.value_text,
                               gate.passed ? "passed" : "FAILED"),
                   gate.passed ? Emphasis::none : Emphasis::blamed);
  }
}

}  // namespace

std::string render_text(const Report& report, const RenderStyle& style) {
  Screen screen(style);
  if (report.diagnose) diagnose(screen, *report.diagnose);
  if (report.scores) scores(screen, *report.scores);
  if (report.calc) text_calc(screen, *report.calc);
  if (report.flops) text_flops(screen, *report.flops);
  if (report.peak) text_peak(screen, *report.peak);
  if (report.log) text_log(screen, *report.log);
  if (report.plan) text_plan(screen, *report.plan);
  if (report.compare) text_compare(screen, *report.compare);
  if (report.history && report.history->action == HistoryAction::against) {
    text_against(screen, *report.history);
  } else if (report.history) {
    text_history(screen, *report.history);
  }
  if (report.list) text_list(screen, *report.list);
  gates(screen, report.gates);
  return screen.take();
}

}  // namespace mfu::render
