#include "traces/timeline/replay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/note_code.hpp"
#include "statistics/robust.hpp"
#include "traces/timeline/replay_graph.hpp"

namespace mfu::traces {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// There is one replay for each place and worker that is tried; these bound the work.
constexpr double kMostReplayedOps = 2e8;
constexpr std::size_t kMostPlaces = 64;
constexpr std::size_t kFewestPlaces = 4;

constexpr double kUs = 1e-6;

// The two ends of a transfer are one part.
std::string_view part_name(std::string_view type) {
  if (type == "forward-send" || type == "forward-recv") return "forward-pp-comm";
  if (type == "backward-send" || type == "backward-recv") return "backward-pp-comm";
  return type;
}

class Replays {
 public:
  Replays(const Timeline& timeline, const ReplayGraph& graph, std::span<const std::int64_t> ranks,
          Notes& notes)
      : timeline_(timeline),
        ops_(timeline.ops),
        graph_(graph),
        own_(graph.durations_us()),
        ranks_(ranks),
        notes_(notes) {}

  std::optional<PipelineReplay> all();

 private:
  void find_parts();
  void find_ideal();
  void find_peers_medians();
  [[nodiscard]] double mean_step_s(const std::vector<double>& durations_us) const {
    return mean(graph_.step_lengths_us(durations_us)) * kUs;
  }
  // Slowdown of the ideal with the own durations of the operations that `keep` names.
  template <typename Keep>
  [[nodiscard]] double slowdown_with(const PipelineReplay& replay, Keep keep) {
    for (std::size_t i = 0; i < ops_.size(); ++i) changed_[i] = keep(i) ? own_[i] : ideal_[i];
    return mean_step_s(changed_) / replay.ideal_step_s;
  }
  [[nodiscard]] double recorded_step_s() const;
  void decompose(PipelineReplay& replay);
  void swap_workers(PipelineReplay& replay);
  [[nodiscard]] double balanced_stages_step_s();
  [[nodiscard]] std::vector<int> largest(const std::map<int, double>& excess);

  const Timeline& timeline_;
  const std::vector<TimelineOp>& ops_;
  const ReplayGraph& graph_;
  const std::vector<double>& own_;
  std::span<const std::int64_t> ranks_;
  Notes& notes_;
  std::map<std::string_view, std::size_t> parts_;
  std::vector<std::size_t> part_of_type_;
  std::vector<double> ideal_;         // per operation
  std::vector<double> peers_median_;  // of compute; NaN: no peer
  std::vector<double> changed_;       // the durations of the replay at hand
};

void Replays::find_parts() {
  for (const std::string& type : timeline_.types) parts_.emplace(part_name(type), 0);
  std::size_t next = 0;
  for (auto& [name, index] : parts_) index = next++;
  for (const std::string& type : timeline_.types) part_of_type_.push_back(parts_[part_name(type)]);
}

// Each kind of compute at its mean, each kind of communication at its median, over all.
void Replays::find_ideal() {
  std::vector<std::vector<double>> values(parts_.size());
  std::vector<bool> computes(parts_.size(), false);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const std::size_t part = part_of_type_[ops_[i].type];
    values[part].push_back(own_[i]);
    if (is_compute(ops_[i].work)) computes[part] = true;
  }
  std::vector<double> of_part(parts_.size(), 0.0);
  for (std::size_t part = 0; part < values.size(); ++part) {
    if (values[part].empty()) continue;
    of_part[part] = computes[part] ? mean(values[part]) : median_inplace(values[part]);
  }
  ideal_.resize(ops_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i) ideal_[i] = of_part[part_of_type_[ops_[i].type]];
}

