#include "traces/timeline/groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "base/note_code.hpp"
#include "traces/timeline/clocks.hpp"

namespace mfu::traces {
namespace {

// Equal keys belong together.
using CallKey = std::array<std::int32_t, 7>;

struct Entry {
  CallKey key;
  std::uint32_t op;
};

CallKey key_of(const Timeline& timeline, std::size_t index, std::int32_t sequence) {
  const TimelineOp& op = timeline.ops[index];
  const TimelineWorker& worker = timeline.workers[op.worker];
  const auto step = static_cast<std::int32_t>(op.step);
  const auto work = static_cast<std::int32_t>(op.work);
  // A chunk goes on from the last stage to the first: stages are a ring. Both ends of a transfer
  // have the key of the receiving stage.
  const int next = (worker.pp + 1) % timeline.pp;
  const int before = (worker.pp + timeline.pp - 1) % timeline.pp;
  constexpr std::int32_t kForward = 100;
  constexpr std::int32_t kBackward = 101;
  switch (op.work) {
    case Work::forward_send:
      return {step, kForward, worker.dp, worker.tp, next, sequence, 0};
    case Work::forward_recv:
      return {step, kForward, worker.dp, worker.tp, worker.pp, sequence, 0};
    case Work::backward_send:
      return {step, kBackward, worker.dp, worker.tp, before, sequence, 0};
    case Work::backward_recv:
      return {step, kBackward, worker.dp, worker.tp, worker.pp, sequence, 0};
    case Work::params_all_gather:
    case Work::grads_reduce_scatter:
      return {step, work, worker.pp, worker.tp, op.chunk, sequence, 0};
    case Work::layernorm_grads_all_reduce:
      return {step, work, worker.dp, worker.pp, op.chunk, sequence, 0};
    case Work::embedding_grads_all_reduce:
      return {step, work, worker.dp, worker.tp, op.chunk, sequence, 0};
    case Work::clip_main_grad:
      return {step, work, 0, 0, 0, sequence, 0};
    default:
      // Alone: its peers are not known.
      return {step, work, static_cast<std::int32_t>(index), 0, 0, 0, 1};
  }
}

// How many of its kind the worker has done before in the step, for each communication.
std::vector<std::int32_t> orders(const Timeline& timeline) {
  std::vector<std::int32_t> order(timeline.ops.size(), -1);
  std::map<std::pair<Work, std::int32_t>, std::int32_t> seen;
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    const TimelineOp& op = timeline.ops[i];
    if (i == 0 || op.worker != timeline.ops[i - 1].worker || op.step != timeline.ops[i - 1].step) {
      seen.clear();
    }
    if (!is_comm(op.work)) continue;
    // Transfers of all chunks pass through the same two ends; collectives are each chunk's own.
    order[i] = seen[{op.work, is_point_to_point(op.work) ? -1 : op.chunk}]++;
  }
  return order;
}

// Does this need others that are in the timeline? (An embedding is shared by two stages only.)
bool has_peers(const Timeline& timeline, Work work) {
  if (work == Work::params_all_gather || work == Work::grads_reduce_scatter) return timeline.dp > 1;
  return is_point_to_point(work) || (work == Work::clip_main_grad && timeline.workers.size() > 1);
}

enum class Numbers { unique, absent, repeated };

// Whether sequence numbers tell a worker's operations of one kind and step apart.
Numbers judge_numbers(const Timeline& timeline) {
  std::vector<std::tuple<Work, std::int32_t, std::int32_t>> own;
  const std::vector<TimelineOp>& ops = timeline.ops;
  for (std::size_t from = 0; from < ops.size();) {
    own.clear();
    std::size_t to = from;
    for (; to < ops.size() && ops[to].worker == ops[from].worker && ops[to].step == ops[from].step;
         ++to) {
      if (!is_comm(ops[to].work) || ops[to].work == Work::other_comm) continue;
      if (ops[to].sequence < 0) return Numbers::absent;
      const bool transfer = is_point_to_point(ops[to].work);
      own.emplace_back(ops[to].work, transfer ? -1 : ops[to].chunk, ops[to].sequence);
    }
    std::sort(own.begin(), own.end());
    if (std::adjacent_find(own.begin(), own.end()) != own.end()) return Numbers::repeated;
    from = to;
  }
  return Numbers::unique;
}

}  // namespace

OpGroups pair_operations(const Timeline& timeline, Notes& notes) {
  const std::vector<TimelineOp>& ops = timeline.ops;
  const Numbers numbers = judge_numbers(timeline);
  if (numbers == Numbers::repeated) {
    notes.add(NoteCode::timeline_sequence_repeats,
              "sequence numbers do not tell a worker's operations apart: the workers' operations "
              "are matched from the first on",
              Place{.file = timeline.file});
  }
  const std::vector<std::int32_t> order = orders(timeline);
  std::vector<Entry> entries;
  OpGroups groups;
  groups.of_op.assign(ops.size(), kNoGroup);
  groups.all_here_us.resize(ops.size());
  groups.transfer_us.assign(ops.size(), 0.0);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    groups.all_here_us[i] = ops[i].start_us;
    if (!is_comm(ops[i].work)) continue;
    const std::int32_t sequence = numbers == Numbers::unique ? ops[i].sequence : order[i];
    entries.push_back({key_of(timeline, i, sequence), static_cast<std::uint32_t>(i)});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.key, a.op) < std::tie(b.key, b.op);
  });
  std::int64_t single_ends = 0;
  const TimelineOp* first_single = nullptr;
  groups.begin.push_back(0);
  for (std::size_t from = 0; from < entries.size();) {
    std::size_t to = from;
    double latest = ops[entries[from].op].start_us;
    for (; to < entries.size() && entries[to].key == entries[from].key; ++to) {
      groups.members.push_back(entries[to].op);
      latest = std::max(latest, ops[entries[to].op].start_us);
    }
    for (std::size_t i = from; i < to; ++i) {
      const std::uint32_t op = entries[i].op;
      groups.of_op[op] = static_cast<std::uint32_t>(groups.size());
      groups.all_here_us[op] = std::min(latest, ops[op].end_us);
      groups.transfer_us[op] = ops[op].end_us - groups.all_here_us[op];
    }
    if (to - from == 1 && has_peers(timeline, ops[entries[from].op].work)) {
      if (single_ends++ == 0) first_single = &ops[entries[from].op];
    }
    groups.begin.push_back(static_cast<std::uint32_t>(groups.members.size()));
    from = to;
  }
  if (single_ends > 0) {
    Place where = place_of(timeline, *first_single);
    where.what += ", " + timeline.types[first_single->type];
    notes.add(NoteCode::timeline_single_end,
              "only one worker's part of a transfer or collective is recorded: waiting in it "
              "counts as transfer",
              std::move(where), single_ends);
  }
  groups.clocks_agree = clocks_agree(timeline, groups, notes);
  return groups;
}

}  // namespace mfu::traces
