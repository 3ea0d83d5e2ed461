// Steps as they come off the lines: copies by several ranks become one, a run that starts again
// becomes a segment, and their number is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "logs/training_log.hpp"
#include "mfu/error.hpp"

namespace mfu {

// Longer than any step of any log: a broken line, or a clock that was set. Seconds.
inline constexpr double kLongestStep_s = 1e7;

class StepCollector {
 public:
  explicit StepCollector(std::size_t most) : most_(most < 256 ? 256 : most) {}

  // `origin`: which process says it; 0: not known.
  void add(const LoggedStep& step, std::uint64_t origin);

  // Distinct steps so far.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // The last step that is still open to changes; null before the first.
  [[nodiscard]] LoggedStep* last() noexcept {
    return recent_.empty() ? nullptr : &recent_.back().step;
  }
  // The last step was given a time after it was added.
  void tells_time() noexcept { told_ |= 1U; }
  // Quantities that any step has, weighted by their use: how much this log says.
  [[nodiscard]] int richness() const noexcept;

  // Hands out the segments. Notes what was merged, with the places.
  [[nodiscard]] std::vector<LogSegment> finish(const std::string& path, Notes& notes);

 private:
  struct Recent {
    LoggedStep step;
    std::vector<LoggedStep> copies;  // the first is `step` itself; empty while there is but one
  };
  bool is_copy(const LoggedStep& step, std::uint64_t origin, const Recent& of) const;
  void start_segment(const LoggedStep& step);
  void archive(std::size_t leave);
  void drop_implausible(LoggedStep& step);
  void halve();

  std::size_t most_;
  std::vector<LogSegment> segments_;
  std::vector<Recent> recent_;                     // the end of the last segment, ascending
  std::map<std::uint64_t, std::int64_t> last_of_;  // per origin, in this segment
  std::size_t archived_ = 0;
  std::size_t stride_ = 1;      // entries that one archived entry stands for
  std::size_t last_holds_ = 0;  // how many the last archived entry stands for so far
  std::size_t count_ = 0;
  std::int64_t copied_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t first_copied_line_ = 0;
  std::int64_t implausible_ = 0;
  std::int64_t first_implausible_line_ = 0;
  bool shared_names_ = false;  // several processes print under one name
  int most_copies_ = 1;        // of one step, in this segment
  unsigned told_ = 0;
};

}  // namespace mfu
