// What `mfu peak` says: peaks at a clock, and what a figure of TFLOP/s may be.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/measure/calc_wording.hpp"
#include "report/measure/peak_section.hpp"

namespace mfu {
namespace {

// Headlines are rounded: 1979 for 1978.9, 2.5 PFLOP/s for 2516.6.
constexpr double kSameFigure = 1e-3;
constexpr double kRoundedFigure = 1e-2;

bool near(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance * b; }

std::vector<PrecisionShare> mix_for(const Chip& chip, const std::vector<PrecisionShare>& asked) {
  if (!asked.empty()) return asked;
  for (const Precision usual : {Precision::bf16, Precision::fp16}) {
    if (rate_of(chip, usual) != nullptr) return {{usual, 1.0}};
  }
  return {{chip.rates.front().precision, 1.0}};
}

std::optional<double> at_max(const Chip& chip, const std::vector<PrecisionShare>& mix) {
  if (!(chip.max_mhz > 0.0)) return {};
  try {
    return peak_of_mix(chip, mix, {ClockRule::max, 0.0}).flops;
  } catch (const Error&) {
    return {};  // the figure is not scaled by a clock
  }
}

PeakEntry entry_of(const Chip& chip, const std::vector<PrecisionShare>& mix, const Clock& clock,
                   bool sparse) {
  PeakEntry entry;
  entry.chip = &chip;
  entry.precision = to_text(mix);
  entry.peak = peak_of_mix(chip, mix, clock);
  entry.clock = clock.rule;
  entry.flops_at_max = at_max(chip, mix);
  if (mix.size() == 1) {
    const Precision precision = mix.front().precision;
    const PrecisionRate& rate = *rate_of(chip, precision);
    if (rate.flop_per_clock_per_unit > 0.0) {
      entry.flop_per_clock_per_unit = rate.flop_per_clock_per_unit;
    }
    entry.achievable = best_achievable(chip, precision);
    if (entry.achievable != nullptr) {
      entry.achievable_ratio = entry.achievable->flops / rate.datasheet_flops;
    }
  }
  if (sparse) {
    for (const PrecisionShare& part : mix) {
      if (has_sparse_figure(chip, part.precision)) continue;
      throw Error(
          ErrorKind::unsupported,
          fmt::format("there is no sparse {} figure of {}", to_string(part.precision), chip.id), {},
          "leave --sparse out: the dense figure is the peak");
    }
    entry.dense = false;
    entry.peak.flops *= 2;
    if (entry.flop_per_clock_per_unit) *entry.flop_per_clock_per_unit *= 2;
    if (entry.flops_at_max) *entry.flops_at_max *= 2;
    entry.achievable = nullptr;
    entry.achievable_ratio.reset();
  }
  if (chip.bandwidth_bytes_per_s > 0.0) {
    entry.ridge_flops_per_byte = entry.peak.flops / chip.bandwidth_bytes_per_s;
  }
  return entry;
}

// What a figure may be. Precisions of one chip with the same reading are grouped, and so are chips.
struct Reading {
  std::string_view density, package;  // package: empty: of one device
  double dense_flops = 0.0;           // of one device
  std::vector<std::string_view> precisions, chips;
};

void add_reading(std::vector<Reading>& of_chip, const Reading& found) {
  for (Reading& other : of_chip) {
    if (other.density != found.density || other.package != found.package ||
        other.dense_flops != found.dense_flops) {
      continue;
    }
    other.precisions.push_back(found.precisions.front());
    return;
  }
  of_chip.push_back(found);
}

void read_figure(const Chip& chip, double flops, double tolerance, std::vector<Reading>& all) {
  const int devices = chip.package.devices;
  std::vector<Reading> of_chip;
  for (const PrecisionRate& rate : chip.rates) {
    const double dense = rate.datasheet_flops;
    const auto look = [&](double figure, std::string_view density, std::string_view package) {
      if (!near(flops, figure, tolerance)) return;
      add_reading(of_chip, {density, package, dense, {to_string(rate.precision)}, {chip.id}});
    };
    const bool sparse = has_sparse_figure(chip, rate.precision);
    look(dense, "dense", "");
    if (sparse) look(2 * dense, "2:4 sparse", "");
    if (devices == 1) continue;
    look(devices * dense, "dense", chip.package.name);
    if (sparse) look(2 * devices * dense, "2:4 sparse", chip.package.name);
  }
  for (const Reading& found : of_chip) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Reading& other) {
      return other.density == found.density && other.package == found.package &&
             other.dense_flops == found.dense_flops && other.precisions == found.precisions;
    });
    if (same == all.end()) {
      all.push_back(found);
    } else {
      same->chips.push_back(chip.id);
    }
  }
}

