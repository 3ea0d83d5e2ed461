#include "traces/timeline/split.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace mfu::traces {
namespace {

// A send and a receive whose starts are this close were issued as one.
constexpr double kIssuedTogetherUs = 10.0;

struct Interval {
  double begin_us = 0.0;
  double end_us = 0.0;
};

// A union of intervals that grows.
class Covered {
 public:
  void clear() {
    all_.clear();
    total_ = 0.0;
  }
  // Adds them; returns by how many microseconds the covered time has grown.
  double add(const std::vector<Interval>& more) {
    for (const Interval& interval : more) {
      if (interval.end_us > interval.begin_us) all_.push_back(interval);
    }
    std::sort(all_.begin(), all_.end(), [](const Interval& a, const Interval& b) {
      return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us < b.end_us;
    });
    std::size_t kept = 0;
    for (const Interval& interval : all_) {
      if (kept > 0 && interval.begin_us <= all_[kept - 1].end_us) {
        all_[kept - 1].end_us = std::max(all_[kept - 1].end_us, interval.end_us);
      } else {
        all_[kept++] = interval;
      }
    }
    all_.resize(kept);
    double total = 0.0;
    for (const Interval& interval : all_) total += interval.end_us - interval.begin_us;
    const double grown = std::max(0.0, total - total_);
    total_ = total;
    return grown;
  }

 private:
  std::vector<Interval> all_;
  double total_ = 0.0;
};

class Splitter {
 public:
  Splitter(const Timeline& timeline, const OpGroups& groups) : ops_(timeline.ops), groups_(groups) {
    for (const TimelineStep& step : timeline.steps) {
      windows_.push_back(window(step.begin, step.end));
    }
    if (groups.clocks_agree) find_ready();
  }

  // Operations [from, to) are those of one worker in one step.
  [[nodiscard]] WorkerStep split(std::size_t from, std::size_t to) {
    const bool shared = groups_.clocks_agree;
    const Interval whole = shared ? windows_[ops_[from].step] : window(from, to);
    WorkerStep result;
    compute_.clear();
    transfer_.clear();
    wait_.clear();
    double last = whole.begin_us;
    for (std::size_t i = from; i < to; ++i) {
      const TimelineOp& op = ops_[i];
      last = std::max(last, op.end_us);
      if (is_compute(op.work)) {
        compute_.push_back({op.start_us, op.end_us});
        add_compute(result, op);
      } else if (is_comm(op.work)) {
        transfer_.push_back({shared ? groups_.all_here_us[i] : op.start_us, op.end_us});
        if (!shared) continue;
        wait_.push_back({op.start_us, groups_.all_here_us[i]});
        wait_.push_back({ready_[i], std::min(all_ready_[groups_.of_op[i]], op.start_us)});
      }
    }
    if (shared) wait_.push_back({last, whole.end_us});  // the others are not done
    covered_.clear();
    result.step_s = (whole.end_us - whole.begin_us) / 1e6;
    result.compute_s = covered_.add(compute_) / 1e6;
    result.comm_s = covered_.add(transfer_) / 1e6;
    result.wait_s = covered_.add(wait_) / 1e6;
    const double busy = result.compute_s + result.comm_s + result.wait_s;
    result.stall_s = std::max(0.0, result.step_s - busy);
    return result;
  }

 private:
  [[nodiscard]] Interval window(std::size_t from, std::size_t to) const {
    Interval span{std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity()};
    for (std::size_t i = from; i < to; ++i) {
      span.begin_us = std::min(span.begin_us, ops_[i].start_us);
      span.end_us = std::max(span.end_us, ops_[i].end_us);
    }
    return span;
  }

  // When each operation's worker had nothing else left to do, and when all of a group had.
  // Operations that were issued as one share it.
  void find_ready() {
    ready_.resize(ops_.size());
    double last = 0.0;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const TimelineOp& op = ops_[i];
      const bool first = i == 0 || op.worker != ops_[i - 1].worker || op.step != ops_[i - 1].step;
      if (first) last = windows_[op.step].begin_us;
      const bool together = !first && is_point_to_point(op.work) &&
                            is_point_to_point(ops_[i - 1].work) &&
                            op.start_us - ops_[i - 1].start_us <= kIssuedTogetherUs;
      ready_[i] = together ? ready_[i - 1] : std::min(last, op.start_us);
      if (op.work != Work::own_time) last = std::max(last, op.end_us);
    }
    all_ready_.assign(groups_.size(), -std::numeric_limits<double>::infinity());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const std::uint32_t op : groups_.group(g)) {
        all_ready_[g] = std::max(all_ready_[g], ready_[op]);
      }
    }
  }

  static void add_compute(WorkerStep& result, const TimelineOp& op) {
    const double seconds = (op.end_us - op.start_us) / 1e6;
    if (op.work == Work::forward) {
      result.forward_s += seconds;
      ++result.forwards;
    }
    if (op.work == Work::backward) result.backward_s += seconds;
  }

  const std::vector<TimelineOp>& ops_;
  const OpGroups& groups_;
  std::vector<Interval> windows_;  // of the steps
  std::vector<double> ready_;      // per operation
  std::vector<double> all_ready_;  // per group
  std::vector<Interval> compute_, transfer_, wait_;
  Covered covered_;
};

}  // namespace

std::vector<std::vector<WorkerStep>> split_timeline(const Timeline& timeline,
                                                    const OpGroups& groups) {
  Splitter splitter(timeline, groups);
  std::vector<std::vector<WorkerStep>> all;
  for (const TimelineStep& step : timeline.steps) {
    std::vector<WorkerStep>& row = all.emplace_back();
    for (std::size_t from = step.begin; from < step.end;) {
      std::size_t to = from;
      while (to < step.end && timeline.ops[to].worker == timeline.ops[from].worker) ++to;
      row.push_back(splitter.split(from, to));
      from = to;
    }
  }
  return all;
}

}  // namespace mfu::traces
