#include "traces/replay.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/robust.hpp"

namespace mfu::traces {
namespace {

// Clocks of the lanes of one worker agree to this; an operation that ends a little after the start
// of the next still came before it.
constexpr double kSameInstantUs = 50.0;
constexpr std::size_t kLanes = 5;
constexpr std::size_t kMostWorkersTried = 512;

bool is_compute(const TimelineOp& op) noexcept { return op.lane == Lane::compute; }

using Key = std::tuple<int, int, int, int>;  // kind, then the place of the group

}  // namespace

StepGraph::StepGraph(const Timeline& timeline, const TimelineStep& step) {
  make_groups(timeline, step);
  make_dependencies(step, timeline.workers.size());
  make_order(step);
  durations_.resize(step.ops.size());
  for (const auto& group : groups_) {
    double latest = -std::numeric_limits<double>::infinity();
    for (const std::uint32_t i : group) latest = std::max(latest, step.ops[i].start_us);
    for (const std::uint32_t i : group) {
      durations_[i] = std::max(0.0, step.ops[i].end_us - latest);
    }
  }
}

// Groups by kind: a send and its receive; a collective of the data-parallel ranks of one stage; the
// embedding's between stages; what is of all. The k-th operation of a worker belongs to the k-th of
// the others.
void StepGraph::make_groups(const Timeline& timeline, const TimelineStep& step) {
  // Which collection an operation belongs to: (type, a, b, c).
  std::map<std::string_view, int> ids;
  const auto id_of = [&](std::string_view name) {
    return ids.emplace(name, static_cast<int>(ids.size())).first->second;
  };
  struct Slot {
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_worker;
  };
  std::map<Key, Slot> slots;
  const int stages = timeline.pp;
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const TimelineOp& op = step.ops[i];
    const TimelineWorker& w = timeline.workers[op.worker];
    const std::string& type = timeline.types[op.type];
    std::optional<Key> key;
    // Edges of the pipeline by the stage that sends; the last stage sends to the first where a
    // worker has several chunks of the model.
    if (type == "forward-send") key = Key{id_of("forward"), w.dp, w.pp, w.tp};
    if (type == "forward-recv")
      key = Key{id_of("forward"), w.dp, (w.pp + stages - 1) % stages, w.tp};
    if (type == "backward-send") key = Key{id_of("backward"), w.dp, w.pp, w.tp};
    if (type == "backward-recv") key = Key{id_of("backward"), w.dp, (w.pp + 1) % stages, w.tp};
    if (!key && op.lane == Lane::data_comm) {
      if (type.starts_with("embedding")) {
        key = Key{id_of(type), w.dp, -1, w.tp};
      } else if (type.find("clip") != std::string::npos) {
        key = Key{id_of(type), -1, -1, -1};
      } else {
        key = Key{id_of(type), -1, w.pp, w.tp};
      }
    }
    if (key) slots[*key].of_worker[op.worker].push_back(static_cast<std::uint32_t>(i));
  }
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  group_index_.assign(step.ops.size(), kNone);
  for (const auto& [key, slot] : slots) {
    std::size_t most = 0;
    for (const auto& [worker, list] : slot.of_worker) most = std::max(most, list.size());
    for (std::size_t k = 0; k < most; ++k) {
      std::vector<std::uint32_t> group;
      for (const auto& [worker, list] : slot.of_worker) {
        if (k < list.size()) group.push_back(list[k]);
      }
      for (const std::uint32_t i : group) {
        group_index_[i] = static_cast<std::uint32_t>(groups_.size());
      }
      groups_.push_back(std::move(group));
    }
  }
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    if (group_index_[i] != kNone) continue;
    group_index_[i] = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({static_cast<std::uint32_t>(i)});
  }
}

void StepGraph::make_dependencies(const TimelineStep& step, std::size_t workers) {
  needs_.resize(step.ops.size());
  // Operations of each worker and lane, by end.
  std::vector<std::array<std::vector<std::uint32_t>, kLanes>> lanes(workers);
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    lanes[step.ops[i].worker][static_cast<std::size_t>(step.ops[i].lane)].push_back(
        static_cast<std::uint32_t>(i));
  }
  for (auto& worker : lanes) {
    for (auto& lane : worker) {
      std::stable_sort(lane.begin(), lane.end(), [&](std::uint32_t a, std::uint32_t b) {
        return step.ops[a].end_us < step.ops[b].end_us;
      });
    }
  }
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    const TimelineOp& op = step.ops[i];
    for (const auto& lane : lanes[op.worker]) {
      auto after = std::upper_bound(
          lane.begin(), lane.end(), op.start_us + kSameInstantUs,
          [&](double time, std::uint32_t other) { return time < step.ops[other].end_us; });
      // Of the same instant, only what comes earlier in the order of the step: no cycles.
      while (after != lane.begin()) {
        --after;
        if (*after < i && step.ops[*after].start_us < op.start_us) {
          needs_[i].push_back(*after);
          break;
        }
      }
    }
  }
}

