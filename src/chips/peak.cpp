#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "mfu/chip.hpp"

namespace mfu {
namespace {

// Boost beyond the maximum that a driver reports has been seen, a few per cent of it. Beyond this,
// a clock in GHz, kHz or Hz would pass as MHz and give a peak that is wrong by 1000.
constexpr double kMostOverMax = 1.25;
constexpr double kLeastMhz = 100.0;
// Readings are in steps of 15 MHz.
constexpr double kMaxTolerance = 1.005;

std::string megahertz(double mhz) { return fmt::format("{:.6g}", mhz); }

const PrecisionRate& rate_or_refuse(const Chip& chip, Precision precision) {
  if (const PrecisionRate* rate = rate_of(chip, precision)) return *rate;
  std::string has;
  for (const PrecisionRate& entry : chip.rates) {
    if (!has.empty()) has += ", ";
    has += to_string(entry.precision);
  }
  throw Error(ErrorKind::unsupported,
              std::string(chip.id) + " has no " + std::string(to_string(precision)) + " peak", {},
              "it has: " + has);
}

// FLOP per clock of the whole device.
double flop_per_clock(const Chip& chip, const PrecisionRate& rate) {
  if (!chip.not_scaled.empty() || !(rate.flop_per_clock_per_unit > 0.0)) {
    throw Error(ErrorKind::unsupported,
                fmt::format("the {} peak of {} cannot be put at a clock", to_string(rate.precision),
                            chip.id),
                {},
                (chip.not_scaled.empty() ? "its FLOP per clock are not known"
                                         : std::string(chip.not_scaled)) +
                    "; use the clock 'datasheet'");
  }
  return chip.units * rate.flop_per_clock_per_unit;
}

Peak peak_at_mhz(const Chip& chip, const PrecisionRate& rate, double mhz) {
  Peak peak;
  peak.flops = flop_per_clock(chip, rate) * mhz * 1e6;
  peak.clock_mhz = mhz;
  peak.above_max = chip.max_mhz > 0.0 && mhz > kMaxTolerance * chip.max_mhz;
  return peak;
}

[[noreturn]] void refuse_clock(const Chip& chip, std::string_view which) {
  throw Error(ErrorKind::unsupported,
              "the " + std::string(which) + " clock of " + std::string(chip.id) + " is not known",
              {}, "use the clock 'datasheet' or a number in MHz");
}

void check_mhz(const Chip& chip, double mhz) {
  const bool too_fast = chip.max_mhz > 0.0 && mhz > kMostOverMax * chip.max_mhz;
  if (std::isfinite(mhz) && mhz >= kLeastMhz && mhz <= 10'000.0 && !too_fast) return;
  throw Error(ErrorKind::usage, "this chip cannot run at " + megahertz(mhz) + " MHz", {},
              chip.max_mhz > 0.0 ? std::string(chip.id) + " runs at " + megahertz(chip.max_mhz) +
                                       " MHz at most; the unit is MHz"
                                 : "the unit is MHz");
}

}  // namespace

const PrecisionRate* rate_of(const Chip& chip, Precision precision) noexcept {
  const auto rate =
      std::find_if(chip.rates.begin(), chip.rates.end(),
                   [&](const PrecisionRate& entry) { return entry.precision == precision; });
  return rate == chip.rates.end() ? nullptr : &*rate;
}

bool has_sparse_figure(const Chip& chip, Precision precision) noexcept {
  // Of fp6 and fp4 no sparse figure was found: makers do not double all of them.
  const bool doubled = precision != Precision::fp64_tc && precision != Precision::fp32 &&
                       precision != Precision::fp6 && precision != Precision::fp4;
  return chip.sparse_figures && doubled && rate_of(chip, precision) != nullptr;
}

bool same_figure(double a, double b) noexcept {
  constexpr double kRounding = 1e-3;
  return std::fabs(a - b) <= kRounding * b;
}

std::optional<SparseFigure> sparse_figure(double flops, Precision precision) {
  std::optional<SparseFigure> found;
  for (const Chip& chip : chips()) {
    const PrecisionRate* rate = rate_of(chip, precision);
    if (rate == nullptr) continue;
    if (same_figure(flops, rate->datasheet_flops)) return {};
    if (!found && has_sparse_figure(chip, precision) &&
        same_figure(flops, 2 * rate->datasheet_flops)) {
      found = SparseFigure{&chip, rate->datasheet_flops};
    }
  }
  return found;
}

Peak peak_at(const Chip& chip, Precision precision, const Clock& clock) {
  const PrecisionRate& rate = rate_or_refuse(chip, precision);
  switch (clock.rule) {
    case ClockRule::datasheet:
      return {rate.datasheet_flops, rate.datasheet_mhz, rate.basis, false};
    case ClockRule::max:
      if (!(chip.max_mhz > 0.0)) refuse_clock(chip, "maximum");
      return peak_at_mhz(chip, rate, chip.max_mhz);
    case ClockRule::base:
      if (!(chip.base_mhz > 0.0)) refuse_clock(chip, "base");
      return peak_at_mhz(chip, rate, chip.base_mhz);
    case ClockRule::measured:
      if (!(clock.mhz > 0.0)) {
        throw Error(ErrorKind::insufficient, "there is no measured clock", {},
                    "give telemetry with the SM clock under load, or the clock in MHz");
      }
      break;
    case ClockRule::mhz:
      break;
  }
  check_mhz(chip, clock.mhz);
  return peak_at_mhz(chip, rate, clock.mhz);
}

double clock_for(const Chip& chip, Precision precision, double flops) {
  return flops / flop_per_clock(chip, rate_or_refuse(chip, precision)) / 1e6;
}

}  // namespace mfu
