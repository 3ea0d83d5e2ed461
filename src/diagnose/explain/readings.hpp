// Readings: the families that a slow place can mean. A table as data; thresholds.hpp has its
// bounds.
#pragma once

#include <vector>

#include "diagnose/places/place.hpp"
#include "mfu/diagnose.hpp"

namespace mfu::diagnosis {

// What the devices' telemetry says of a place.
enum class DeviceStory {
  silent,  // not measured, or not for most of its ranks
  sound,   // compared with the peers', and nothing is wrong
  bad,     // and it explains the place
};

struct Readings {
  std::vector<Family> families;  // one: that is what it is; the first saves most
  bool near_boundary = false;    // one more slow unit would be read differently
};

// Does the place fill stages of a pipeline that has others?
[[nodiscard]] bool fills_a_stage(const Job& job, const RankSet& place);
// Of a place that computes longer than its peers.
[[nodiscard]] Readings readings_of_compute(const Job& job, const RankSet& place,
                                           DeviceStory devices);
// Of a place whose own stalls are longer than its peers'.
[[nodiscard]] Readings readings_of_stall(const Job& job, const RankSet& place);

}  // namespace mfu::diagnosis
