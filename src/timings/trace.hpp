// What profiler traces show beyond the step columns: each rank's own split, and which rank arrived
// last at which collective. Seconds throughout. Carried by RunTimings, shown by `diagnose`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mfu {

// A window of one rank: window_s = compute_s + exposed_comm_s + exposed_memory_s + idle_s.
struct TraceSplit {
  double window_s = 0.0;
  double compute_s = 0.0;          // at least one compute kernel runs
  double exposed_comm_s = 0.0;     // communication runs and no compute
  double exposed_memory_s = 0.0;   // a copy or a set runs and neither of the others
  double idle_s = 0.0;             // nothing runs
  double overlapped_comm_s = 0.0;  // communication under compute: part of compute_s
};

// What the steps of a trace are.
enum class TraceSteps {
  gpu_annotation,   // kernels by the step that launched them
  host_annotation,  // the host's ProfilerStep windows
  nvtx,             // NVTX ranges
  scheduler,        // a step field in the events
  captured_span,    // no steps in the trace: first to last GPU activity, taken as one
};
[[nodiscard]] std::string_view to_string(TraceSteps source) noexcept;

struct TraceRank {
  std::int64_t rank = 0;
  std::string file;             // as the user named it
  bool rank_from_name = false;  // else the trace says it
  TraceSteps steps_from = TraceSteps::captured_span;
  std::int64_t steps = 0;  // that are used
  // GPU activities in the trace, and those of them that were left out for a time that is none: what
  // they did is counted as idle.
  std::int64_t activities = 0;
  std::int64_t lost_activities = 0;
  bool cut_off = false;  // the file stops in the middle: what came later is not known
  TraceSplit in_steps;   // sum over them
  // The two definitions of idle that other tools print.
  TraceSplit gpu_span;          // first to last GPU activity
  TraceSplit host_windows;      // sum over the host's step windows
  std::int64_t host_steps = 0;  // 0: the trace has no such windows
  // Over the used steps; nullopt where waiting cannot be separated from transfer.
  std::optional<double> wait_s;  // in collectives, hidden by compute or not
};

// What can be said across ranks.
enum class TracePairing {
  none,       // no collectives, or one rank: nothing to pair
  paired,     // the same collectives, and their ends agree: arrival order can be used
  durations,  // the same collectives (by their numbers), but clocks that do not agree
  refused,    // which collective of one rank is which of another is not known
};
[[nodiscard]] std::string_view to_string(TracePairing pairing) noexcept;

struct TraceCollective {
  std::int64_t index = 0;  // among all that were paired, by time
  std::int64_t step = 0;   // id
  std::string kind;
  std::string group;                     // empty: not in the trace
  std::optional<std::int64_t> sequence;  // of its process group
  std::optional<std::int64_t> bytes;
  std::int64_t ranks = 0;  // recorded ones that took part
  // The last to arrive; several where the ends do not resolve their order; empty: all arrived
  // together, or arrival order cannot be used.
  std::vector<std::int64_t> last_ranks;
  std::optional<double>
      late_s;               // latest start less earliest start, and not more than longest_wait_s
  double transfer_s = 0.0;  // shortest duration of the group
  double longest_wait_s = 0.0;         // longest duration less shortest
  std::int64_t longest_waiter = 0;     // rank
  std::int64_t shortest_rank = 0;      // rank whose duration is the transfer
  std::optional<double> end_spread_s;  // latest end less earliest end, offsets removed
};

// How often a rank was the last.
struct TraceLate {
  std::int64_t rank = 0;
  std::int64_t collectives = 0;  // in which it was last, alone or with others
  double late_s = 0.0;           // sum over them, against the first to arrive
  double first_late_s = 0.0;     // in the first of them
  std::int64_t first_index = 0;
};

struct TraceEvidence {
  std::vector<TraceRank> ranks;  // ascending
  std::optional<std::int64_t> world_size;

  TracePairing pairing = TracePairing::none;
  bool by_sequence = false;      // the traces number their collectives; else by order
  std::string reason;            // why not `paired`, one clause; else empty
  std::int64_t collectives = 0;  // there are, all groups together, within the used steps
  std::int64_t paired = 0;       // of them
  // Share of the communication kernels' time that is paired, and whether it is enough for a wait
  // series of its own.
  double paired_share = 0.0;
  bool waits_separate = false;

  // How well the ends agree, and what was removed so that they do.
  std::optional<double> end_spread_s;     // median over the paired collectives
  std::optional<double> end_tolerance_s;  // beyond it two spans are not one collective
  std::optional<double> clock_offset_s;   // largest offset between two ranks that was removed
  std::vector<TraceLate> late;            // by number of collectives, most first
  std::int64_t nobody_late = 0;           // collectives at which all arrived together

  std::vector<TraceCollective> list;  // by time; the first kMostTraceCollectives
};
inline constexpr std::size_t kMostTraceCollectives = 4096;

// Fills `late` and `nobody_late` from `list`.
void count_late(TraceEvidence& trace);

// A recorded pipeline schedule, replayed with other durations. Means over the steps.
//
// A communication costs its transfer: end - latest start in its group. `ideal`: each kind of
// compute takes its mean and each kind of communication its median, over steps, workers and
// microbatches; after Lin et al., "Understanding Stragglers in Large Model Training Using What-if
// Analysis", OSDI 2025. Replays of large timelines are bounded: of many stages, data-parallel ranks
// or ranks those with most time above the others' are tried, and a note says so.
struct PipelineReplay {
  struct Part {
    std::string name;
    double slowdown = 0.0;  // the ideal with this part's own durations, over the ideal
  };
  std::int64_t steps = 0;
  double recorded_step_s = 0.0;  // first start to last end
  double replayed_step_s = 0.0;  // own durations, nothing between the operations
  double ideal_step_s = 0.0;
  // Forward and backward alike on all stages: the mean of what the stages' middle ranks take. With
  // one stage it is replayed_step_s.
  double balanced_stages_step_s = 0.0;
  double no_waits_step_s = 0.0;             // no rank waits for another: the longest rank's own
  std::optional<std::int64_t> worst_rank;   // whose compute, at its peers' median (the other ranks
                                            // of its stage), leaves least; nullopt: none has peers
  double worst_rank_at_peers_step_s = 0.0;  // that is left then
  std::vector<Part> by_dp, by_stage;
  // "forward-compute", "grads-reduce-scatter" ...; the two ends of a transfer between stages are
  // one part: "forward-pp-comm", "backward-pp-comm".
  std::vector<Part> by_op_type;
  [[nodiscard]] double slowdown() const { return replayed_step_s / ideal_step_s; }
  [[nodiscard]] double launch_slowdown() const { return recorded_step_s / replayed_step_s; }
};

}  // namespace mfu
