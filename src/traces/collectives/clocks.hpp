// How well the clocks of the ranks agree, seen from the ends of what they did together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "traces/collectives/partners.hpp"

namespace mfu::traces {

// The candidates on one time axis, in nanoseconds from its origin. Refers to both arguments.
class Clocks {
 public:
  // Fewer shared collectives cannot tell an offset from chance: one is used up by the estimate.
  static constexpr std::size_t kLeastForOffset = 3;

  Clocks(const Scope& scope, std::vector<Candidate>& candidates);
  Clocks(const Scope&& scope, std::vector<Candidate>& candidates) = delete;

  struct Judgement {
    std::size_t agreeing = 0;
    double tolerance = 0.0;
    double spread = 0.0;   // median over the candidates
    double longest = 0.0;  // the same of their longest durations
  };
  struct Bounds {
    double earliest_start = std::numeric_limits<double>::infinity();
    double latest_start = -std::numeric_limits<double>::infinity();
    double earliest_end = std::numeric_limits<double>::infinity();
    double latest_end = -std::numeric_limits<double>::infinity();
    [[nodiscard]] double end_spread() const { return latest_end - earliest_end; }
  };

  // False: at least one trace has a clock of its own, and origins are arbitrary.
  [[nodiscard]] bool common() const noexcept { return common_; }
  [[nodiscard]] std::size_t witnesses() const noexcept {
    return static_cast<std::size_t>(std::count(witness_.begin(), witness_.end(), true));
  }
  // Marks the candidates whose ends agree; counts, spread and tolerance are those of the witnesses.
  Judgement judge();
  // One offset per rank, from the ends. False: too few pairs to check it; nothing is changed.
  bool remove_offsets();
  void forget_offsets();
  [[nodiscard]] double offset_range() const;
  // Largest change of a rank's clock against another's over the capture; 0: no trend.
  [[nodiscard]] double drift() const;

  // Of candidate `c` and its member `m`, offsets removed.
  [[nodiscard]] double start(std::size_t c, std::size_t m) const {
    return starts_[c][m] - offset_[candidates_[c].pair.members[m].rank];
  }
  [[nodiscard]] double end(std::size_t c, std::size_t m) const {
    return ends_[c][m] - offset_[candidates_[c].pair.members[m].rank];
  }
  [[nodiscard]] Bounds bounds(std::size_t c) const;

 private:
  void place();
  // The candidates that can speak for the clocks: the joint ones; all, where there are few of them.
  void choose_witnesses();
  [[nodiscard]] double reference_end(std::size_t c) const;

  const Scope& scope_;
  std::vector<Candidate>& candidates_;
  std::vector<double> offset_;
  std::vector<bool> witness_;
  std::vector<std::vector<double>> starts_;
  std::vector<std::vector<double>> ends_;
  bool common_ = false;
};

}  // namespace mfu::traces
