// The recorded operations of a pipeline as a dependency graph, and what a step would take with
// other durations.
//
// An operation begins when what ended before it on its worker (the last one of each lane) has
// ended, and, for communication, when all of its group are ready; it then takes its duration: of
// communication the transfer, from the latest start in the group to the end. Time in which nothing
// is recorded (launching, Python) is left out. After Lin et al., "Understanding Stragglers in Large
// Model Training Using What-if Analysis" (2025), section 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mfu/trace.hpp"
#include "traces/timeline.hpp"

namespace mfu::traces {

class StepGraph {
 public:
  StepGraph(const Timeline& timeline, const TimelineStep& step);

  // Durations of the operations, in the order of TimelineStep::ops: compute as recorded,
  // communication without waiting.
  [[nodiscard]] const std::vector<double>& durations_us() const noexcept { return durations_; }
  // The makespan with these durations.
  [[nodiscard]] double replay_us(std::span<const double> durations_us) const;
  // Others that take part in the same communication; the operation itself is one of them.
  [[nodiscard]] std::span<const std::uint32_t> group_of(std::size_t op) const;

 private:
  void make_groups(const Timeline& timeline, const TimelineStep& step);
  void make_dependencies(const TimelineStep& step, std::size_t workers);
  void make_order(const TimelineStep& step);

  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::uint32_t> group_index_;
  std::vector<std::vector<std::uint32_t>> needs_;
  std::vector<std::uint32_t> order_;  // of groups, each after what it needs
  std::vector<double> durations_;
};

// All counterfactuals. `ranks`: the rank number of each worker.
[[nodiscard]] PipelineReplay replay_timeline(const Timeline& timeline,
                                             std::span<const std::int64_t> ranks);

}  // namespace mfu::traces
