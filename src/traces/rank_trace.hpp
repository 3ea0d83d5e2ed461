// RankTrace: what one profiler trace is reduced to while it is read. One trace is one process,
// which is one rank; nothing here grows with the number of events, except the collectives.
//
// Attribution of a window (per rank, on the GPU's own clock): every instant belongs to exactly one
// of compute (at least one compute kernel runs), exposed communication (a communication kernel or
// a peer-to-peer copy runs and no compute kernel), exposed memory (a copy or a set runs and neither
// of the others), idle (nothing runs). The four sum to the window. Communication under compute is
// counted apart.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mfu::traces {

// Nanoseconds, all >= 0. window == compute + exposed_comm + exposed_memory + idle.
struct Split {
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_comm_ns = 0;
  std::int64_t exposed_memory_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t overlapped_comm_ns = 0;  // part of compute_ns, not of the sum
};

struct StepSplit {
  std::int64_t id = 0;        // N of ProfilerStep#N; 0 for the captured span
  std::int64_t begin_ns = 0;  // of the window, in the trace's absolute time
  std::int64_t end_ns = 0;
  Split split;
};

inline constexpr std::uint32_t kNoStep = std::numeric_limits<std::uint32_t>::max();

// One communication kernel (or, without a GPU, one collective's host range), in order of start.
struct CollectiveSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t stream = 0;
  std::uint32_t step = kNoStep;  // index into RankTrace::steps
  std::uint32_t kind = 0;        // index into RankTrace::kinds: "allreduce", "send", "unknown" ...
  std::uint32_t group = 0;       // index into RankTrace::groups: the process group's name or ranks
  std::int64_t sequence = -1;    // "Seq" of the process group; -1: not in the trace
  std::int64_t bytes = -1;       // message size; -1: not in the trace
  std::int32_t group_size = -1;  // -1: not in the trace
};

// What the steps of a trace are.
enum class StepSource {
  gpu_annotation,   // from the GPU side: kernels by the step that launched them
  host_annotation,  // the host's ProfilerStep window, where launches cannot be linked
  nvtx,             // NVTX ranges
  scheduler,        // a step field in the events (pipeline timelines)
  captured_span,    // no steps in the trace: first to last GPU activity, one "step"
};

struct RankTrace {
  std::string file;
  std::string format;                // "kineto", "nsight sqlite"
  std::optional<std::int64_t> rank;  // from the trace, else from the file's name
  bool rank_from_name = false;
  std::optional<std::int64_t> world_size;
  std::string node;  // empty: not in the trace
  std::optional<int> device;
  std::string device_name;  // as the driver prints it; empty: not in the trace
  bool has_gpu = false;     // false: CPU only (Gloo)
  // GPU activities in the trace, and those of them that were left out for a time that is none.
  std::int64_t activities = 0;
  std::int64_t lost_activities = 0;
  bool cut_off = false;  // the file stops in the middle

  // Added to a timestamp gives nanoseconds since the epoch; nullopt: the trace's clock is its own.
  std::optional<std::int64_t> epoch_offset_ns;

  StepSource step_source = StepSource::captured_span;
  std::vector<StepSplit> steps;  // ascending by begin
  // Without a GPU (has_gpu is false) only window and exposed_comm (the host's own collectives,
  // Gloo) are known; the rest of the window stands in idle and is not known to be idle. First to
  // last GPU activity, whatever the steps are.
  StepSplit gpu_span;
  // The host's ProfilerStep windows laid over the same GPU activity: what other tools print.
  std::vector<StepSplit> host_steps;

  std::vector<CollectiveSpan> collectives;
  std::vector<std::string> kinds;
  std::vector<std::string> groups;
};

}  // namespace mfu::traces
