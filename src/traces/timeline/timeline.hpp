// Pipeline timelines: a Chrome trace (array form) with one lane for each worker and kind of work,
// named "PP rank p, TP rank t, compute" (or pp-comm, tp-comm, dp-comm, misc) in thread_name; the
// process is the data-parallel rank. Each event is one operation of one microbatch, in
// microseconds, with the step in its arguments. Recorders let communication begin when the last of
// its group has arrived (what a worker waited before is a gap in its lanes), or when its own worker
// is ready (the waiting is part of it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"
#include "mfu/error.hpp"

namespace mfu::traces {

enum class Lane : std::uint8_t { compute, pipeline_comm, tensor_comm, data_comm, misc };

// What an operation does, as far as its name and its lane say the same. Compute comes first.
enum class Work : std::uint8_t {
  forward,
  backward,
  optimizer,
  other_compute,  // in the compute lane, of another name
  forward_send,   // to the next stage
  forward_recv,
  backward_send,  // to the stage before
  backward_recv,
  params_all_gather,
  grads_reduce_scatter,
  layernorm_grads_all_reduce,
  embedding_grads_all_reduce,
  clip_main_grad,  // the norm of the gradient, over all workers
  other_comm,      // in a communication lane, of another name: its peers are not known
  own_time,        // neither: what stands in the misc lane
};
[[nodiscard]] constexpr bool is_compute(Work work) noexcept { return work <= Work::other_compute; }
[[nodiscard]] constexpr bool is_point_to_point(Work work) noexcept {
  return work >= Work::forward_send && work <= Work::backward_recv;
}
[[nodiscard]] constexpr bool is_comm(Work work) noexcept {
  return work >= Work::forward_send && work <= Work::other_comm;
}

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
  std::uint32_t step = 0;    // index into Timeline::steps
  std::uint32_t worker = 0;  // index into Timeline::workers
  // From the arguments; -1: not there. `sequence` counts a worker's operations of one type and
  // step.
  std::int32_t chunk = -1;
  std::int32_t microbatch = -1;
  std::int32_t sequence = -1;
  std::uint16_t type = 0;  // index into Timeline::types
  Work work = Work::own_time;
};

struct TimelineStep {
  std::int64_t id = 0;
  std::size_t begin = 0;  // its operations are Timeline::ops[begin] to [end - 1]
  std::size_t end = 0;
};

struct Timeline {
  std::string file;                     // as the user named it
  std::vector<TimelineWorker> workers;  // by pp, dp, tp
  std::vector<std::string> types;       // "forward-compute", by name
  std::vector<TimelineStep> steps;      // ascending
  std::vector<TimelineOp> ops;          // by step, worker, start
  int dp = 0, pp = 0, tp = 0;           // sizes that were recorded
  int chunks = 1;                       // model chunks of a worker (interleaved schedules)

  [[nodiscard]] std::span<const TimelineOp> ops_of(const TimelineStep& step) const noexcept {
    return {ops.data() + step.begin, step.end - step.begin};
  }
};

// "step 16, dp 0, stage 3": where an operation stands, for notes.
[[nodiscard]] Place place_of(const Timeline& timeline, const TimelineOp& op);

// `head`: the first bytes, decompressed.
[[nodiscard]] bool sniff_timeline(std::string_view head);

// Throws Error{format} at the place of what cannot be read, Error{insufficient} where no worker or
// no whole step is left. Events without a step, of lanes without a name, or with a time that is
// none are left out and counted; so are steps in which some worker has fewer forwards or backwards
// than another: a part of them was not recorded. Memory: 48 bytes an operation, and as much again
// while it reads.
[[nodiscard]] Timeline read_timeline(ByteSource& source, Notes& notes,
                                     const JsonCursor::Limits& limits = {});

}  // namespace mfu::traces
