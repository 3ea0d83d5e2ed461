#include "traces/timeline/replay_graph.hpp"

#include <algorithm>
#include <array>

namespace mfu::traces {

namespace {

// What runs one after the other on a worker.
enum Stream : std::size_t {
  kComputeStream,
  kForwardSend,
  kForwardRecv,
  kBackwardSend,
  kBackwardRecv,
  kParams,
  kGrads,
  kStreams,
};

Stream stream_of(Work work) {
  switch (work) {
    case Work::forward_send:
      return kForwardSend;
    case Work::forward_recv:
      return kForwardRecv;
    case Work::backward_send:
      return kBackwardSend;
    case Work::backward_recv:
      return kBackwardRecv;
    case Work::params_all_gather:
      return kParams;
    default:
      return is_comm(work) ? kGrads : kComputeStream;
  }
}

// Does this kind of work wait for what was recorded before it in that stream?
bool waits_for(Work work, Stream stream) {
  if (stream == stream_of(work) || stream == kComputeStream) return true;
  // A send and a receive that are issued together do not wait for each other, or two stages would
  // each wait for the other's.
  if (is_point_to_point(work)) return stream == kParams;
  // Gradients are reduced behind the backward pass; the optimizer needs them.
  if (!is_comm(work)) return stream != kGrads || work == Work::optimizer;
  return work != Work::params_all_gather;
}

}  // namespace

void ReplayGraph::find_dependencies(const Timeline& timeline) {
  const std::vector<TimelineOp>& ops = timeline.ops;
  // The last few of each stream: an operation that overlaps this one is not before it.
  constexpr std::size_t kBack = 4;
  struct Recent {
    std::array<std::uint32_t, kBack> ops{};
    std::size_t count = 0;
  };
  std::array<Recent, kStreams> recent;
  begin_.reserve(ops.size() + 1);
  begin_.push_back(0);
  for (std::size_t j = 0; j < ops.size(); ++j) {
    const TimelineOp& op = ops[j];
    if (j == 0 || op.worker != ops[j - 1].worker || op.step != ops[j - 1].step) recent.fill({});
    const Stream own = stream_of(op.work);
    for (std::size_t s = 0; s < kStreams; ++s) {
      if (!waits_for(op.work, static_cast<Stream>(s))) continue;
      const Recent& last = recent[s];
      for (std::size_t back = 1; back <= std::min(kBack, last.count); ++back) {
        const std::uint32_t i = last.ops[(last.count - back) % kBack];
        // Recorded ends and starts jitter: half of it before this one's start is before it.
        const bool before = ops[i].start_us + (ops[i].end_us - ops[i].start_us) / 2 <= op.start_us;
        if (!before && s != own) continue;
        before_.push_back(i);
        break;
      }
    }
    begin_.push_back(static_cast<std::uint32_t>(before_.size()));
    recent[own].ops[recent[own].count++ % kBack] = static_cast<std::uint32_t>(j);
  }
}

bool ReplayGraph::find_order(const OpGroups& groups) {
  const std::size_t count = step_of_.size();
  // A group can go when all its operations can.
  std::vector<std::uint32_t> left(count, 0);                // dependencies of an operation
  std::vector<std::uint32_t> group_left(groups.size(), 0);  // operations that cannot go yet
  std::vector<std::uint32_t> after_begin(count + 1, 0);
  for (const std::uint32_t i : before_) ++after_begin[i + 1];
  for (std::size_t i = 0; i < count; ++i) after_begin[i + 1] += after_begin[i];
  std::vector<std::uint32_t> after(before_.size());
  std::vector<std::uint32_t> fill(after_begin.begin(), after_begin.end() - 1);
  for (std::uint32_t j = 0; j < count; ++j) {
    left[j] = begin_[j + 1] - begin_[j];
    for (std::uint32_t i = begin_[j]; i < begin_[j + 1]; ++i) after[fill[before_[i]]++] = j;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    group_left[g] = static_cast<std::uint32_t>(groups.group(g).size());
  }
  order_.reserve(count);
  unit_begin_.reserve(count + 1);
  unit_begin_.push_back(0);
  const auto can_go = [&](std::uint32_t op) {
    const std::uint32_t group = groups.of_op[op];
    if (group == kNoGroup) {
      order_.push_back(op);
    } else {
      if (--group_left[group] > 0) return;
      const auto members = groups.group(group);
      order_.insert(order_.end(), members.begin(), members.end());
    }
    unit_begin_.push_back(static_cast<std::uint32_t>(order_.size()));
  };
  for (std::uint32_t op = 0; op < count; ++op) {
    if (left[op] == 0) can_go(op);
  }
  for (std::size_t done = 0; done < order_.size(); ++done) {
    const std::uint32_t op = order_[done];
    for (std::uint32_t i = after_begin[op]; i < after_begin[op + 1]; ++i) {
      if (--left[after[i]] == 0) can_go(after[i]);
    }
  }
  return order_.size() == count;
}

std::optional<ReplayGraph> ReplayGraph::build(const Timeline& timeline, const OpGroups& groups) {
  ReplayGraph graph;
  graph.steps_ = timeline.steps.size();
  graph.step_of_.reserve(timeline.ops.size());
  graph.durations_.reserve(timeline.ops.size());
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    const TimelineOp& op = timeline.ops[i];
    graph.step_of_.push_back(op.step);
    // What stands in a misc lane runs beside the rest and holds nothing up.
    const double own = op.work == Work::own_time ? 0.0 : op.end_us - op.start_us;
    graph.durations_.push_back(is_comm(op.work) ? groups.transfer_us[i] : own);
  }
  graph.find_dependencies(timeline);
  if (!graph.find_order(groups)) return std::nullopt;
  return graph;
}

double ReplayGraph::ready_us(std::uint32_t op, std::span<const double> end_us) const {
  double latest = 0.0;
  for (std::uint32_t i = begin_[op]; i < begin_[op + 1]; ++i) {
    latest = std::max(latest, end_us[before_[i]]);
  }
  return latest;
}

std::vector<double> ReplayGraph::step_lengths_us(std::span<const double> durations_us) const {
  std::vector<double> lengths(steps_, 0.0);
  std::vector<double> end(step_of_.size(), 0.0);
  for (std::size_t unit = 0; unit + 1 < unit_begin_.size(); ++unit) {
    double ready = 0.0;
    for (std::uint32_t i = unit_begin_[unit]; i < unit_begin_[unit + 1]; ++i) {
      ready = std::max(ready, ready_us(order_[i], end));
    }
    for (std::uint32_t i = unit_begin_[unit]; i < unit_begin_[unit + 1]; ++i) {
      const std::uint32_t op = order_[i];
      end[op] = ready + durations_us[op];
      double& length = lengths[step_of_[op]];
      length = std::max(length, end[op]);
    }
  }
  return lengths;
}

std::vector<double> ReplayGraph::step_lengths_alone_us(std::span<const double> durations_us) const {
  std::vector<double> lengths(steps_, 0.0);
  std::vector<double> end(step_of_.size(), 0.0);
  for (const std::uint32_t op : order_) {
    end[op] = ready_us(op, end) + durations_us[op];
    double& length = lengths[step_of_[op]];
    length = std::max(length, end[op]);
  }
  return lengths;
}

}  // namespace mfu::traces