// The same piece of work on the other workers of a stage: the k-th of its type, step and chunk.
void Replays::find_peers_medians() {
  using Key = std::tuple<std::uint32_t, int, std::uint16_t, std::int32_t, std::int32_t>;
  std::vector<std::pair<Key, std::uint32_t>> entries;
  std::map<std::pair<std::uint16_t, std::int32_t>, std::int32_t> seen;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const TimelineOp& op = ops_[i];
    if (i == 0 || op.worker != ops_[i - 1].worker || op.step != ops_[i - 1].step) seen.clear();
    if (!is_compute(op.work)) continue;
    const std::int32_t k = seen[{op.type, op.chunk}]++;
    entries.emplace_back(Key{op.step, timeline_.workers[op.worker].pp, op.type, op.chunk, k},
                         static_cast<std::uint32_t>(i));
  }
  std::sort(entries.begin(), entries.end());
  peers_median_.assign(ops_.size(), kNone);
  std::vector<double> sorted;
  for (std::size_t from = 0; from < entries.size();) {
    std::size_t to = from;
    sorted.clear();
    for (; to < entries.size() && entries[to].first == entries[from].first; ++to) {
      sorted.push_back(own_[entries[to].second]);
    }
    std::sort(sorted.begin(), sorted.end());
    const std::size_t others = sorted.size() - 1;
    for (std::size_t i = from; i < to && others > 0; ++i) {
      const std::uint32_t op = entries[i].second;
      const auto self = static_cast<std::size_t>(
          std::lower_bound(sorted.begin(), sorted.end(), own_[op]) - sorted.begin());
      const auto without = [&sorted, self](std::size_t at) {
        return sorted[at >= self ? at + 1 : at];
      };
      peers_median_[op] = others % 2 == 1 ? without(others / 2)
                                          : (without(others / 2 - 1) + without(others / 2)) / 2;
    }
    from = to;
  }
}

double Replays::recorded_step_s() const {
  std::vector<double> lengths;
  for (const TimelineStep& step : timeline_.steps) {
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (const TimelineOp& op : timeline_.ops_of(step)) {
      first = std::min(first, op.start_us);
      last = std::max(last, op.end_us);
    }
    lengths.push_back(last - first);
  }
  return mean(lengths) * kUs;
}

// Keys of the largest values, as many as the work allows, ascending.
std::vector<int> Replays::largest(const std::map<int, double>& excess) {
  const double places = kMostReplayedOps / static_cast<double>(ops_.size());
  const auto most = static_cast<std::size_t>(
      std::clamp(places, static_cast<double>(kFewestPlaces), static_cast<double>(kMostPlaces)));
  std::vector<std::pair<double, int>> sorted;
  for (const auto& [key, value] : excess) sorted.emplace_back(-value, key);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() > most) {
    notes_.add(NoteCode::timeline_replay_bounded,
               "of " + std::to_string(sorted.size()) +
                   " stages, data-parallel or other ranks, only the " + std::to_string(most) +
                   " with the most time above the others' are replayed one by one",
               Place{.file = timeline_.file});
    sorted.resize(most);
  }
  std::vector<int> keys;
  for (const auto& [value, key] : sorted) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

void Replays::decompose(PipelineReplay& replay) {
  std::map<int, double> by_dp;
  std::map<int, double> by_stage;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const TimelineWorker& worker = timeline_.workers[ops_[i].worker];
    by_dp[worker.dp] += own_[i] - ideal_[i];
    by_stage[worker.pp] += own_[i] - ideal_[i];
  }
  const auto worker = [this](std::size_t i) -> const TimelineWorker& {
    return timeline_.workers[ops_[i].worker];
  };
  for (const int dp : largest(by_dp)) {
    replay.by_dp.push_back({std::to_string(dp), slowdown_with(replay, [&](std::size_t i) {
                              return worker(i).dp == dp;
                            })});
  }
  for (const int stage : largest(by_stage)) {
    replay.by_stage.push_back({std::to_string(stage), slowdown_with(replay, [&](std::size_t i) {
                                 return worker(i).pp == stage;
                               })});
  }
  std::vector<bool> seen(parts_.size(), false);
  std::size_t kinds = 0;
  for (const TimelineOp& op : ops_) {
    if (seen[part_of_type_[op.type]]) continue;
    seen[part_of_type_[op.type]] = true;
    ++kinds;
  }
  if (kinds > kMostPlaces) {
    notes_.add(NoteCode::timeline_replay_bounded,
               std::to_string(kinds) + " kinds of operations are too many to replay one by one",
               Place{.file = timeline_.file});
    return;
  }
  for (const auto& [name, index] : parts_) {
    if (!seen[index]) continue;
    const std::size_t part = index;
    replay.by_op_type.push_back({std::string(name), slowdown_with(replay, [&](std::size_t i) {
                                   return part_of_type_[ops_[i].type] == part;
                                 })});
  }
}

