// What a run was, as far as its diagnosis stands on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flops/counted_work.hpp"
#include "mfu/boxed.hpp"
#include "mfu/chip.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"

namespace mfu {

struct Setup {
  std::string model;
  const Chip* chip = nullptr;  // nothing: not given, or not in the table
  std::string chip_id;         // empty: no chip
  std::string chip_name;
  std::int64_t gpus = 0;            // N
  std::int64_t recorded_ranks = 0;  // that this report stands on
  std::int64_t expected_ranks = 0;  // that the recorded layout should have
  std::string precision;            // "bf16", "bf16=0.7,fp8=0.3"; empty: not known
  std::optional<double> peak_flops_per_gpu;
  Clock clock;
  std::optional<double> clock_mhz;  // that the peak means
  bool peak_given = false;          // hardware.peak_tflops, not the chip table
  std::string convention;           // empty: not named
  std::optional<double> seq_len;
  std::optional<double> tokens_per_step;
  std::optional<double> flops_per_step;
  Reference reference = Reference::median;
  int stages = 1;
  std::optional<int> microbatches;
  std::string job;  // its name; empty: the run has none
  std::optional<double> global_batch;
  std::optional<Recompute> recompute;
  Parallelism parallelism;
  std::int64_t nodes = 0;      // that the recorded ranks name; 0: they name none
  Boxed<CountedWork> counted;  // where the work was counted, and not given
};

}  // namespace mfu
