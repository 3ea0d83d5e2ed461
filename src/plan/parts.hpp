// What the files of the plan share.
#pragma once

#include <optional>

#include "mfu/plan.hpp"

namespace mfu {

struct GpuCounts {
  double fewest = 0.0;
  std::optional<double> most;  // failures grow with the GPUs: as many do no more than the fewest
};
// The GPUs that together do as much as `useful_gpus` without failures. Nothing: no number does,
// since failures grow with them.
[[nodiscard]] std::optional<GpuCounts> gpus_for(double useful_gpus, const PlanInput& input);

// Whole GPUs that together do more than any other number of them, and as how many without failures.
// The rate is per GPU.
struct FastestGpus {
  double gpus = 1.0;
  double useful_gpus = 0.0;
};
[[nodiscard]] FastestGpus fastest_gpus(const FailureRate& rate);

// The most GPUs, 1 or more, whose goodput is still this much; the rate is per GPU. Nothing: not
// even one has it.
[[nodiscard]] std::optional<double> most_gpus_at(double goodput, const FailureRate& rate);

}  // namespace mfu
