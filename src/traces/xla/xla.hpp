// Reads the Chrome traces of JAX and XLA (plugins/profile/.../HOST.trace.json.gz): a process for
// each device ("/device:TPU:0", "/device:GPU:3") whose threads are lanes by name.
//
// Steps: the lane "Steps"; a step ends with its event, and the gap before it is its own, as in
// kineto.hpp. Without one: the captured span.
// Activity: of a GPU the lanes "Stream #N", else the lane "XLA Ops". An operation that only holds
// others (while, conditional, call) is left out where they are recorded. Communication by the
// name of the HLO operation: all-reduce.3, all-gather-done, collective-permute; of a "-start" and
// "-done" the core waits in the second. Copies between host and device and infeed are memory.
//
// One RankTrace a device, without a rank where the file holds several: a file holds one host's.
#pragma once

#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "traces/classify.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

[[nodiscard]] bool sniff_xla(std::string_view head);

// "all-reduce-done.3", or what the profiler calls its category where that says more.
[[nodiscard]] Activity classify_hlo(std::string_view name, std::string_view category);

// In the order of the devices. Throws Error{insufficient} where no device has an operation.
// Memory: 32 bytes an event of a device.
[[nodiscard]] std::vector<RankTrace> read_xla(ByteSource& source, Notes& notes);

}  // namespace mfu::traces
