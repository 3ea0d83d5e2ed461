#include "traces/split.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mfu::traces {

namespace {

constexpr std::int64_t kLongAgo = std::numeric_limits<std::int64_t>::min();
constexpr unsigned kCompute = 1U << static_cast<unsigned>(Activity::compute);
constexpr unsigned kCommunication = 1U << static_cast<unsigned>(Activity::communication);

}  // namespace

SplitSweep::SplitSweep(const std::vector<std::vector<StepSplit>*>& windows)
    : reach_{kLongAgo, kLongAgo, kLongAgo}, now_(kLongAgo) {
  for (std::vector<StepSplit>* row : windows) rows_.push_back({row, 0});
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

void SplitSweep::emit(std::int64_t from, std::int64_t until, unsigned busy) {
  for (Row& row : rows_) {
    std::vector<StepSplit>& windows = *row.windows;
    while (row.first < windows.size() && windows[row.first].end_ns <= from) ++row.first;
    for (std::size_t i = row.first; i < windows.size() && windows[i].begin_ns < until; ++i) {
      const std::int64_t length =
          std::min(until, windows[i].end_ns) - std::max(from, windows[i].begin_ns);
      if (length <= 0) continue;
      Split& split = windows[i].split;
      if ((busy & kCompute) != 0) {
        split.compute_ns += length;
        if ((busy & kCommunication) != 0) split.overlapped_comm_ns += length;
      } else if ((busy & kCommunication) != 0) {
        split.exposed_comm_ns += length;
      } else {
        split.exposed_memory_ns += length;
      }
    }
  }
}

void SplitSweep::finish() {
  advance(std::max({now_, reach_[0], reach_[1], reach_[2]}));
  for (Row& row : rows_) {
    for (StepSplit& window : *row.windows) {
      Split& split = window.split;
      split.window_ns = window.end_ns - window.begin_ns;
      split.idle_ns =
          split.window_ns - split.compute_ns - split.exposed_comm_ns - split.exposed_memory_ns;
    }
  }
}

}  // namespace mfu::traces
