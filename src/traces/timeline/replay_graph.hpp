// The recorded operations of a pipeline as a dependency graph, and what its steps would take with
// other durations.
//
// An operation begins when what it needs on its worker has ended and, for communication, when all
// of its group are ready; it then takes its duration: of communication the transfer, from the
// latest start in the group to the end. Time in which nothing is recorded (launching, Python) is
// left out. After Lin et al., "Understanding Stragglers in Large Model Training Using What-if
// Analysis", OSDI 2025, section 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traces/timeline/groups.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu::traces {

class ReplayGraph {
 public:
  // nullopt: the recorded order contradicts itself (two workers, each waiting for the other).
  [[nodiscard]] static std::optional<ReplayGraph> build(const Timeline& timeline,
                                                        const OpGroups& groups);

  // What each operation took: compute as recorded, communication without waiting.
  [[nodiscard]] const std::vector<double>& durations_us() const noexcept { return durations_; }
  // The steps' lengths when each operation takes its duration (one value each, in the order of
  // Timeline::ops) from when it can begin.
  [[nodiscard]] std::vector<double> step_lengths_us(std::span<const double> durations_us) const;
  // The same where nobody waits for another worker.
  [[nodiscard]] std::vector<double> step_lengths_alone_us(
      std::span<const double> durations_us) const;

 private:
  ReplayGraph() = default;
  void find_dependencies(const Timeline& timeline);
  [[nodiscard]] bool find_order(const OpGroups& groups);
  [[nodiscard]] double ready_us(std::uint32_t op, std::span<const double> end_us) const;

  std::size_t steps_ = 0;
  std::vector<std::uint32_t> step_of_;  // per operation
  std::vector<std::uint32_t> begin_;    // in `before_`, one more than there are operations
  std::vector<std::uint32_t> before_;
  // Operations in an order in which they can be replayed; those of a group lie side by side, and
  // unit_begin_ says where one ends.
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> unit_begin_;
  std::vector<double> durations_;
};

}  // namespace mfu::traces
