// RunTimings: what every input is reduced to. Per rank and step, in seconds: compute,
// communication, stall, waiting. Contract of the document: the format `mfu.run/1`.
//
// After build() (src/timings) the following holds, and analysis relies on it:
//   ranks are in ascending order of `rank`, each once; steps are ascending, each once;
//   every column that is present has steps() x ranks() values, finite and >= 0, or NaN for a
//   missing sample (absent is not zero); compute, comm and stall are always present.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mfu/boxed.hpp"

namespace mfu {

// Where the recorder put the time that a rank waited for its peers.
enum class WaitsIn { comm, stall, separate };

enum class PipelineSchedule { one_f_one_b, gpipe, interleaved };

enum class Recompute { none, selective, full };
[[nodiscard]] std::string_view to_string(Recompute recompute) noexcept;

// Axes of the logical layout. The array order is the default order, innermost first.
enum class Axis { tp, cp, ep, dp, pp };
inline constexpr std::array<Axis, 5> kAxes{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};
[[nodiscard]] std::string_view to_string(Axis axis) noexcept;

// More pipeline stages than any job has; readers refuse larger counts.
inline constexpr int kMostPipelineStages = 4096;
// What a document may state: the number of a rank, and GPUs of a job, of a node, indices of a
// layout.
inline constexpr std::int64_t kMostRank = std::int64_t{1} << 40;
inline constexpr std::int64_t kMostGpus = std::int64_t{1} << 24;

// Logical place of a rank, one index per axis from 0; -1: not known.
struct Coords {
  std::array<int, 5> at{-1, -1, -1, -1, -1};
  [[nodiscard]] int operator[](Axis axis) const noexcept {
    return at[static_cast<std::size_t>(axis)];
  }
  int& operator[](Axis axis) noexcept { return at[static_cast<std::size_t>(axis)]; }
  friend bool operator==(const Coords&, const Coords&) = default;
};

// Each vector is empty (not measured), has one value (for the whole run), or one value a step.
struct RankTelemetry {
  std::vector<double> sm_clock_mhz;
  std::vector<double> temperature_c;
  std::vector<double> memory_temperature_c;
  std::vector<double> power_w;
  std::vector<std::string> throttle_reasons;
  std::vector<std::int64_t> xid;
  // The recorder looked: an empty list then says that there was none.
  bool throttle_recorded = false;
  bool xid_recorded = false;
  std::optional<std::int64_t> ecc_uncorrected;
};

// What else a rank or a run may carry: for diagnose() and describe().
struct CountedWork;
struct DeviceHealth;
struct PipelineReplay;
struct TraceEvidence;

struct RankInfo {
  std::int64_t rank = 0;
  std::string node;         // empty: not known
  std::optional<int> gpu;   // index within the node
  std::string leaf_switch;  // leaf switch or rail; empty: not known
  Coords coords;            // given, or derived from the sizes in Parallelism
  RankTelemetry telemetry;
  // What its device said about itself, from files beside the run (--telemetry).
  Boxed<DeviceHealth> device;
};

// A matrix of seconds, step-major: the ranks of one step lie side by side.
class Column {
 public:
  Column() = default;
  Column(std::size_t steps, std::size_t ranks, double fill = 0.0)
      : ranks_(ranks), steps_(steps), data_(steps * ranks, fill) {}

  [[nodiscard]] bool empty() const noexcept { return data_.empty(); }
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::size_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] double at(std::size_t step, std::size_t rank) const noexcept {
    return data_[step * ranks_ + rank];
  }
  double& at(std::size_t step, std::size_t rank) noexcept { return data_[step * ranks_ + rank]; }
  [[nodiscard]] std::span<const double> row(std::size_t step) const noexcept {
    return {data_.data() + step * ranks_, ranks_};
  }
  [[nodiscard]] std::span<double> row(std::size_t step) noexcept {
    return {data_.data() + step * ranks_, ranks_};
  }

 private:
  std::size_t ranks_ = 0;
  std::size_t steps_ = 0;
  std::vector<double> data_;
};