// Groups in an order in which each stands after what it needs. Recorded starts give one, but for
// disorder within the clocks' tolerance; what a cycle would hold back is taken as it comes.
void StepGraph::make_order(const TimelineStep& step) {
  std::vector<std::uint32_t> waiting(groups_.size(), 0);
  std::vector<std::vector<std::uint32_t>> next(groups_.size());
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    for (const std::uint32_t need : needs_[i]) {
      const std::uint32_t from = group_index_[need];
      const std::uint32_t to = group_index_[i];
      if (from == to) continue;
      next[from].push_back(to);
      ++waiting[to];
    }
  }
  order_.reserve(groups_.size());
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (waiting[g] == 0) order_.push_back(g);
  }
  for (std::size_t at = 0; at < order_.size(); ++at) {
    for (const std::uint32_t to : next[order_[at]]) {
      if (--waiting[to] == 0) order_.push_back(to);
    }
  }
  if (order_.size() == groups_.size()) return;
  std::vector<std::uint32_t> rest;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (waiting[g] != 0) rest.push_back(g);
  }
  std::stable_sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
    return step.ops[groups_[a].front()].start_us < step.ops[groups_[b].front()].start_us;
  });
  order_.insert(order_.end(), rest.begin(), rest.end());
}

double StepGraph::replay_us(std::span<const double> durations_us) const {
  std::vector<double> end(durations_us.size(), 0.0);
  double makespan = 0.0;
  for (const std::uint32_t g : order_) {
    double start = 0.0;
    for (const std::uint32_t i : groups_[g]) {
      for (const std::uint32_t need : needs_[i]) start = std::max(start, end[need]);
    }
    for (const std::uint32_t i : groups_[g]) {
      end[i] = start + durations_us[i];
      makespan = std::max(makespan, end[i]);
    }
  }
  return makespan;
}

std::span<const std::uint32_t> StepGraph::group_of(std::size_t op) const {
  return groups_[group_index_[op]];
}

namespace {

// Graphs of all steps, and means over them in seconds.
class Replayer {
 public:
  explicit Replayer(const Timeline& timeline) : timeline_(timeline) {
    for (const TimelineStep& step : timeline.steps) graphs_.emplace_back(timeline, step);
    make_ideal();
  }

  using Edit = std::function<double(std::size_t step, std::size_t op)>;

  [[nodiscard]] double mean_s(const Edit& duration_us) const {
    std::vector<double> steps;
    std::vector<double> durations;
    for (std::size_t s = 0; s < graphs_.size(); ++s) {
      durations.resize(ops(s).size());
      for (std::size_t i = 0; i < durations.size(); ++i) durations[i] = duration_us(s, i);
      steps.push_back(graphs_[s].replay_us(durations) / 1e6);
    }
    return mean(steps);
  }

  [[nodiscard]] const std::vector<TimelineOp>& ops(std::size_t s) const {
    return timeline_.steps[s].ops;
  }
  [[nodiscard]] const TimelineWorker& worker(std::size_t s, std::size_t i) const {
    return timeline_.workers[ops(s)[i].worker];
  }
  [[nodiscard]] double own(std::size_t s, std::size_t i) const {
    return graphs_[s].durations_us()[i];
  }
  [[nodiscard]] double ideal(std::size_t s, std::size_t i) const { return ideal_[ops(s)[i].type]; }
  [[nodiscard]] std::size_t steps() const { return graphs_.size(); }

 private:
  // Each kind of compute at its mean, each kind of communication at its median, over all.
  void make_ideal() {
    std::vector<std::vector<double>> all(timeline_.types.size());
    std::vector<bool> compute(timeline_.types.size(), false);
    for (std::size_t s = 0; s < graphs_.size(); ++s) {
      for (std::size_t i = 0; i < ops(s).size(); ++i) {
        all[ops(s)[i].type].push_back(own(s, i));
        if (is_compute(ops(s)[i])) compute[ops(s)[i].type] = true;
      }
    }
    for (std::size_t t = 0; t < all.size(); ++t) {
      ideal_.push_back(all[t].empty() ? 0.0 : compute[t] ? mean(all[t]) : median_inplace(all[t]));
    }
  }

