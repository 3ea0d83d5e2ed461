// The screen of compare: better or worse, by factor, by part, and what else differs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/time_scale.hpp"
#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/shown_sums.hpp"
#include "render/text/sections.hpp"
#include "report/compare/compare_section.hpp"

namespace mfu::render {
namespace {

constexpr std::size_t kCompareLabel = 22;
constexpr std::size_t kNumber = 10;

std::string upper_first_word(const std::string& line) {
  const std::size_t end = std::min(line.find_first_of(":;,"), line.size());
  std::string out = line;
  std::transform(
      out.begin(), out.begin() + static_cast<std::ptrdiff_t>(end), out.begin(),
      [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return out;
}

// "x 1.287": never "x -0.000".
std::string ratio_text(double log_ratio) { return fmt::format("x {:.3f}", std::exp(log_ratio)); }

std::string interval_text(const std::optional<Interval>& ci) {
  if (!ci) return "";
  return fmt::format("{:.3f}..{:.3f}", std::exp(ci->lo), std::exp(ci->hi));
}

void row(Screen& screen, bool marked, std::string_view label,
         const std::vector<std::string>& cells) {
  std::string text = marked ? "  > " : "    ";
  text += pad_right(fit(label, kCompareLabel - 1), kCompareLabel);
  for (const std::string& cell : cells) {
    if (columns_of(text) + kNumber > screen.width()) break;
    text += pad_left(cell, kNumber);
  }
  screen.line(text, marked ? Emphasis::blamed : Emphasis::none);
}

void rule(Screen& screen, std::size_t cells) {
  screen.line("    " +
              std::string(std::min(kCompareLabel + cells * kNumber, screen.width() - 4), '-'));
}

std::string share(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : std::string("-");
}

void factors(Screen& screen, const CompareSection& section) {
  const Comparison& c = section.comparison;
  if (c.factors.empty()) return;
  std::string heading = "  Factors of the " + std::string(c.mfu_after ? "MFU" : "speed");
  heading = pad_right(heading, 4 + kCompareLabel);
  for (const char* name : {"before", "after", "ratio"}) heading += pad_left(name, kNumber);
  if (c.factors.front().log_ci) heading += pad_left("95 %", kNumber + 4);
  screen.line(heading, Emphasis::strong);
  for (std::size_t i = 0; i < c.factors.size(); ++i) {
    const FactorChange& factor = c.factors[i];
    std::string text = factor.id == c.moved ? "  > " : "    ";
    text += pad_right(section.factor_labels[i], kCompareLabel) +
            pad_left(share(factor.before), kNumber) + pad_left(share(factor.after), kNumber) +
            pad_left(ratio_text(factor.log_ratio), kNumber) +
            pad_left(interval_text(factor.log_ci), kNumber + 4);
    screen.line(text, factor.id == c.moved ? Emphasis::blamed : Emphasis::none);
  }
  rule(screen, 4);
  std::string text =
      "    " + pad_right(c.mfu_after ? "MFU" : "speed", kCompareLabel) +
      pad_left(share(c.mfu_before), kNumber) + pad_left(share(c.mfu_after), kNumber) +
      pad_left(ratio_text(c.log_ratio), kNumber) + pad_left(interval_text(c.log_ci), kNumber + 4);
  screen.line(text);
  screen.blank();
}

void parts(Screen& screen, const CompareSection& section) {
  const Comparison& c = section.comparison;
  if (c.detail->parts.empty() || !c.step_before || !c.step_after) return;
  const TimeScale scale = time_scale(std::max(*c.step_before, *c.step_after));
  const std::string unit(scale.unit);
  std::vector<double> before, after;
  for (const PartChange& part : c.detail->parts) {
    before.push_back(part.before / scale.unit_seconds);
    after.push_back(part.after / scale.unit_seconds);
  }
  const double total_before = *c.step_before / scale.unit_seconds;
  const double total_after = *c.step_after / scale.unit_seconds;
  const std::vector<std::int64_t> shown_before = shown_units(before, total_before, scale.decimals);
  const std::vector<std::int64_t> shown_after = shown_units(after, total_after, scale.decimals);
  const auto change_text = [&](std::int64_t units) {
    return (units > 0 ? "+" : "") + unit_text(units, scale.decimals);
  };
  std::string heading = pad_right("  Seconds of a step, in " + unit, 4 + kCompareLabel);
  for (const char* name : {"before", "after", "change"}) heading += pad_left(name, kNumber);
  screen.line(heading, Emphasis::strong);
  std::int64_t sum_before = 0;
  std::int64_t sum_after = 0;
  for (std::size_t i = 0; i < c.detail->parts.size(); ++i) {
    sum_before += shown_before[i];
    sum_after += shown_after[i];
    if (shown_before[i] == 0 && shown_after[i] == 0) continue;
    row(screen, false, section.part_labels[i],
        {unit_text(shown_before[i], scale.decimals), unit_text(shown_after[i], scale.decimals),
         change_text(shown_after[i] - shown_before[i])});
  }
  rule(screen, 3);
  row(screen, false, "step",
      {unit_text(sum_before, scale.decimals), unit_text(sum_after, scale.decimals),
       change_text(sum_after - sum_before)});
  screen.blank();
}

void headline(Screen& screen, const CompareSection& section) {
  const Comparison& c = section.comparison;
  std::vector<std::string> pieces;
  if (c.mfu_before && c.mfu_after) {
    pieces.push_back(fmt::format("MFU {} -> {} ({:+.1f} points)", format_percent(*c.mfu_before),
                                 format_percent(*c.mfu_after),
                                 100 * (*c.mfu_after - *c.mfu_before)));
  }
  if (c.step_before && c.step_after) {
    const TimeScale scale = time_scale(std::max(*c.step_before, *c.step_after));
    pieces.push_back(fmt::format("step {:.{}f} -> {:.{}f} {}", *c.step_before / scale.unit_seconds,
                                 scale.decimals, *c.step_after / scale.unit_seconds, scale.decimals,
                                 scale.unit));
  }
  screen.pieces(pieces, Emphasis::strong);
  screen.wrapped(to_text(c.detail->after.fingerprint), 2, Emphasis::quiet);
}

}  // namespace

void text_compare(Screen& screen, const CompareSection& section) {
  screen.hanging("before", section.before_title);
  screen.hanging("after", section.after_title);
  screen.blank();
  headline(screen, section);
  screen.blank();
  screen.hanging("RESULT", upper_first_word(section.verdict_line), Emphasis::strong);
  if (!section.moved_line.empty()) screen.hanging("  moved", section.moved_line);
  if (!section.expected_line.empty()) {
    screen.hanging("  aim", section.expected_line,
                   section.as_expected ? Emphasis::none : Emphasis::blamed);
  }
  if (!section.restated_line.empty()) screen.hanging("  basis", section.restated_line);
  screen.hanging(section.restated_line.empty() ? "  but" : "", section.reason_texts);
  screen.blank();
  factors(screen, section);
  parts(screen, section);
  screen.hanging("differs", section.credit);
  screen.hanging("", section.difference_texts);
  screen.hanging("note", section.cautions);
}

}  // namespace mfu::render