void Replays::swap_workers(PipelineReplay& replay) {
  std::map<int, double> excess;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (std::isnan(peers_median_[i])) continue;
    excess[static_cast<int>(ops_[i].worker)] += own_[i] - peers_median_[i];
  }
  for (const int w : largest(excess)) {
    const auto worker = static_cast<std::uint32_t>(w);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const bool swapped = ops_[i].worker == worker && !std::isnan(peers_median_[i]);
      changed_[i] = swapped ? peers_median_[i] : own_[i];
    }
    const double left = mean_step_s(changed_);
    if (replay.worst_rank && left >= replay.worst_rank_at_peers_step_s) continue;
    replay.worst_rank = ranks_[worker];
    replay.worst_rank_at_peers_step_s = left;
  }
}

// A stage's load is what its middle worker takes: one slow worker does not make a long stage.
double Replays::balanced_stages_step_s() {
  changed_ = own_;
  for (const Work work : {Work::forward, Work::backward}) {
    std::vector<double> total(timeline_.workers.size(), 0.0);
    std::vector<double> count(timeline_.workers.size(), 0.0);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].work != work) continue;
      total[ops_[i].worker] += own_[i];
      count[ops_[i].worker] += 1.0;
    }
    std::map<int, std::vector<double>> by_stage;
    for (std::size_t w = 0; w < total.size(); ++w) {
      if (count[w] > 0.0) by_stage[timeline_.workers[w].pp].push_back(total[w] / count[w]);
    }
    std::map<int, double> load;
    std::vector<double> loads;
    for (auto& [stage, means] : by_stage) {
      loads.push_back(load[stage] = median_inplace(means));
    }
    const double even = mean(loads);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].work != work) continue;
      const double own = load[timeline_.workers[ops_[i].worker].pp];
      if (own > 0.0) changed_[i] *= even / own;
    }
  }
  return mean_step_s(changed_);
}

std::optional<PipelineReplay> Replays::all() {
  find_parts();
  find_ideal();
  changed_.resize(ops_.size());
  PipelineReplay replay;
  replay.steps = static_cast<std::int64_t>(timeline_.steps.size());
  replay.recorded_step_s = recorded_step_s();
  replay.replayed_step_s = mean_step_s(own_);
  replay.ideal_step_s = mean_step_s(ideal_);
  if (!(replay.replayed_step_s > 0.0) || !(replay.ideal_step_s > 0.0)) return std::nullopt;
  find_peers_medians();
  decompose(replay);
  swap_workers(replay);
  replay.balanced_stages_step_s = balanced_stages_step_s();
  replay.no_waits_step_s = mean(graph_.step_lengths_alone_us(own_)) * kUs;
  return replay;
}

}  // namespace

std::optional<PipelineReplay> replay_timeline(const Timeline& timeline, const OpGroups& groups,
                                              std::span<const std::int64_t> ranks, Notes& notes) {
  if (!groups.clocks_agree) return std::nullopt;
  const auto refuse = [&](const char* why) {
    notes.add(NoteCode::timeline_no_replay, std::string(why) + ": the schedule is not replayed",
              Place{.file = timeline.file});
    return std::nullopt;
  };
  const std::optional<ReplayGraph> graph = ReplayGraph::build(timeline, groups);
  if (!graph) return refuse("the recorded order contradicts itself between workers");
  std::optional<PipelineReplay> replay = Replays(timeline, *graph, ranks, notes).all();
  if (!replay) return refuse("no operation takes any time");
  return replay;
}

}  // namespace mfu::traces
