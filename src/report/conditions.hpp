// What a run does already, as far as its file says so: nobody is told to do what is done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mfu/analyze.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// False and empty mean that the file does not say so, not that it is not so.
struct Conditions {
  std::optional<Recompute> recompute;
  bool interleaved = false;
  bool forward_backward = false;       // recorded apart
  std::optional<double> hidden_share;  // of the communication, by compute (overlapped_comm)
  // Checks of hardware that the file holds no telemetry for: "temperature", "SM clock" ...
  std::vector<std::string> unmeasured{"temperature", "SM clock", "power cap", "ECC", "Xid"};
  std::optional<Placement> placement;
  // What `job` says in free words, such as "checkpoint": "async" or "gc": "manual".
  bool async_checkpoint = false;
  bool manual_gc = false;
  bool compiled = false;
  bool fused_attention = false;
  bool tokenised = false;
  std::string loader_workers;  // their number, as written
};

[[nodiscard]] Conditions conditions_of(const Diagnosis& diagnosis, const RunTimings& run);

}  // namespace mfu
