// Pipeline timelines: a Chrome trace (array form) with one lane for each worker and kind of work,
// named "PP rank p, TP rank t, compute" (or pp-comm, tp-comm, dp-comm, misc) in thread_name; the
// process is the data-parallel rank. Each event is one operation of one microbatch, in
// microseconds, with the step in its arguments. Communication begins when the last of its group has
// arrived: what a worker waited before is a gap in its lanes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"
#include "mfu/error.hpp"

namespace mfu::traces {

enum class Lane : std::uint8_t { compute, pipeline_comm, tensor_comm, data_comm, misc };

// One worker: a lane group of one data-parallel rank, stage and tensor-parallel rank.
struct TimelineWorker {
  int dp = 0;
  int pp = 0;
  int tp = 0;
  friend auto operator<=>(const TimelineWorker&, const TimelineWorker&) = default;
};

struct TimelineOp {
  double start_us = 0.0;
  double end_us = 0.0;
  std::uint32_t worker = 0;  // index into Timeline::workers
  std::uint16_t type = 0;    // index into Timeline::types
  Lane lane = Lane::compute;
};

struct TimelineStep {
  std::int64_t id = 0;
  std::vector<TimelineOp> ops;  // by start, then worker, lane, type
};

struct Timeline {
  std::vector<TimelineWorker> workers;  // by pp, dp, tp
  std::vector<std::string> types;       // "forward-compute", by name
  std::vector<TimelineStep> steps;      // ascending
  int dp = 0, pp = 0, tp = 0;           // sizes that were recorded
  int chunks = 1;                       // model chunks of a worker (interleaved schedules)
};

// `head`: the first bytes, decompressed.
[[nodiscard]] bool sniff_timeline(std::string_view head);

// Throws Error{format} at the place of what cannot be read, Error{insufficient} where no worker or
// no step is left. Events without a step, of lanes without a name, or with a time that is none are
// left out and counted.
[[nodiscard]] Timeline read_timeline(ByteSource& source, Notes& notes,
                                     const JsonCursor::Limits& limits = {});

}  // namespace mfu::traces
