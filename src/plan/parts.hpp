// What the parts of the plan share, with each other and with their words.
#pragma once

#include <optional>

#include "mfu/plan.hpp"

namespace mfu {

// No large run has published a higher MFU: beyond this, twice the MFU is not a way out.
inline constexpr double kHighestMfu = 0.7;

// A goodput below this is no progress: no digit of an answer would mean anything.
inline constexpr double kNothingDone = 1e-9;

// Statements closer than this agree.
inline constexpr double kPlanAgreement = 0.01;

// Daly 2006: M exp(R/M) (exp((t+d)/M) - 1) of wall time for t of step time. Exact for
// failures at a constant rate, also during checkpoints and restarts. `gpus` counts where the rate
// is per GPU. A rate that lets nothing through has useful = 0.
[[nodiscard]] Goodput goodput_of(const FailureRate& rate, double gpus);

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
