// A measurement against other peaks than its own, and what explains an MFU over 1.
#pragma once

#include <optional>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/measure.hpp"

namespace mfu {

struct PeakRow {
  const Chip* chip = nullptr;  // nothing: from a given number
  std::optional<Precision> precision;
  std::vector<PrecisionShare> mix;  // several precisions: their blend; empty: one
  std::optional<ClockRule> clock;   // nothing: from a given number
  double clock_mhz = 0.0;           // 0: unknown
  bool dense = true;
  double flops = 0.0;
  std::optional<double> mfu;
  bool used = false;  // the peak of the measurement itself
};

// The measurement's peak and its neighbours: each precision of a mix, every clock of the chip in
// that precision, and the 2:4-sparse headline figure, which is twice the datasheet's dense one. For
// a number: what chips have it, as their dense or as their sparse figure.
[[nodiscard]] std::vector<PeakRow> peaks_around(const Calculation& calculation);

enum class ExcuseKind {
  gpus,          // the throughput is that of `count` GPUs
  accumulation,  // counted once too often
  sparse,        // the sparse peak
  clock,         // the GPU ran faster than the peak's clock: `count` MHz at least
  package,       // the figure is of all `count` devices of what is sold as one
  other_chip,    // `chip`
  other_precision,
  given_peak,  // twice the given peak
  hardware,    // the achieved figure holds recomputation
  causal,      // full attention counted where the kernel does half
};
struct Excuse {
  ExcuseKind kind;
  double would_be = 0.0;  // MFU; 0..1
  double count = 0.0;
  const Chip* chip = nullptr;
  std::optional<Precision> precision;
  double peak_flops = 0.0;
};
// What would explain an MFU over 1, likeliest first. What leaves it over 1 explains nothing.
[[nodiscard]] std::vector<Excuse> excuses_for(const Calculation& calculation);

}  // namespace mfu
