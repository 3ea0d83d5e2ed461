// What telemetry says for or against these devices being the cause.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/devices/health.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/setup.hpp"
#include "timings/device_health.hpp"

namespace mfu::diagnosis {

struct WeighedDevices {
  std::vector<HealthFact> facts;
  Cause cause = Cause::none;  // the fault they show; none: nothing
  // What they call themselves where that is another chip than the peers are; empty: the same, or
  // not known.
  std::string other_chip;
  bool clock_compared = false;  // shared with peers that are not slow
};

// `own`: the devices of a finding; `peers`: those that they are held against, none of them slow;
// none: the finding is about all ranks. `slowdown`: the suspects' compute over their peers', where
// known. A state that peers share explains nothing: it is told, with how many they are.
[[nodiscard]] WeighedDevices weigh_devices(const Setup& setup, std::vector<DeviceHealth> own,
                                           std::vector<DeviceHealth> peers,
                                           std::optional<double> slowdown);

}  // namespace mfu::diagnosis
