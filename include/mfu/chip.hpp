// Accelerators: peak at a clock, and which row a device name means.
//
//   peak = units x FLOP per clock and unit (dense, by precision) x clock
// The datasheet's own figure is the default; its clock is documented, or implied by that figure, or
// unknown, and the rate says which. One row is one device as a framework counts them: a die of an
// MI250X, a core of a TPU v3, a GPU of a GB200 board.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// Matrix rates where the chip has matrix units. fp16 and fp8 accumulate in FP32, as training does;
// the *_fp16acc rates differ only on GeForce cards.
enum class Precision {
  fp64_tc,
  fp32,
  tf32,
  fp16,
  fp16_fp16acc,
  bf16,
  fp8,
  fp8_fp16acc,
  fp6,
  int8,
  fp4,
  int4,
};
[[nodiscard]] std::string_view to_string(Precision precision) noexcept;
// Case-folded; also the long names ("bfloat16", "half", "bf16-mixed").
// Throws Error{unsupported} at `place` that lists the known names.
[[nodiscard]] Precision parse_precision(std::string_view text, const Place& place = {});

// Where the clock that a datasheet's figure means comes from.
enum class ClockBasis {
  documented,  // written down apart from the figure: units x rate x clock proves the figure
  implied,     // worked out from the figure: proves nothing
  unknown,     // units x rate x no clock gives the figure: it is taken as it is
};

struct PrecisionRate {
  Precision precision;
  double flop_per_clock_per_unit;  // dense; 0: not known, the peak is not scaled by a clock
  double datasheet_flops;          // FLOP/s of one device, dense
  double datasheet_mhz;            // the clock that the datasheet's figure means; 0: unknown
  ClockBasis basis;
};

// What is sold as one thing holds several devices, or is called so.
struct Package {
  int devices = 1;
  std::string_view name;  // "card of two dies": what holds them; empty with one device
};

struct Chip {
  std::string_view id;    // as `mfu` prints it: "h100-sxm5-80gb"; its first token names the model
  std::string_view name;  // for people: "H100 SXM"
  std::string_view unit_kind;  // "SM", "CU", "MXU", "MME", "core"
  int units;                   // of one device
  std::span<const PrecisionRate> rates;
  double base_mhz;  // 0: not known
  double max_mhz;   // 0: not known
  double memory_bytes;
  double bandwidth_bytes_per_s;
  double power_w;       // board or module limit; 0: not known
  bool sparse_figures;  // the maker also prints 2:4 sparse figures of twice the dense ones
  std::span<const std::string_view> aliases;   // drivers' names and people's, without the vendor
  std::span<const std::uint16_t> pci_devices;  // PCI device ids of vendor 10de
  std::string_view gfx;                        // AMD's architecture name; empty: none
  Package package;
  std::string_view not_scaled;  // why no clock gives the figures; empty: they scale
  std::string_view trap;        // what people get wrong about this chip; empty: nothing
  std::span<const std::string_view> unconfirmed;  // fields that no source was found for
  std::string_view source;
  bool user_defined = false;  // from --chips FILE
};

// In the order in which an undecided name is resolved (see match_chip).
[[nodiscard]] std::span<const Chip> chips() noexcept;

// The best matrix product that was measured on a chip. The denominator is ours, not the source's.
struct Achievable {
  std::string_view chip_id;
  Precision precision;
  double flops;      // FLOP/s, dense
  double clock_mhz;  // while it was measured; 0: not recorded
  std::string_view note;
  std::string_view source;
};
[[nodiscard]] std::span<const Achievable> achievable() noexcept;
// The largest that was measured; nothing: no result is known.
[[nodiscard]] const Achievable* best_achievable(const Chip& chip, Precision precision) noexcept;

// Degrees Celsius; 0: not known.
struct ThermalLimits {
  double slowdown_c = 0.0;     // from here on the hardware halves the clock or more
  double memory_most_c = 0.0;  // the memory's highest operating temperature
};
[[nodiscard]] ThermalLimits thermal_limits(const Chip& chip) noexcept;

struct ChipMatch {
  const Chip* chip = nullptr;  // lives as long as the program; a user's chip as long as its table
  // Other rows that the name could mean as well: they have the same peaks, so the name is accepted.
  std::vector<std::string_view> same_peak_ids;
  // What the name counts that is not devices: "v4-8" is 4. 0: nothing of the kind.
  int devices_in_name = 0;
  std::string remark;  // what the user should know about this name; empty: nothing
};

