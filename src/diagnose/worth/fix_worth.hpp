// What fixes are worth.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mfu/diagnose.hpp"

namespace mfu {

// What fixes are worth: each family's alone, and all of them in the order in which they are made.
// Order matters: work is balanced after slow places and stalls are gone, and kernels come last.
// With T0 the step as it is, T1 without slow places, stalls and material transfer, T2 balanced, T3
// with every GPU at its target:
//   MFU = F/(N P T3) x T3/T2 x T2/T1 x T1/T0, exactly.
enum class FixStage { actual, bursts_and_links, balanced, gpu_at_target };
[[nodiscard]] std::string_view to_string(FixStage stage) noexcept;

// Steps are seconds, means over the steps used; mfu is there where the headline has one.
struct FamilyWorth {
  Family family = Family::healthy;
  double step_seconds = 0.0;  // that is left when this family alone is fixed; never over T0
  std::optional<double> mfu;
  double in_order_seconds = 0.0;  // what its fix saves in its place in the order
  bool material = false;
};

struct ChainStep {
  FixStage stage = FixStage::actual;
  double step_seconds = 0.0;  // never over the step before it
  double ratio = 1.0;         // to the step before it, 0..1; of the first: 1
  std::optional<double> mfu;
  std::vector<Family> families;  // whose fixes are new here
};

struct FixWorth {
  std::vector<FamilyWorth> alone;  // the families that lose something, largest gain first
  std::array<ChainStep, 4> chain;  // always all four, in the order of FixStage
};

// The same for the state that holds at the end of the run, where that is not the state of all
// steps: after what began late, without what is gone. What is left of the job goes on like this.
struct EndState {
  std::int64_t first_step = 0;  // id
  std::int64_t steps = 0;       // that it stands on
  FixWorth worth;               // T0: of these steps; bursts that come back count as over all steps
};

// What seconds of a step come to over a job. `saved_seconds` a step of `step_seconds`, both of all
// `gpus` together; a price is of one GPU for one hour, in whatever money it was given.
struct CostBasis {
  std::int64_t gpus = 0;
  double step_seconds = 0.0;
  std::optional<double> steps_left;
  std::optional<double> price_per_gpu_hour;
};
struct Cost {
  double gpu_hours_a_day = 0.0;  // of the 24 x gpus that a day has
  std::optional<double> money_a_day;
  std::optional<double> gpu_hours_left;  // for the steps that are left
  std::optional<double> money_left;
  std::optional<double> seconds_left;  // by which the job ends earlier
};
[[nodiscard]] Cost cost_of(double saved_seconds, const CostBasis& basis) noexcept;

}  // namespace mfu
