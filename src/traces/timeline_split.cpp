#include "traces/timeline_split.hpp"

#include <algorithm>
#include <limits>

#include "traces/replay.hpp"

namespace mfu::traces {
namespace {

// One worker's operations of a step, by start, with the running maximum of their ends.
struct WorkerOps {
  std::vector<std::uint32_t> ops;
  std::vector<double> latest_end_us;  // over ops[0..i]
};

// When everything that began before `time_us` on that worker had ended; the begin of the step where
// nothing did.
double ready_us(const WorkerOps& worker, const TimelineStep& step, double time_us,
                double begin_us) {
  const auto after =
      std::lower_bound(worker.ops.begin(), worker.ops.end(), time_us,
                       [&](std::uint32_t op, double time) { return step.ops[op].start_us < time; });
  if (after == worker.ops.begin()) return begin_us;
  return worker.latest_end_us[static_cast<std::size_t>(after - worker.ops.begin()) - 1];
}

class StepSplitter {
 public:
  StepSplitter(const Timeline& timeline, const TimelineStep& step)
      : timeline_(timeline),
        step_(step),
        graph_(timeline, step),
        workers_(timeline.workers.size()) {
    begin_ = std::numeric_limits<double>::infinity();
    end_ = -begin_;
    for (std::size_t i = 0; i < step.ops.size(); ++i) {
      const TimelineOp& op = step.ops[i];
      begin_ = std::min(begin_, op.start_us);
      end_ = std::max(end_, op.end_us);
      WorkerOps& worker = workers_[op.worker];
      const double before = worker.ops.empty() ? begin_ : worker.latest_end_us.back();
      worker.ops.push_back(static_cast<std::uint32_t>(i));
      worker.latest_end_us.push_back(std::max(before, op.end_us));
    }
  }

  [[nodiscard]] WorkerStep split(std::size_t w) const {
    WorkerStep result;
    result.step_s = (end_ - begin_) / 1e6;
    double busy_until = begin_;     // everything before has been given to a bucket
    double compute_until = begin_;  // compute covers up to here
    for (const std::uint32_t i : workers_[w].ops) {
      const TimelineOp& op = step_.ops[i];
      if (op.start_us > busy_until) {
        give_idle(result, w, i, busy_until);
        busy_until = op.start_us;
      }
      if (op.lane == Lane::compute) {
        // What this covers beyond earlier compute; of communication that was counted there, it is
        // taken back: overlapped communication is not exposed.
        const double from = std::max(op.start_us, compute_until);
        if (op.end_us > from) {
          result.compute_s += (op.end_us - from) / 1e6;
          if (busy_until > from) {
            result.comm_s -= (std::min(busy_until, op.end_us) - from) / 1e6;
          }
          compute_until = op.end_us;
        }
        add_compute(result, op);
      } else if (op.end_us > busy_until) {
        result.comm_s += (op.end_us - busy_until) / 1e6;
      }
      busy_until = std::max(busy_until, op.end_us);
    }
    result.wait_s += (end_ - busy_until) / 1e6;  // the others are not done
    result.comm_s = std::max(0.0, result.comm_s);
    return result;
  }

 private:
  void add_compute(WorkerStep& result, const TimelineOp& op) const {
    const std::string& type = timeline_.types[op.type];
    const double seconds = (op.end_us - op.start_us) / 1e6;
    if (type.starts_with("forward")) {
      result.forward_s += seconds;
      ++result.forwards;
    }
    if (type.starts_with("backward")) result.backward_s += seconds;
  }

  // The gap before operation `i`: until the last of its group had come it is waiting, the rest, and
  // all of it before compute, is the worker's own.
  void give_idle(WorkerStep& result, std::size_t w, std::uint32_t i, double from_us) const {
    const double to_us = step_.ops[i].start_us;
    double others_us = from_us;
    for (const std::uint32_t member : graph_.group_of(i)) {
      const std::size_t other = step_.ops[member].worker;
      if (other == w) continue;
      others_us =
          std::max(others_us, ready_us(workers_[other], step_, step_.ops[member].start_us, begin_));
    }
    const double waited_until = std::clamp(others_us, from_us, to_us);
    result.wait_s += (waited_until - from_us) / 1e6;
    result.stall_s += (to_us - waited_until) / 1e6;
  }

  const Timeline& timeline_;
  const TimelineStep& step_;
  StepGraph graph_;
  std::vector<WorkerOps> workers_;
  double begin_ = 0.0;
  double end_ = 0.0;
};

}  // namespace

std::vector<std::vector<WorkerStep>> split_timeline(const Timeline& timeline) {
  std::vector<std::vector<WorkerStep>> all;
  for (const TimelineStep& step : timeline.steps) {
    const StepSplitter splitter(timeline, step);
    std::vector<WorkerStep>& row = all.emplace_back();
    for (std::size_t w = 0; w < timeline.workers.size(); ++w) row.push_back(splitter.split(w));
  }
  return all;
}

}  // namespace mfu::traces