  const Timeline& timeline_;
  std::vector<StepGraph> graphs_;
  std::vector<double> ideal_;
};

// What each compute operation would take in another distribution of the work: the k-th of a worker
// and type is looked up among the k-th of its peers.
class PeerTimes {
 public:
  PeerTimes(const Replayer& replayer, std::size_t s) : of_op_(replayer.ops(s).size()) {
    const auto& ops = replayer.ops(s);
    std::map<std::pair<std::uint32_t, std::uint16_t>, int> seen;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!is_compute(ops[i])) continue;
      const int k = seen[{ops[i].worker, ops[i].type}]++;
      const TimelineWorker& w = replayer.worker(s, i);
      stage_[{ops[i].type, k, w.pp, 0}].push_back({replayer.own(s, i), ops[i].worker});
      pipe_[{ops[i].type, k, w.dp, w.tp}].push_back({replayer.own(s, i), ops[i].worker});
      of_op_[i] = k;
    }
  }

  // The median of the other workers of its stage; nothing: it is alone there.
  [[nodiscard]] std::optional<double> peers_median(const Replayer& replayer, std::size_t s,
                                                   std::size_t i) const {
    const TimelineOp& op = replayer.ops(s)[i];
    std::vector<double> others;
    for (const auto& [value, worker] :
         stage_.at({op.type, of_op_[i], replayer.worker(s, i).pp, 0})) {
      if (worker != op.worker) others.push_back(value);
    }
    if (others.empty()) return {};
    return median_inplace(others);
  }

  // The mean over the stages of its pipeline.
  [[nodiscard]] double stages_mean(const Replayer& replayer, std::size_t s, std::size_t i) const {
    const TimelineOp& op = replayer.ops(s)[i];
    const TimelineWorker& w = replayer.worker(s, i);
    std::vector<double> all;
    for (const auto& entry : pipe_.at({op.type, of_op_[i], w.dp, w.tp})) all.push_back(entry.first);
    return mean(all);
  }

 private:
  std::map<Key, std::vector<std::pair<double, std::uint32_t>>> stage_, pipe_;
  std::vector<int> of_op_;
};

}  // namespace

PipelineReplay replay_timeline(const Timeline& timeline, std::span<const std::int64_t> ranks) {
  const Replayer replayer(timeline);
  PipelineReplay replay;
  replay.steps = static_cast<std::int64_t>(replayer.steps());
  std::vector<double> recorded;
  std::vector<double> busiest;
  std::vector<PeerTimes> peers;
  for (std::size_t s = 0; s < replayer.steps(); ++s) {
    double begin = std::numeric_limits<double>::infinity();
    double end = -begin;
    std::vector<double> busy(timeline.workers.size(), 0.0);
    for (std::size_t i = 0; i < replayer.ops(s).size(); ++i) {
      const TimelineOp& op = replayer.ops(s)[i];
      begin = std::min(begin, op.start_us);
      end = std::max(end, op.end_us);
      busy[op.worker] += replayer.own(s, i);
    }
    recorded.push_back((end - begin) / 1e6);
    busiest.push_back(*std::max_element(busy.begin(), busy.end()) / 1e6);
    peers.emplace_back(replayer, s);
  }
  replay.recorded_step_s = mean(recorded);
  replay.no_waits_step_s = mean(busiest);
  const auto own = [&](std::size_t s, std::size_t i) { return replayer.own(s, i); };
  const auto ideal = [&](std::size_t s, std::size_t i) { return replayer.ideal(s, i); };
  replay.replayed_step_s = replayer.mean_s(own);
  replay.ideal_step_s = replayer.mean_s(ideal);
  replay.balanced_stages_step_s = replayer.mean_s([&](std::size_t s, std::size_t i) {
    return is_compute(replayer.ops(s)[i]) ? peers[s].stages_mean(replayer, s, i) : own(s, i);
  });

  // The ideal with the originals of one part put back.
  const auto with = [&](auto&& part) {
    return replayer.mean_s([&](std::size_t s, std::size_t i) {
      return part(s, i) ? own(s, i) : ideal(s, i);
    }) / replay.ideal_step_s;
  };
  for (int dp = 0; dp < timeline.dp; ++dp) {
    replay.by_dp.push_back({std::to_string(dp), with([&](std::size_t s, std::size_t i) {
                              return replayer.worker(s, i).dp == dp;
                            })});
  }
  for (int pp = 0; pp < timeline.pp; ++pp) {
    replay.by_stage.push_back({std::to_string(pp), with([&](std::size_t s, std::size_t i) {
                                 return replayer.worker(s, i).pp == pp;
                               })});
  }
  for (std::size_t t = 0; t < timeline.types.size(); ++t) {
    replay.by_op_type.push_back({timeline.types[t], with([&](std::size_t s, std::size_t i) {
                                   return replayer.ops(s)[i].type == t;
                                 })});
  }
  if (timeline.workers.size() <= kMostWorkersTried) {
    for (std::uint32_t w = 0; w < timeline.workers.size(); ++w) {
      const double left = replayer.mean_s([&](std::size_t s, std::size_t i) {
        const TimelineOp& op = replayer.ops(s)[i];
        if (op.worker != w || !is_compute(op)) return own(s, i);
        return peers[s].peers_median(replayer, s, i).value_or(own(s, i));
      });
      if (!replay.worst_rank || left < replay.worst_rank_at_peers_step_s) {
        replay.worst_rank = ranks[w];
        replay.worst_rank_at_peers_step_s = left;
      }
    }
  }
  return replay;
}

}  // namespace mfu::traces
