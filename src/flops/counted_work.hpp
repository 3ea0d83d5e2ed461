// The work of a step, counted from a run's model where the run does not state it.
#pragma once

#include <optional>
#include <string>

#include "mfu/model.hpp"

namespace mfu {

struct CountedWork {
  double params = 0.0;
  double active_params = 0.0;
  std::optional<double> hardware_share;  // hardware over model FLOPs, where recompute is given
  std::string settings;                  // the convention's switches
  ModelShape shape;
};

}  // namespace mfu
