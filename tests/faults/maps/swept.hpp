// Jobs of one stage in which everything is set by hand, for sweeps: no draw but the noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "mfu/timings.hpp"

namespace mfu::faults {

// What a recorder writes: where the waits go, and what it declares.
struct Recorder {
  WaitsIn waits = WaitsIn::comm;
  WaitsIn declared = WaitsIn::comm;
};

struct Swept {
  std::size_t ranks = 16;
  std::size_t gpus_per_node = 8;
  std::size_t steps = 24;
  double compute_s = 1.0;
  double transfer_s = 0.03;
  double step_noise = 0.003;  // of a rank's compute, from step to step
  double lot = 0.002;         // of the compute, between the ranks
  Recorder recorder;
  std::uint64_t seed = 1;
  // Of a rank, in a step: times the compute; seconds of its own stall.
  std::function<double(std::size_t rank, std::size_t step)> factor;
  std::function<double(std::size_t rank, std::size_t step)> stall_s;
};

struct SweptJob {
  RunTimings run;
  double saving = 0.0;  // share of the step that the job without factor and stalls saves
};

[[nodiscard]] SweptJob sweep(const Swept& swept);

}  // namespace mfu::faults
