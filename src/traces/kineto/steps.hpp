// The steps of a Kineto trace: the host's ProfilerStep windows, and what they become on the GPU's
// clock (see kineto.hpp for the rule).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mfu/error.hpp"
#include "traces/kineto/event.hpp"
#include "traces/rank_trace.hpp"
#include "traces/sorted_log.hpp"

namespace mfu::traces {

class HostSteps {
 public:
  void add(const KinetoEvent& event);
  // One that ends before it starts still says where it started.
  void add_without_length(const KinetoEvent& event);
  // In order of begin. The same step on a second thread, inside the first, is one step.
  [[nodiscard]] std::vector<StepSplit> windows(const std::string& file, Notes& notes) const;

 private:
  std::vector<StepSplit> steps_;
};

// Which step launched which activity.
// Index of the last window that begins at or before `at` and has not ended; kNoStep: none.
// `windows`: ascending by begin.
[[nodiscard]] std::uint32_t window_at(const std::vector<StepSplit>& windows, std::int64_t at);

class StepLinks {
 public:
  // `host` must outlive this only during the call. Empties `launches`.
  StepLinks(const std::vector<StepSplit>& host, SortedLog<Launch>& launches);

  void see(const GpuActivity& activity);

  // Whether at least half of the activities between the first and the last window are linked.
  [[nodiscard]] bool enough() const noexcept;
  // The windows on the GPU's clock; also numbers them for gpu_step().
  [[nodiscard]] std::vector<StepSplit> gpu_windows(const std::string& file, Notes& notes);
  // Index into gpu_windows() of the step that launched it; kNoStep: none, or not known.
  [[nodiscard]] std::uint32_t gpu_step(std::uint64_t correlation);

 private:
  struct Reach {
    bool any = false;
    bool compute = false;
    std::int64_t last_end = 0;
    std::int64_t first_compute_start = 0;
    std::int64_t last_compute_end = 0;
    std::int64_t last_comm_end = 0;  // 0: there is none
  };
  static void extend(Reach& reach, const GpuActivity& activity) noexcept;
  // Where the step of a window ends on the GPU.
  [[nodiscard]] std::int64_t end_of(std::size_t window, bool last) const noexcept;
  [[nodiscard]] std::uint32_t step_of_launch(std::int64_t start) const noexcept;
  [[nodiscard]] std::uint32_t step_of(std::uint64_t correlation);

  struct Window {
    std::int64_t id = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };
  std::vector<Window> windows_;
  std::vector<Reach> reach_;
  Reach before_;                             // of what was launched before the first window
  std::vector<std::uint64_t> correlations_;  // ascending
  std::vector<std::uint32_t> steps_;         // of each
  std::size_t hint_ = 0;
  std::vector<std::uint32_t> numbers_;  // from the host's windows to the GPU's
  std::int64_t seen_ = 0;               // between the first and the last window
  std::int64_t linked_ = 0;             // of them
  std::int64_t unlinked_ = 0;           // all over the trace
};

}  // namespace mfu::traces
