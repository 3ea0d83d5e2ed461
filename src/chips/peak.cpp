#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "mfu/chip.hpp"

namespace mfu {
namespace {

struct PrecisionName {
  std::string_view name;
  Precision precision;
};

// The first name of a precision is the one that is printed.
constexpr std::array kPrecisionNames{
    PrecisionName{"fp64_tc", Precision::fp64_tc}, PrecisionName{"fp32", Precision::fp32},
    PrecisionName{"tf32", Precision::tf32},       PrecisionName{"fp16", Precision::fp16},
    PrecisionName{"bf16", Precision::bf16},       PrecisionName{"fp8", Precision::fp8},
    PrecisionName{"int8", Precision::int8},       PrecisionName{"fp64", Precision::fp64_tc},
    PrecisionName{"float64", Precision::fp64_tc}, PrecisionName{"float32", Precision::fp32},
    PrecisionName{"float16", Precision::fp16},    PrecisionName{"half", Precision::fp16},
    PrecisionName{"fp16-mixed", Precision::fp16}, PrecisionName{"bfloat16", Precision::bf16},
    PrecisionName{"bf16-mixed", Precision::bf16}, PrecisionName{"float8", Precision::fp8},
};

std::string megahertz(double mhz) { return fmt::format("{:.6g}", mhz); }

Peak peak_at_mhz(const Chip& chip, const PrecisionRate& rate, double mhz) {
  return {chip.units * rate.flop_per_clock_per_unit * mhz * 1e6, mhz, false};
}

[[noreturn]] void refuse_clock(const Chip& chip, std::string_view which) {
  throw Error(ErrorKind::unsupported,
              "the " + std::string(which) + " clock of " + std::string(chip.id) + " is not known",
              {}, "use the clock 'datasheet' or a number in MHz");
}

}  // namespace

std::string_view to_string(Precision precision) noexcept {
  for (const PrecisionName& entry : kPrecisionNames) {
    if (entry.precision == precision) return entry.name;
  }
  return "";
}

Precision parse_precision(std::string_view text, const Place& place) {
  std::string folded(text.substr(0, 80));
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const PrecisionName& entry : kPrecisionNames) {
    if (entry.name == folded) return entry.precision;
  }
  throw Error(ErrorKind::unsupported, "unknown precision '" + std::string(text.substr(0, 80)) + "'",
              place, "known: bf16, fp16, fp8, tf32, fp32, fp64_tc, int8");
}

Peak peak_at(const Chip& chip, Precision precision, const Clock& clock) {
  const auto rate =
      std::find_if(chip.rates.begin(), chip.rates.end(),
                   [&](const PrecisionRate& entry) { return entry.precision == precision; });
  if (rate == chip.rates.end()) {
    std::string has;
    for (const PrecisionRate& entry : chip.rates) {
      if (!has.empty()) has += ", ";
      has += to_string(entry.precision);
    }
    throw Error(ErrorKind::unsupported,
                std::string(chip.id) + " has no " + std::string(to_string(precision)) + " peak", {},
                "it has: " + has);
  }
  switch (clock.rule) {
    case ClockRule::datasheet:
      return {rate->datasheet_flops, rate->datasheet_mhz, rate->datasheet_clock_implied};
    case ClockRule::max:
      if (!(chip.max_mhz > 0)) refuse_clock(chip, "maximum");
      return peak_at_mhz(chip, *rate, chip.max_mhz);
    case ClockRule::base:
      if (!(chip.base_mhz > 0)) refuse_clock(chip, "base");
      return peak_at_mhz(chip, *rate, chip.base_mhz);
    case ClockRule::mhz:
      break;
  }
  // A clock in GHz, kHz or Hz would pass as MHz and give a peak that is wrong by 1000.
  const bool too_fast = chip.max_mhz > 0 && clock.mhz > 1.25 * chip.max_mhz;
  if (!std::isfinite(clock.mhz) || clock.mhz < 100 || too_fast) {
    throw Error(ErrorKind::usage,
                "a clock of " + megahertz(clock.mhz) + " MHz cannot be this chip's", {},
                chip.max_mhz > 0 ? std::string(chip.id) + " runs at " + megahertz(chip.max_mhz) +
                                       " MHz at most; the unit is MHz"
                                 : "the unit is MHz");
  }
  return peak_at_mhz(chip, *rate, clock.mhz);
}

}  // namespace mfu
