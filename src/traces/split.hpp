// Lays windows over a process's GPU activity: what of each is compute, exposed communication,
// exposed memory, nothing (see rank_trace.hpp). One sweep over the activities in order of their
// start, in memory that does not depend on their number: at any time all that counts is how far
// each class has been seen to reach.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/classify.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// to + sign x what, part by part.
void add(Split& to, const Split& what, std::int64_t sign = 1) noexcept;

class SplitSweep {
 public:
  // The windows may touch, overlap and nest. Their `split` is filled. The vectors must outlive the
  // sweep and keep their elements.
  explicit SplitSweep(const std::vector<std::vector<StepSplit>*>& windows);

  // In order of `start`. start <= end.
  void add(std::int64_t start, std::int64_t end, Activity activity);
  // After the last: fills in what is idle.
  void finish();

 private:
  // What was busy from the first activity on: a window's share is the total at its end less that at
  // its begin, so that windows that overlap cost no more than others.
  struct Boundary {
    std::int64_t at_ns = 0;
    std::size_t window = 0;
    bool end = false;
  };
  struct Row {
    std::vector<StepSplit>* windows = nullptr;
    std::vector<Boundary> boundaries;  // by time
    std::size_t next = 0;
  };
  void advance(std::int64_t until);
  void emit(std::int64_t from, std::int64_t until, unsigned busy);
  static void pass(Row& row, const Split& total);

  std::vector<Row> rows_;
  Split total_;
  std::array<std::int64_t, 3> reach_;
  std::int64_t now_;
};

}  // namespace mfu::traces