struct Workload {
  std::optional<double> seq_len;          // tokens
  std::optional<double> global_batch;     // sequences a step
  std::optional<double> tokens_per_step;  // given, or seq_len x global_batch
  std::optional<int> microbatches;        // per pipeline and step
  PipelineSchedule pipeline_schedule = PipelineSchedule::one_f_one_b;
  bool pipeline_schedule_given = false;
  int virtual_stages = 1;                // model chunks per rank (interleaved)
  std::optional<double> flops_per_step;  // of the whole job, under the named convention
  std::optional<Recompute> recompute;
};

struct Hardware {
  std::string chip;                   // as given; empty: not given
  std::string precision;              // as given; empty: not given
  std::optional<std::int64_t> count;  // GPUs whose work and peak are counted
  std::optional<double> peak_tflops;  // overrides the chip's
};

struct Parallelism {
  std::array<std::optional<int>, 5> size;  // by Axis
  std::array<Axis, 5> order = kAxes;       // innermost first
  [[nodiscard]] const std::optional<int>& operator[](Axis axis) const noexcept {
    return size[static_cast<std::size_t>(axis)];
  }
  std::optional<int>& operator[](Axis axis) noexcept {
    return size[static_cast<std::size_t>(axis)];
  }
};

enum class ClockRule { datasheet, max, base, mhz, measured };
[[nodiscard]] std::string_view to_string(ClockRule rule) noexcept;

struct Clock {
  ClockRule rule = ClockRule::datasheet;
  double mhz = 0.0;  // with ClockRule::mhz; with measured, what telemetry says (0: nothing yet)
};

struct RunTimings {
  std::map<std::string, std::string> job;  // name, id, framework ...: only shown
  std::string model;                       // name as given, or the name inside an inline shape
  std::string model_json;                  // the inline shape as JSON text; empty: none
  Workload workload;
  Hardware hardware;
  Parallelism parallelism;
  std::string convention;  // id as given; empty: not given
  Clock clock;
  WaitsIn waits_in = WaitsIn::comm;
  bool waits_in_given = false;

  std::vector<std::int64_t> steps;  // ids, ascending
  std::vector<RankInfo> ranks;      // ascending by rank

  // Number of recorded ranks before a selection narrowed them (--ranks); else ranks.size().
  std::size_t recorded_ranks = 0;

  Column compute;          // at least one compute kernel running
  Column comm;             // exposed communication (with or without waiting: see waits_in)
  Column stall;            // the rest of the step
  Column wait;             // present only with WaitsIn::separate
  Column step;             // wall time; empty: the sum of the buckets
  Column forward;          // part of compute; empty: not recorded
  Column backward;         // part of compute; empty: not recorded
  Column overlapped_comm;  // hidden by compute, not part of the step; empty: not recorded
  std::map<std::string, Column> comm_by_group;  // by kind: tp, dp, pp, world ...

  // Where the run comes from profiler traces: what they show beside the columns.
  Boxed<TraceEvidence> trace;
  // Where the run comes from a pipeline timeline: its schedule, replayed.
  Boxed<PipelineReplay> replay;

  // Where flops_per_step was counted from the model: count_work() in measure.hpp.
  Boxed<CountedWork> counted;

  // Bytes held by the columns above.
  [[nodiscard]] std::size_t column_bytes() const noexcept;
};

// What --steps, --skip and --ranks ask for. Applied before the analysis.
struct Selection {
  std::optional<std::int64_t> first_step;  // ids, both ends included
  std::optional<std::int64_t> last_step;
  std::size_t skip = 0;             // leading steps, after the range
  std::vector<std::int64_t> ranks;  // empty: all
};

class Notes;

// Keeps what the selection names. The declared counts stay as they are: a rank that was left out is
// still part of the job. Throws Error{usage} when a named rank is not in the run or no step is
// left.
[[nodiscard]] RunTimings select(RunTimings run, const Selection& selection, Notes& notes);

}  // namespace mfu
