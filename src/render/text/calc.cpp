// The screens of calc and whatif: the number first, then the same run by other conventions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/measure/calc_section.hpp"

namespace mfu::render {
namespace {

constexpr std::size_t kLeastId = 15;
constexpr std::size_t kTitle = 27;

// GFLOP a token, four digits or two decimals.
std::string giga(double flops) {
  const double value = flops / 1e9;
  return value >= 0.1 ? fmt::format("{:.2f}", value) : fmt::format("{:.4g}", value);
}

std::string tera(double flops) { return fmt::format("{:.1f}", flops / 1e12); }

std::string error_text(double relative) {
  const double percent = 100 * relative;
  return std::fabs(percent) < 0.0005 ? std::string("0.000 %") : fmt::format("{:+.3f} %", percent);
}

// Recomputation is said where there is some: else HFU is MFU.
bool recomputes(const ConventionResult& result) {
  return result.hardware_flops_per_token &&
         (!result.flops_per_token || *result.hardware_flops_per_token != *result.flops_per_token);
}

void headline(Screen& screen, const CalcSection& section) {
  const Calculation& c = section.calculation;
  std::vector<std::string> pieces;
  const bool impossible = c.status == CalcStatus::impossible;
  if (const std::optional<double> mfu = c.mfu()) {
    pieces.push_back("MFU " + format_percent(*mfu));
    if (impossible) pieces.back() += "  IMPOSSIBLE";
  }
  if (!c.results.empty() && c.results.front().hfu && recomputes(c.results.front())) {
    pieces.push_back("HFU " + format_percent(*c.results.front().hfu));
    if (impossible && pieces.size() == 1) pieces.back() += "  IMPOSSIBLE";
  }
  if (c.achieved_flops) {
    pieces.push_back(c.input.peak ? fmt::format("{} of {} TFLOP/s per GPU", tera(*c.achieved_flops),
                                                tera(c.input.peak->flops))
                                  : fmt::format("{} TFLOP/s per GPU", tera(*c.achieved_flops)));
  }
  if (c.tokens_per_second) {
    pieces.push_back(format_grouped(*c.tokens_per_second) + " tokens/s");
  } else if (c.tokens_per_second_per_gpu) {
    pieces.push_back(format_grouped(*c.tokens_per_second_per_gpu) + " tokens/s per GPU");
  }
  screen.pieces(pieces, Emphasis::strong);
  if (!section.mfu_missing.empty()) screen.wrapped(section.mfu_missing, 2);
  screen.wrapped(to_text(section.fingerprint), 2, Emphasis::quiet);
  if (c.results.empty()) return;
  const ConventionResult& chosen = c.results.front();
  const std::optional<double> each =
      chosen.flops_per_token ? chosen.flops_per_token : chosen.hardware_flops_per_token;
  if (each && c.tokens_per_step) {
    screen.hanging("  work", fmt::format("{} GFLOP/token x {} tokens = {} a step", giga(*each),
                                         format_grouped(*c.tokens_per_step),
                                         format_si(*each * *c.tokens_per_step, "FLOP")));
  } else if (each) {
    screen.hanging("  work", giga(*each) + " GFLOP/token");
  }
  if (c.step_seconds && !c.input.step_seconds) {
    screen.hanging("  step", format_seconds(*c.step_seconds));
  }
}

void conventions_table(Screen& screen, const CalcSection& section) {
  const Calculation& c = section.calculation;
  if (c.results.empty()) return;
  const bool hardware = std::any_of(c.results.begin(), c.results.end(), recomputes);
  std::size_t widest = kLeastId - 2;
  for (const ConventionResult& result : c.results) {
    widest = std::max(widest, result.convention->id.size());
  }
  const std::size_t id = widest + 2;
  const std::size_t numbers = 10 + 9 + (hardware ? 9 : 0);
  // The columns left for words, also in a narrow terminal.
  const std::size_t room =
      screen.width() > 4 + id + numbers ? screen.width() - 4 - id - numbers : 0;
  const std::size_t title = std::min(kTitle, room);
  std::string heading = section.what_if ? "  The same run by every convention that applies"
                                        : "  The same run by other conventions";
  const std::size_t edge = 4 + id + title + 10;
  const std::size_t used = columns_of(heading);
  heading += used + 12 <= edge ? pad_left("GFLOP/token", edge - used) : std::string();
  if (used + 12 <= edge) {
    if (hardware) {
      heading += pad_left("MFU", 9) + pad_left("HFU", 9);
    } else {
      heading += pad_left("MFU", 8);
    }
  }
  screen.line(heading, Emphasis::strong);
  for (std::size_t i = 0; i < c.results.size(); ++i) {
    const ConventionResult& result = c.results[i];
    const std::optional<double> each =
        result.flops_per_token ? result.flops_per_token : result.hardware_flops_per_token;
    std::string text = "    " + pad_right(result.convention->id, id);
    if (title > 1) text += pad_right(fit(section.result_texts[i], title - 1), title);
    text += pad_left(each ? giga(*each) : std::string(), 10);
    text += pad_left(result.mfu ? format_percent(*result.mfu) : std::string("-"), 9);
    if (hardware) {
      text += pad_left(
          result.hfu && recomputes(result) ? format_percent(*result.hfu) : std::string("-"), 9);
    }
    screen.line(text);
  }
}

void peaks_table(Screen& screen, const CalcSection& section) {
  if (section.peaks.empty()) return;
  screen.blank();
  screen.line("  The same run against other peaks" + std::string(17, ' ') + "TFLOP/s     MFU",
              Emphasis::strong);
  for (std::size_t i = 0; i < section.peaks.size(); ++i) {
    const PeakRow& row = section.peaks[i];
    screen.line((row.used ? "  > " : "    ") + pad_right(fit(section.peak_texts[i], 42), 43) +
                pad_left(fmt::format("{:.5g}", row.flops / 1e12), 9) +
                pad_left(row.mfu ? format_percent(*row.mfu) : std::string("-"), 9));
  }
}

void matches_table(Screen& screen, const CalcSection& section) {
  if (!section.detection) return;
  const Detection& detection = *section.detection;
  const auto shown = [&](double value) {
    return detection.reported.is_ratio ? format_percent(value, 2)
                                       : fmt::format("{:.2f}", value / 1e12);
  };
  screen.blank();
  screen.line(fmt::format("  What gives the printed {}{}", shown(detection.reported.value),
                          detection.reported.is_ratio ? "" : " TFLOP/s per GPU"),
              Emphasis::strong);
  for (const CalcSection::MatchLine& match : section.match_lines) {
    const std::string numbers =
        pad_left(shown(match.value), 9) + pad_left(error_text(match.relative_error), 11) + "  ";
    bool first = true;
    for (const std::string& part :
         wrap(printable(match.text), screen.width() > 70 ? screen.width() - 26 : 30)) {
      screen.line((first ? (match.tied ? "  = " : "    ") + numbers : std::string(26, ' ')) + part);
      first = false;
    }
  }
  screen.wrapped(section.detection_line, 2);
}

void rebase(Screen& screen, const CalcSection& section) {
  const Rebase& r = *section.rebase;
  screen.pieces(
      {"MFU " + format_percent(r.mfu()) + (r.mfu() > 1 ? "  IMPOSSIBLE" : ""),
       fmt::format("{} of {} TFLOP/s per GPU", tera(r.achieved_flops()), tera(r.to_peak_flops))},
      Emphasis::strong);
  const auto name = [](const std::string& of) { return of.empty() ? of : " (" + of + ")"; };
  screen.hanging("  from", fmt::format("{} of {} TFLOP/s{} = {} TFLOP/s achieved",
                                       format_percent(r.from_mfu, 2), tera(r.from_peak_flops),
                                       name(r.from_name), tera(r.achieved_flops())));
  screen.hanging("  to", fmt::format("{} TFLOP/s{}", tera(r.to_peak_flops), name(r.to_name)));
}

}  // namespace

void text_impossible(Screen& screen, const std::vector<std::string>& because) {
  if (because.empty()) return;
  screen.line("  No GPU exceeds its peak. Possible explanations, likeliest first:");
  int number = 0;
  for (const std::string& line : because) {
    screen.hanging(fmt::format("    {}.", ++number), line);
  }
}

void text_conventions(Screen& screen, const CalcSection& section) {
  conventions_table(screen, section);
}

void text_calc(Screen& screen, const CalcSection& section) {
  if (section.rebase) {
    rebase(screen, section);
  } else {
    headline(screen, section);
  }
  text_impossible(screen, section.impossible_because);
  if (!section.rebase) {
    conventions_table(screen, section);
    peaks_table(screen, section);
    matches_table(screen, section);
  }
  for (const std::string& line : section.advice) screen.wrapped(line, 2);
  if (section.references && !section.references->line.empty()) {
    screen.wrapped(section.references->line, 2);
  }
}

}  // namespace mfu::render
