// Peaks of chips as a report holds them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mfu/chip.hpp"

namespace mfu {

// `peak`: what is asked.
struct PeakQuery {
  const Chip* chip = nullptr;       // nothing: all chips
  std::vector<PrecisionShare> mix;  // empty: bf16, or fp16 where a chip has no bf16
  Clock clock;
  bool sparse = false;
  std::optional<double> flops;       // a figure to explain, FLOP/s
  std::vector<std::string> remarks;  // on the name, from telemetry: said as they are
  int devices_in_name = 0;           // see ChipMatch
  std::span<const Chip> user_chips;
};

// One chip in one precision, or in a mix.
struct PeakEntry {
  const Chip* chip = nullptr;
  std::string precision;
  Peak peak;
  ClockRule clock = ClockRule::datasheet;
  bool dense = true;
  std::optional<double> flop_per_clock_per_unit;
  std::optional<double> flops_at_max;  // nothing: no maximum clock, or the peak does not scale
  const Achievable* achievable = nullptr;
  std::optional<double> achievable_ratio;  // to the dense datasheet figure
  std::optional<double> ridge_flops_per_byte;
};

// What a figure of TFLOP/s is for a chip.
struct PeakInverse {
  double flops = 0.0;
  std::optional<double> clock_mhz;   // that it would need
  std::vector<std::string> reading;  // what else it may be: sparse, a card, another precision
};

struct PeakSection {
  std::string title;
  std::vector<PeakEntry> entries;  // of one chip: the one that is asked for; else one a chip
  std::vector<PeakEntry> rates;    // of one chip: all its precisions at that clock
  std::optional<PeakInverse> inverse;
  int devices_in_name = 0;
  std::vector<std::string> remarks;
  std::string left_out;  // chips of the list without such a peak, and why; empty: none
};

// Throws as peak_at does where one chip is asked for; Error{unsupported} for sparse figures that
// its maker does not print.
[[nodiscard]] PeakSection describe_peak(const PeakQuery& query);

}  // namespace mfu