// What is known of a device beside its name. Any of it may be missing.
struct DeviceFacts {
  std::string name;                         // as the driver prints it; may be empty (AMD)
  std::optional<std::uint32_t> pci_device;  // 0x233010DE, 0x2330
  std::string gfx;                          // "gfx942:sramecc+:xnack-"
  std::optional<int> units;
  std::optional<double> memory_bytes;
  std::optional<double> max_mhz;
  std::optional<double> power_limit_w;
};

// The row that `name` means. Whole tokens, case-folded; '-', '_' and space are equal; vendor
// prefixes are dropped; the order of the tokens does not matter. A name that leaves out tokens of
// several rows is accepted where their peaks agree ("a100"), and refused where not ("h100"). A MIG
// slice ("NVIDIA H100 80GB HBM3 MIG 3g.40gb") is its parent with the units of the slice. AMD's
// empty and generic names are settled by what stands beside them ("gfx942 304 CU 192 GB"). `user`:
// rows of --chips, which come first. Throws Error{unsupported} at `place` with the variants or the
// nearest names; never falls back.
[[nodiscard]] ChipMatch match_chip(std::string_view name, const Place& place = {},
                                   std::span<const Chip> user = {});
[[nodiscard]] const Chip& find_chip(std::string_view name, const Place& place = {});

// As match_chip, by PCI device id first, then by name, then by gfx, units and memory.
[[nodiscard]] ChipMatch match_device(const DeviceFacts& facts, const Place& place = {},
                                     std::span<const Chip> user = {});

// What the device says about itself against its row: memory, maximum clock, power limit. One
// sentence for each conflict; none: they agree or are not known.
[[nodiscard]] std::vector<std::string> conflicts(const Chip& chip, const DeviceFacts& facts);

// The same chip with other units: a slice, a part that is fused off. Lives as long as the program.
[[nodiscard]] const Chip& with_units(const Chip& chip, int units, std::string_view what);

struct Peak {
  double flops = 0.0;      // FLOP/s per device, dense
  double clock_mhz = 0.0;  // the clock that this figure means; 0: unknown
  ClockBasis basis = ClockBasis::documented;
  bool above_max = false;  // that clock is above the chip's maximum
};

// Throws Error{unsupported} when the chip has no rate for the precision, no such clock, or does not
// scale with a clock, Error{usage} when a clock in MHz cannot be this chip's, and
// Error{insufficient} for a measured clock that nothing has measured.
[[nodiscard]] Peak peak_at(const Chip& chip, Precision precision, const Clock& clock);
// Nothing: the chip has none. `flop_per_clock_per_unit` is never read where it is 0.
[[nodiscard]] const PrecisionRate* rate_of(const Chip& chip, Precision precision) noexcept;

// Whether the maker also prints a 2:4 sparse figure of twice the dense one for this precision.
[[nodiscard]] bool has_sparse_figure(const Chip& chip, Precision precision) noexcept;

// Two figures are the same within the rounding of headlines (0.1 %): 1979 for 1978.9.
[[nodiscard]] bool same_figure(double a, double b) noexcept;

// The first chip whose 2:4-sparse figure in `precision` is this number, with the dense one.
// Nothing where the number is also some chip's dense figure in that precision.
struct SparseFigure {
  const Chip* chip = nullptr;
  double dense_flops = 0.0;
};
[[nodiscard]] std::optional<SparseFigure> sparse_figure(double flops, Precision precision);

// The clock in MHz at which the chip's peak is `flops`. Throws as peak_at does.
[[nodiscard]] double clock_for(const Chip& chip, Precision precision, double flops);

// What the matrix units do at a time. The peak of a mix is the mean of the peaks, weighted by time.
struct PrecisionShare {
  Precision precision;
  double share = 0.0;  // of the time, in (0, 1]; they sum to 1
};
// "bf16=0.7,fp8=0.3" or "bf16". Throws Error{usage} at `place`: shares that do not sum to 1, a
// precision twice, a share out of (0, 1].
[[nodiscard]] std::vector<PrecisionShare> parse_precision_mix(std::string_view text,
                                                              const Place& place = {});
// "bf16", or "bf16=0.7,fp8=0.3".
[[nodiscard]] std::string to_text(std::span<const PrecisionShare> mix);
// The mean of the peaks, weighted by the share of the time. Its clock is unknown where the parts
// mean different ones. Throws as peak_at does.
[[nodiscard]] Peak peak_of_mix(const Chip& chip, std::span<const PrecisionShare> mix,
                               const Clock& clock);

}  // namespace mfu
