// The screen of log: the MFU, what the log says itself, the steps, what the answer stands on.
#include <fmt/format.h>

#include <algorithm>

#include "base/time_scale.hpp"
#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/log_section.hpp"

namespace mfu::render {
namespace {

constexpr std::size_t kLogLabel = 15;

void entry(Screen& screen, std::string_view label, std::string_view text, Emphasis emphasis) {
  bool first = true;
  for (const std::string& part : wrap(printable(text), screen.width() - kLogLabel)) {
    screen.line(pad_right(first ? "  " + std::string(label) : std::string(), kLogLabel) + part,
                emphasis);
    first = false;
  }
}

void headline(Screen& screen, const LogSection& section) {
  const CalcSection& calc = section.calc;
  const Calculation& c = calc.calculation;
  const bool impossible = c.status == CalcStatus::impossible;
  std::vector<std::string> pieces;
  if (const std::optional<double> mfu = c.mfu()) {
    pieces.push_back("MFU " + format_percent(*mfu) + (impossible ? "  IMPOSSIBLE" : ""));
  }
  if (c.hfu() && (!c.mfu() || *c.hfu() > *c.mfu() * (1 + 1e-9))) {
    pieces.push_back("HFU " + format_percent(*c.hfu()) +
                     (impossible && pieces.empty() ? "  IMPOSSIBLE" : ""));
  }
  if (section.headline_seconds && section.p95_seconds) {
    const TimeScale scale = time_scale(*section.headline_seconds);
    const LogStatistic statistic = section.summary.statistic;
    pieces.push_back(fmt::format(
        "{}step {:.{}f} {} (p95 {:.{}f})",
        statistic == LogStatistic::mean ? std::string() : std::string(to_string(statistic)) + " ",
        *section.headline_seconds / scale.unit_seconds, scale.decimals, scale.unit,
        *section.p95_seconds / scale.unit_seconds, scale.decimals));
  }
  if (c.tokens_per_second) {
    pieces.push_back(format_grouped(*c.tokens_per_second) + " tokens/s");
  } else if (c.tokens_per_second_per_gpu) {
    pieces.push_back(format_grouped(*c.tokens_per_second_per_gpu) + " tokens/s per GPU");
  }
  if (c.achieved_flops) {
    pieces.push_back(fmt::format("{:.4g} TFLOP/s per GPU", *c.achieved_flops / 1e12));
  }
  screen.pieces(pieces, Emphasis::strong);
  if (!calc.mfu_missing.empty()) screen.wrapped(calc.mfu_missing, 2);
  screen.wrapped(to_text(calc.fingerprint), 2, Emphasis::quiet);
  text_impossible(screen, calc.impossible_because);
}

}  // namespace

void text_log(Screen& screen, const LogSection& section) {
  screen.title(section.title, section.steps_line);
  screen.blank();
  headline(screen, section);
  screen.blank();
  for (const std::string& text : section.reported_texts) {
    entry(screen, &text == &section.reported_texts.front() ? "log says" : "", text, Emphasis::none);
  }
  for (const LogSection::Line& line : section.lines) {
    entry(screen, line.label, line.text, line.blamed ? Emphasis::blamed : Emphasis::none);
  }
  if (!section.sources.empty()) {
    screen.blank();
    screen.line("  Taken from", Emphasis::strong);
    for (const LogSource& source : section.sources) {
      entry(screen, "  " + source.what, source.value + ": " + source.from, Emphasis::none);
    }
  }
  if (!section.calc.calculation.results.empty()) {
    screen.blank();
    text_conventions(screen, section.calc);
  }
  for (const std::string& line : section.calc.advice) screen.wrapped(line, 2);
}

}  // namespace mfu::render
