// The terms that factors and parts are sums of, and how waiting was told apart.
#pragma once

#include <string_view>

namespace mfu {

// One step's terms of the product at the top, in seconds. With B the schedule's own bubble,
// `bubble` is max_r (C+O+X) + B.
struct StepTerms {
  double reference = 0.0;  // c
  double balance = 0.0;    // max_r C
  double own_stall = 0.0;  // max_r (C+O)
  double transfer = 0.0;   // max_r (C+O+X)
  double bubble = 0.0;
  double step = 0.0;  // T
};

// How waiting was separated from transfer and own stall.
enum class SplitMethod {
  separate,        // the file has a wait series
  groups,          // per group and step: the minimum over the group's ranks
  step_minimum,    // per step: the minimum over all ranks
  pipeline_model,  // step minus the pipeline's compute minus the common stall
};
[[nodiscard]] std::string_view to_string(SplitMethod split) noexcept;

}  // namespace mfu
