// Accelerators: peak at a clock, and which row a device name means.
//
// peak = units x FLOP per clock and unit (dense, by precision) x clock. The datasheet's own figure is
// the default; its clock is either documented or implied by that figure, and the row says which.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/timings.hpp"

namespace mfu {

enum class Precision { fp64_tc, fp32, tf32, fp16, bf16, fp8, int8 };
[[nodiscard]] std::string_view to_string(Precision precision) noexcept;
// Throws Error{usage} that lists the known names.
[[nodiscard]] Precision parse_precision(std::string_view text);

struct PrecisionRate {
  Precision precision;
  double flop_per_clock_per_unit;  // dense
  double datasheet_flops;          // FLOP/s, dense
};

struct Chip {
  std::string_view id;    // as `mfu` prints it: "h100-sxm5-80gb"
  std::string_view name;  // for people: "H100 SXM"
  int units;              // streaming multiprocessors or compute units
  std::span<const PrecisionRate> rates;
  double datasheet_tensor_mhz;    // the clock that the tensor figures mean
  bool datasheet_clock_implied;   // worked out from the datasheet figure: proves nothing
  double base_mhz;                // 0: not known
  double max_mhz;                 // 0: not known
  double memory_bytes;
  double bandwidth_bytes_per_s;
  std::span<const std::string_view> aliases;  // whole-token names, drivers' and people's
  std::string_view source;
};

[[nodiscard]] std::span<const Chip> chips() noexcept;

// The row that `name` means: whole tokens, case-folded, longest alias first; vendor prefixes dropped.
// Throws Error{unsupported} with the nearest names; never falls back.
[[nodiscard]] const Chip& find_chip(std::string_view name);

struct Peak {
  double flops;             // FLOP/s per device, dense
  double clock_mhz;         // the clock that this figure means
  bool clock_implied;       // that clock was worked out from the datasheet figure
};

// Throws Error{unsupported} when the chip has no rate for the precision, or no such clock.
[[nodiscard]] Peak peak_at(const Chip& chip, Precision precision, const Clock& clock);

}  // namespace mfu
