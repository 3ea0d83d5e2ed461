#include "traces/split.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mfu::traces {

namespace {

constexpr std::int64_t kLongAgo = std::numeric_limits<std::int64_t>::min();
constexpr unsigned kCompute = 1U << static_cast<unsigned>(Activity::compute);
constexpr unsigned kCommunication = 1U << static_cast<unsigned>(Activity::communication);

void add_busy(Split& to, std::int64_t length, unsigned busy) noexcept {
  if ((busy & kCompute) != 0) {
    to.compute_ns += length;
    if ((busy & kCommunication) != 0) to.overlapped_comm_ns += length;
  } else if ((busy & kCommunication) != 0) {
    to.exposed_comm_ns += length;
  } else {
    to.exposed_memory_ns += length;
  }
}

}  // namespace

void add(Split& to, const Split& what, std::int64_t sign) noexcept {
  to.window_ns += sign * what.window_ns;
  to.compute_ns += sign * what.compute_ns;
  to.exposed_comm_ns += sign * what.exposed_comm_ns;
  to.exposed_memory_ns += sign * what.exposed_memory_ns;
  to.idle_ns += sign * what.idle_ns;
  to.overlapped_comm_ns += sign * what.overlapped_comm_ns;
}

SplitSweep::SplitSweep(const std::vector<std::vector<StepSplit>*>& windows)
    : reach_{kLongAgo, kLongAgo, kLongAgo}, now_(kLongAgo) {
  for (std::vector<StepSplit>* windows_of_row : windows) {
    Row& row = rows_.emplace_back();
    row.windows = windows_of_row;
    for (std::size_t i = 0; i < windows_of_row->size(); ++i) {
      StepSplit& window = (*windows_of_row)[i];
      window.split = {};
      row.boundaries.push_back({window.begin_ns, i, false});
      row.boundaries.push_back({window.end_ns, i, true});
    }
    std::sort(row.boundaries.begin(), row.boundaries.end(),
              [](const Boundary& a, const Boundary& b) { return a.at_ns < b.at_ns; });
  }
}

void SplitSweep::add(std::int64_t start, std::int64_t end, Activity activity) {
  advance(start);
  std::int64_t& reach = reach_[static_cast<std::size_t>(activity)];
  reach = std::max(reach, end);
}

// Everything that started before `until` is known: from now_ to there nothing changes except that
// classes end.
void SplitSweep::advance(std::int64_t until) {
  while (now_ < until) {
    std::int64_t next = until;
    unsigned busy = 0;
    for (std::size_t i = 0; i < reach_.size(); ++i) {
      if (reach_[i] <= now_) continue;
      busy |= 1U << i;
      next = std::min(next, reach_[i]);
    }
    if (busy != 0) emit(now_, next, busy);
    now_ = busy == 0 ? until : next;
  }
}

void SplitSweep::pass(Row& row, const Split& total) {
  const Boundary& boundary = row.boundaries[row.next++];
  traces::add((*row.windows)[boundary.window].split, total, boundary.end ? 1 : -1);
}

void SplitSweep::emit(std::int64_t from, std::int64_t until, unsigned busy) {
  for (Row& row : rows_) {
    while (row.next < row.boundaries.size() && row.boundaries[row.next].at_ns < until) {
      const std::int64_t at = std::max(from, row.boundaries[row.next].at_ns);
      Split total = total_;
      add_busy(total, at - from, busy);
      pass(row, total);
    }
  }
  add_busy(total_, until - from, busy);
}

void SplitSweep::finish() {
  advance(std::max({now_, reach_[0], reach_[1], reach_[2]}));
  for (Row& row : rows_) {
    while (row.next < row.boundaries.size()) pass(row, total_);
    for (StepSplit& window : *row.windows) {
      Split& split = window.split;
      split.window_ns = window.end_ns - window.begin_ns;
      split.idle_ns =
          split.window_ns - split.compute_ns - split.exposed_comm_ns - split.exposed_memory_ns;
    }
  }
}

}  // namespace mfu::traces
