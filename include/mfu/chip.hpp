// Accelerators: peak at a clock, and which row a device name means.
//
// peak = units x FLOP per clock and unit (dense, by precision) x clock. The datasheet's own figure
// is the default; its clock is either documented or implied by that figure, and the rate says
// which.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

enum class Precision { fp64_tc, fp32, tf32, fp16, bf16, fp8, int8 };
[[nodiscard]] std::string_view to_string(Precision precision) noexcept;
// Case-folded; also the long names ("bfloat16", "half", "bf16-mixed").
// Throws Error{unsupported} at `place` that lists the known names.
[[nodiscard]] Precision parse_precision(std::string_view text, const Place& place = {});

struct PrecisionRate {
  Precision precision;
  double flop_per_clock_per_unit;  // dense
  double datasheet_flops;          // FLOP/s, dense
  double datasheet_mhz;            // the clock that the datasheet's figure means
  bool datasheet_clock_implied;    // that clock was worked out from the figure: it proves nothing
};

struct Chip {
  std::string_view id;    // as `mfu` prints it: "h100-sxm5-80gb"; its first token names the model
  std::string_view name;  // for people: "H100 SXM"
  int units;              // streaming multiprocessors or compute units
  std::span<const PrecisionRate> rates;
  double base_mhz;  // 0: not known
  double max_mhz;   // 0: not known
  double memory_bytes;
  double bandwidth_bytes_per_s;
  std::span<const std::string_view> aliases;  // drivers' names and people's, without the vendor
  std::string_view source;
};

// In the order in which an undecided name is resolved (see match_chip).
[[nodiscard]] std::span<const Chip> chips() noexcept;

struct ChipMatch {
  const Chip* chip = nullptr;
  // Other rows that the name could mean as well: they have the same peaks, so the name is accepted.
  std::vector<std::string_view> same_peak_ids;
};

// The rows that `name` means. Whole tokens, case-folded; '-', '_' and space are equal; vendor
// prefixes are dropped; the order of the tokens does not matter. A name that leaves out tokens of
// several rows is accepted where their peaks agree ("a100"), and refused where not ("h100").
// Throws Error{unsupported} at `place` with the variants or the nearest names; never falls back.
[[nodiscard]] ChipMatch match_chip(std::string_view name, const Place& place = {});
[[nodiscard]] const Chip& find_chip(std::string_view name, const Place& place = {});

struct Peak {
  double flops;        // FLOP/s per device, dense
  double clock_mhz;    // the clock that this figure means
  bool clock_implied;  // that clock was worked out from the datasheet figure
};

// Throws Error{unsupported} when the chip has no rate for the precision or no such clock, and
// Error{usage} when a clock in MHz cannot be this chip's.
[[nodiscard]] Peak peak_at(const Chip& chip, Precision precision, const Clock& clock);

}  // namespace mfu
