// The screen of peak.
#include <fmt/format.h>

#include <algorithm>

#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/text/sections.hpp"
#include "report/measure/peak_section.hpp"

namespace mfu::render {
namespace {

std::string tera_figure(double flops) {
  const double value = flops / 1e12;
  return fmt::format("{:.{}f}", value, value < 9999.5 ? 1 : 0);
}

std::string tera_figure(const std::optional<double>& flops) {
  return flops ? tera_figure(*flops) : "-";
}

std::string_view basis_of(ClockBasis basis) {
  switch (basis) {
    case ClockBasis::documented:
      return "";
    case ClockBasis::implied:
      return " implied";
    case ClockBasis::unknown:
      return "";
  }
  return "";
}

std::string clock_of(const Peak& peak) {
  return peak.clock_mhz > 0.0 ? fmt::format("{:.6g}", peak.clock_mhz) : std::string("-");
}

std::string rule_of(const PeakEntry& entry) {
  switch (entry.clock) {
    case ClockRule::datasheet:
      return "the datasheet's";
    case ClockRule::max:
      return "the maximum";
    case ClockRule::base:
      return "the base clock";
    case ClockRule::mhz:
      return "as given";
    case ClockRule::measured:
      return "as measured";
  }
  return "";
}

void answer(Screen& screen, const PeakEntry& entry) {
  std::vector<std::string> pieces{fmt::format("{} TFLOP/s {} {}", tera_figure(entry.peak.flops),
                                              entry.precision,
                                              entry.dense ? "dense" : "2:4 sparse")};
  if (entry.peak.clock_mhz > 0.0) {
    pieces.push_back(
        fmt::format("at {:.6g} MHz ({}{})", entry.peak.clock_mhz, rule_of(entry),
                    entry.clock == ClockRule::datasheet && entry.peak.basis == ClockBasis::implied
                        ? ", implied by the figure"
                        : ""));
  } else {
    pieces.emplace_back("at an unknown clock");
  }
  if (entry.flops_at_max && entry.clock != ClockRule::max) {
    pieces.push_back(fmt::format("{} at the maximum of {:.6g} MHz", tera_figure(entry.flops_at_max),
                                 entry.chip->max_mhz));
  }
  screen.pieces(pieces, Emphasis::strong);
}

void rates(Screen& screen, const PeakSection& section) {
  const PeakEntry& asked = section.entries.front();
  const Chip& chip = *asked.chip;
  screen.line("  " + pad_right(asked.dense ? "TFLOP/s, dense" : "TFLOP/s, sparse", 17) +
                  pad_left("peak", 9) + pad_left("MHz", 14) + pad_left("at max", 10) +
                  pad_left("FLOP/clk/" + std::string(chip.unit_kind), 15) +
                  pad_left("FLOP/byte", 11),
              Emphasis::quiet);
  const auto row = [&](const PeakEntry& entry) {
    screen.line("  " + pad_right(fit(entry.precision, 17), 17) +
                pad_left(tera_figure(entry.peak.flops), 9) +
                pad_left(clock_of(entry.peak) + std::string(basis_of(entry.peak.basis)), 14) +
                pad_left(tera_figure(entry.flops_at_max), 10) +
                pad_left(entry.flop_per_clock_per_unit
                             ? fmt::format("{:.6g}", *entry.flop_per_clock_per_unit)
                             : std::string("-"),
                         15) +
                pad_left(entry.ridge_flops_per_byte
                             ? fmt::format("{:.0f}", *entry.ridge_flops_per_byte)
                             : std::string("-"),
                         11));
  };
  for (const PeakEntry& entry : section.rates) row(entry);
  if (section.rates.size() > 1 && asked.precision.find('=') != std::string::npos) row(asked);
}

void one_chip(Screen& screen, const PeakSection& section) {
  const PeakEntry& asked = section.entries.front();
  answer(screen, asked);
  screen.blank();
  rates(screen, section);
  if (section.inverse) {
    screen.blank();
    const PeakInverse& inverse = *section.inverse;
    screen.wrapped(
        inverse.clock_mhz
            ? fmt::format("{} TFLOP/s {} would need {:.1f} MHz", tera_figure(inverse.flops),
                          asked.precision, *inverse.clock_mhz)
            : fmt::format("{} TFLOP/s {}", tera_figure(inverse.flops), asked.precision),
        2, Emphasis::strong);
    for (const std::string& reading : inverse.reading) screen.wrapped(reading + ".", 4);
  }
  screen.blank();
  for (const std::string& remark : section.remarks) screen.wrapped(remark + ".", 2);
  if (asked.ridge_flops_per_byte) {
    screen.wrapped(fmt::format("Kernels below {:.0f} FLOP per byte of memory traffic are bound by "
                               "bandwidth, not by this peak.",
                               *asked.ridge_flops_per_byte),
                   2);
  }
  if (!asked.chip->unconfirmed.empty()) {
    screen.wrapped(fmt::format("Not confirmed: {}.", fmt::join(asked.chip->unconfirmed, ", ")), 2);
  }
  screen.wrapped(fmt::format("Source: {}", asked.chip->source), 2, Emphasis::quiet);
}

void all_chips(Screen& screen, const PeakSection& section) {
  std::size_t id = 8;
  for (const PeakEntry& entry : section.entries) id = std::max(id, entry.chip->id.size() + 2);
  const bool wide = screen.width() >= id + 58;
  screen.line("  " + pad_right("chip", id) + pad_right("", 5) + pad_left("TFLOP/s", 9) +
                  pad_left("MHz", 14) + pad_left("at max", 9) +
                  (wide ? pad_left("GiB", 7) + pad_left("TB/s", 7) + pad_left("F/B", 6) : ""),
              Emphasis::quiet);
  bool unconfirmed = false;
  for (const PeakEntry& entry : section.entries) {
    const bool mark = !entry.chip->unconfirmed.empty();
    unconfirmed = unconfirmed || mark;
    std::string line =
        "  " + pad_right(std::string(entry.chip->id) + (mark ? "*" : ""), id) +
        pad_right(fit(entry.precision, 5), 5) + pad_left(tera_figure(entry.peak.flops), 9) +
        pad_left(clock_of(entry.peak) + std::string(basis_of(entry.peak.basis)), 14) +
        pad_left(tera_figure(entry.flops_at_max), 9);
    if (wide) {
      line += pad_left(fmt::format("{:.4g}", entry.chip->memory_bytes / (1024.0 * 1024 * 1024)), 7);
      line += pad_left(fmt::format("{:.3g}", entry.chip->bandwidth_bytes_per_s / 1e12), 7);
      line +=
          pad_left(entry.ridge_flops_per_byte ? fmt::format("{:.0f}", *entry.ridge_flops_per_byte)
                                              : std::string("-"),
                   6);
    }
    screen.line(line);
  }
  screen.blank();
  if (!section.left_out.empty()) screen.wrapped(section.left_out + ".", 2);
  if (unconfirmed) {
    screen.wrapped("* some figures have no source: mfu peak CHIP names them.", 2);
  }
}

}  // namespace

void text_peak(Screen& screen, const PeakSection& section) {
  screen.wrapped(section.title, 0);
  screen.blank();
  if (!section.rates.empty()) {
    one_chip(screen, section);
    return;
  }
  if (!section.entries.empty()) {
    all_chips(screen, section);
  } else if (!section.left_out.empty()) {
    screen.wrapped(section.left_out + ".", 2);
  }
  if (section.inverse) {
    for (const std::string& reading : section.inverse->reading) screen.wrapped(reading + ".", 2);
  }
  for (const std::string& remark : section.remarks) screen.wrapped(remark + ".", 2);
}

}  // namespace mfu::render