std::vector<std::string> texts_of(const std::vector<Reading>& readings) {
  std::vector<std::string> lines;
  for (const Reading& reading : readings) {
    std::string text =
        fmt::format("The {} {} figure of {}", reading.density, fmt::join(reading.precisions, "/"),
                    fmt::join(reading.chips, ", "));
    if (!reading.package.empty()) {
      text += fmt::format(", of a {}; one device has {} dense", reading.package,
                          teraflops(reading.dense_flops));
    } else if (reading.density != "dense") {
      text += "; dense is " + teraflops(reading.dense_flops);
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

std::vector<std::string> readings(const Chip& chip, double flops) {
  std::vector<Reading> found;
  read_figure(chip, flops, kSameFigure, found);
  return texts_of(found);
}

std::vector<std::string> readings_of_all(double flops, std::span<const Chip> user) {
  for (const double tolerance : {kSameFigure, kRoundedFigure}) {
    std::vector<Reading> all;
    for (const std::span<const Chip> table : {user, chips()}) {
      for (const Chip& chip : table) read_figure(chip, flops, tolerance, all);
    }
    if (!all.empty()) return texts_of(all);
  }
  return {"Not a figure of any known chip"};
}

PeakInverse inverse_of(const Chip& chip, const std::vector<PrecisionShare>& mix, double flops) {
  PeakInverse inverse;
  inverse.flops = flops;
  inverse.reading = readings(chip, flops);
  if (mix.size() > 1) {
    throw Error(ErrorKind::usage, "a figure is for one precision", Place{.what = "--precision"},
                "--precision bf16");
  }
  const Precision precision = mix.front().precision;
  const double dense = rate_of(chip, precision)->datasheet_flops;
  try {
    inverse.clock_mhz = clock_for(chip, precision, flops);
  } catch (const Error& error) {
    inverse.reading.push_back(error.message() + ": " + error.hint());
    return inverse;
  }
  if (chip.max_mhz > 0.0 && *inverse.clock_mhz > 1.005 * chip.max_mhz) {
    inverse.reading.push_back(fmt::format(
        "{:.4g} MHz is above the chip's maximum of {:.6g} MHz: this is not its dense {} rate",
        *inverse.clock_mhz, chip.max_mhz, to_string(precision)));
  } else {
    inverse.reading.push_back(fmt::format("It is {} of the dense {} datasheet figure",
                                          format_percent(flops / dense), to_string(precision)));
  }
  return inverse;
}

std::string title_of(const Chip& chip) {
  std::string text = fmt::format("{}   {}", chip.name, chip.id);
  std::vector<std::string> facts;
  if (chip.units > 0) {
    facts.push_back(fmt::format("{} {}{}", chip.units, chip.unit_kind, chip.units == 1 ? "" : "s"));
  }
  if (chip.memory_bytes > 0.0) {
    facts.push_back(fmt::format("{:.4g} GiB", chip.memory_bytes / (1024.0 * 1024 * 1024)));
  }
  if (chip.bandwidth_bytes_per_s > 0.0) {
    facts.push_back(fmt::format("{:.4g} TB/s", chip.bandwidth_bytes_per_s / 1e12));
  }
  if (chip.power_w > 0.0) facts.push_back(fmt::format("{:.4g} W", chip.power_w));
  return text + "   " + fmt::format("{}", fmt::join(facts, ", "));
}

void describe_one(PeakSection& section, const PeakQuery& query) {
  const Chip& chip = *query.chip;
  const std::vector<PrecisionShare> mix = mix_for(chip, query.mix);
  section.title = title_of(chip);
  section.entries.push_back(entry_of(chip, mix, query.clock, query.sparse));
  const PeakEntry& asked = section.entries.front();
  if (mix.size() > 1) {
    for (const PrecisionShare& part : mix) {
      section.rates.push_back(entry_of(chip, {{part.precision, 1.0}}, query.clock, query.sparse));
    }
  } else {
    for (const PrecisionRate& rate : chip.rates) {
      if (query.sparse && !has_sparse_figure(chip, rate.precision)) continue;
      try {
        section.rates.push_back(entry_of(chip, {{rate.precision, 1.0}}, query.clock, query.sparse));
      } catch (const Error&) {
        continue;  // this precision has no peak at that clock
      }
    }
  }
  if (query.flops) section.inverse = inverse_of(chip, mix, *query.flops);
  if (asked.peak.above_max) {
    section.remarks.push_back(fmt::format("{:.6g} MHz is above its maximum of {:.6g} MHz",
                                          asked.peak.clock_mhz, chip.max_mhz));
  }
  if (chip.package.devices > 1) {
    section.remarks.push_back(fmt::format(
        "The figures are for one device; a {} has {}: {} {}", chip.package.name,
        chip.package.devices, teraflops(chip.package.devices * asked.peak.flops), asked.precision));
  }
  if (!chip.not_scaled.empty()) {
    section.remarks.push_back(fmt::format("Not scaled by a clock: {}", chip.not_scaled));
  }
  if (!chip.trap.empty()) section.remarks.emplace_back(chip.trap);
  if (asked.achievable != nullptr) {
    section.remarks.push_back(
        fmt::format("Best measured: {}, {} of the datasheet figure{}{}",
                    teraflops(asked.achievable->flops), format_percent(*asked.achievable_ratio),
                    asked.achievable->clock_mhz > 0.0
                        ? fmt::format(", at a clock of {:.6g} MHz", asked.achievable->clock_mhz)
                        : std::string(),
                    asked.achievable->note.empty() ? std::string()
                                                   : fmt::format(" ({})", asked.achievable->note)));
  }
  if (chip.user_defined) section.remarks.emplace_back("This row is your own (--chips)");
}

void describe_all(PeakSection& section, const PeakQuery& query) {
  section.title = "Peaks of one device";
  std::size_t without = 0;
  for (const std::span<const Chip> table : {query.user_chips, chips()}) {
    for (const Chip& chip : table) {
      try {
        section.entries.push_back(
            entry_of(chip, mix_for(chip, query.mix), query.clock, query.sparse));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::usage) throw;
        ++without;
      }
    }
  }
  if (without > 0) {
    section.left_out =
        fmt::format("{} chip{} left out: no such precision, no such clock, or not scaled by one",
                    without, without == 1 ? " is" : "s are");
  }
  if (query.flops) {
    section.inverse =
        PeakInverse{*query.flops, {}, readings_of_all(*query.flops, query.user_chips)};
    section.entries.clear();
    section.left_out.clear();
    section.title = fmt::format("What {} may be", teraflops(*query.flops));
  }
}

}  // namespace

PeakSection describe_peak(const PeakQuery& query) {
  PeakSection section;
  section.remarks = query.remarks;
  section.devices_in_name = query.devices_in_name;
  if (query.chip != nullptr) {
    describe_one(section, query);
  } else {
    describe_all(section, query);
  }
  return section;
}

}  // namespace mfu
