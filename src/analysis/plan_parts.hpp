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

// The most GPUs, 1 or more, whose goodput is still this much; the rate is per GPU. Nothing: not
// even one has it.
[[nodiscard]] std::optional<double> most_gpus_at(double goodput, const FailureRate& rate);

}  // namespace mfu
