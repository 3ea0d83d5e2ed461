// Which operations of a timeline belong together: the two ends of a transfer between stages, the
// workers of one collective. Transfer = end - latest start in the group; before that it is waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mfu/error.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu::traces {

inline constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

struct OpGroups {
  std::vector<std::uint32_t> of_op;    // index of the group; kNoGroup: not communication
  std::vector<std::uint32_t> begin;    // in `members`, one more than there are groups
  std::vector<std::uint32_t> members;  // indices into Timeline::ops
  std::vector<double> all_here_us;     // per operation: the group's latest start, at most its end
  std::vector<double> transfer_us;     // per operation: end - all_here, 0 where it has no group
  // Whether the workers' clocks agree (timeline_clocks.hpp). Where not, neither of the two above
  // means anything beyond one worker.
  bool clocks_agree = true;

  [[nodiscard]] std::size_t size() const noexcept { return begin.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> group(std::size_t index) const noexcept {
    return {members.data() + begin[index], begin[index + 1] - begin[index]};
  }
};

// By the operations' sequence numbers where all communication has them, once each; else the k-th of
// one worker belongs to the k-th of the others. Notes communication of which only one worker's part
// is there, sequence numbers that repeat, and clocks that do not agree.
[[nodiscard]] OpGroups pair_operations(const Timeline& timeline, Notes& notes);

}  // namespace mfu::traces
