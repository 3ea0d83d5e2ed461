#include "traces/timeline/timeline.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/note_code.hpp"
#include "traces/kineto/event.hpp"

namespace mfu::traces {
namespace {

constexpr double kMostClockUs = 1e17;             // since any epoch in use
constexpr double kMostOpUs = 6.0 * 3600.0 * 1e6;  // a watchdog ends the job long before
constexpr std::int64_t kMostIndex = 1 << 20;
constexpr std::size_t kMostOps = std::size_t{1} << 30;

// By Work, as recorders name them; empty: told by the lane alone.
constexpr std::array<std::string_view, 15> kWorkNames{"forward-compute",
                                                      "backward-compute",
                                                      "optimizer",
                                                      "",
                                                      "forward-send",
                                                      "forward-recv",
                                                      "backward-send",
                                                      "backward-recv",
                                                      "params-all-gather",
                                                      "grads-reduce-scatter",
                                                      "layernorm-grads-all-reduce",
                                                      "embedding-grads-all-reduce",
                                                      "optimizer-clip-main-grad",
                                                      "",
                                                      ""};
// A pause of Python's collector is known, too: it stands in the compute lane.
constexpr std::string_view kPause = "gc";

std::optional<Work> work_named(std::string_view name) {
  const auto found = std::find(kWorkNames.begin(), kWorkNames.end(), name);
  if (name.empty() || found == kWorkNames.end()) return {};
  return static_cast<Work>(found - kWorkNames.begin());
}

// What the lane says counts: compute there is computing, whatever its name.
Work work_of(std::string_view name, Lane lane) {
  const std::optional<Work> named = work_named(name);
  if (lane == Lane::compute) return named && is_compute(*named) ? *named : Work::other_compute;
  if (lane == Lane::misc) return Work::own_time;
  return named && is_comm(*named) ? *named : Work::other_comm;
}

struct LaneName {
  int pp = 0;
  int tp = 0;
  Lane lane = Lane::misc;
};

std::optional<int> number_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return {};
  int value = -1;
  const char* begin = text.data() + at + words.size();
  const auto [end, code] = std::from_chars(begin, text.data() + text.size(), value);
  if (code != std::errc() || end == begin || value < 0 || value > kMostIndex) return {};
  return value;
}

// "PP rank 1, TP rank 0, dp-comm"
std::optional<LaneName> lane_of(std::string_view name) {
  const std::optional<int> pp = number_after(name, "PP rank ");
  if (!pp) return {};
  LaneName lane;
  lane.pp = *pp;
  lane.tp = number_after(name, "TP rank ").value_or(0);
  const std::string_view kind = name.substr(name.rfind(' ') + 1);
  if (kind == "compute") lane.lane = Lane::compute;
  if (kind == "pp-comm") lane.lane = Lane::pipeline_comm;
  if (kind == "tp-comm") lane.lane = Lane::tensor_comm;
  if (kind == "dp-comm") lane.lane = Lane::data_comm;
  return lane;
}

// An event as it stands in the file.
struct Event {
  std::string name, category, phase, lane_name;
  std::optional<std::int64_t> pid, tid, step, chunk, microbatch, sequence;
  std::optional<double> ts_us, dur_us;
};

struct RawOp {
  std::int64_t step, pid, tid;
  TimelineOp op;
};

class TimelineReader {
 public:
  TimelineReader(ByteSource& source, Notes& notes, const JsonCursor::Limits& limits)
      : cursor_(source, limits), notes_(notes), file_(source.name()) {}

  Timeline read() {
    if (cursor_.peek() != JsonCursor::Kind::array) {
      throw Error(ErrorKind::format, "a timeline is a JSON array of events", cursor_.place());
    }
    cursor_.enter_array();
    Event event;
    while (cursor_.next_element()) {
      if (cursor_.peek() != JsonCursor::Kind::object) {
        throw Error(ErrorKind::format, "an event is not an object", cursor_.place());
      }
      event = Event();
      read_event(event);
      take(event);
    }
    return finished();
  }

 private:
  // A whole number, or nothing where the value is of another kind.
  std::optional<std::int64_t> whole() {
    const std::optional<double> value = number();
    if (!value || *value != std::floor(*value) || std::fabs(*value) > 9e15) return {};
    return static_cast<std::int64_t>(*value);
  }
  std::optional<double> number() {
    if (cursor_.peek() != JsonCursor::Kind::number) {
      cursor_.skip_value();
      return {};
    }
    return cursor_.number();
  }
  std::string text() {
    if (cursor_.peek() == JsonCursor::Kind::string) return cursor_.string();
    cursor_.skip_value();
    return {};
  }

  void read_event(Event& event) {
    cursor_.enter_object();
    std::string key;
    while (cursor_.next_key(key)) {
      if (key == "name") {
        event.name = text();
      } else if (key == "cat") {
        event.category = text();
      } else if (key == "ph") {
        event.phase = text();
      } else if (key == "pid") {
        event.pid = whole();
      } else if (key == "tid") {
        event.tid = whole();
      } else if (key == "ts") {
        event.ts_us = number();
      } else if (key == "dur") {
        event.dur_us = number();
      } else if (key == "args" && cursor_.peek() == JsonCursor::Kind::object) {
        read_arguments(event);
      } else {
        cursor_.skip_value();
      }
    }
  }

  void read_arguments(Event& event) {
    cursor_.enter_object();
    std::string key;
    while (cursor_.next_key(key)) {
      if (key == "step") {
        event.step = whole();
      } else if (key == "model_chunk") {
        event.chunk = whole();
      } else if (key == "mb_id") {
        event.microbatch = whole();
      } else if (key == "seq_id") {
        event.sequence = whole();
      } else if (key == "name") {
        event.lane_name = text();
      } else {
        cursor_.skip_value();
      }
    }
  }

  void leave_out(NoteCode code, const char* why) { notes_.add(code, why, Place{.file = file_}); }

  void take(const Event& event) {
    if (event.phase == "M") {
      if (event.name != "thread_name" || !event.pid || !event.tid) return;
      if (const auto lane = lane_of(event.lane_name)) lanes_[{*event.pid, *event.tid}] = *lane;
      return;
    }
    if (event.phase != "X") return;
    const std::string& type = event.category.empty() ? event.name : event.category;
    if (!event.pid || !event.tid || *event.pid < 0 || *event.pid > kMostIndex || type.empty()) {
      return leave_out(NoteCode::event_without_place,
                       "events without a process, thread or name are left out");
    }
    if (!event.step)
      return leave_out(NoteCode::event_without_step, "events without a step are left out");
    const bool fine = event.ts_us && event.dur_us && std::fabs(*event.ts_us) < kMostClockUs &&
                      *event.dur_us >= 0.0 && *event.dur_us < kMostOpUs &&
                      !ran_below_zero(std::llround(*event.dur_us * 1e3));
    if (!fine) {
      return leave_out(NoteCode::event_time,
                       "events with a missing, negative or huge time are left out");
    }
    if (ops_.size() >= kMostOps) {
      throw Error(ErrorKind::unsupported, "more than 1,073,741,824 operations", cursor_.place(),
                  "record fewer steps");
    }
    if (event.chunk) chunks_ = std::max(chunks_, std::min<std::int64_t>(*event.chunk, 64) + 1);
    const auto small = [](const std::optional<std::int64_t>& value) {
      return value && *value >= 0 && *value < (std::int64_t{1} << 30)
                 ? static_cast<std::int32_t>(*value)
                 : std::int32_t{-1};
    };
    RawOp& raw = ops_.emplace_back();
    raw.step = *event.step;
    raw.pid = *event.pid;
    raw.tid = *event.tid;
    raw.op.start_us = *event.ts_us;
    raw.op.end_us = *event.ts_us + *event.dur_us;
    raw.op.type = type_of(type);
    raw.op.chunk = small(event.chunk);
    raw.op.microbatch = small(event.microbatch);
    raw.op.sequence = small(event.sequence);
  }

  std::uint16_t type_of(const std::string& name) {
    const auto found = types_.find(name);
    if (found != types_.end()) return found->second;
    if (types_.size() >= std::numeric_limits<std::uint16_t>::max()) {
      throw Error(ErrorKind::format, "too many kinds of operations for a timeline",
                  cursor_.place());
    }
    const auto id = static_cast<std::uint16_t>(types_.size());
    types_.emplace(name, id);
    return id;
  }

  Timeline finished() {
    Timeline timeline;
    timeline.file = file_;
    timeline.chunks = static_cast<int>(chunks_);
    // Ids by name, so that the order of events changes nothing.
    std::vector<std::uint16_t> by_name(types_.size());
    for (const auto& [name, id] : types_) {
      by_name[id] = static_cast<std::uint16_t>(timeline.types.size());
      timeline.types.push_back(name);
    }
    for (RawOp& raw : ops_) raw.op.type = by_name[raw.op.type];
    keep_named_lanes();
    find_workers(timeline);
    std::sort(ops_.begin(), ops_.end(), [](const RawOp& a, const RawOp& b) {
      return std::tie(a.step, a.op.worker, a.op.start_us, a.op.end_us, a.op.work, a.op.type,
                      a.op.chunk, a.op.sequence, a.op.microbatch) <
             std::tie(b.step, b.op.worker, b.op.start_us, b.op.end_us, b.op.work, b.op.type,
                      b.op.chunk, b.op.sequence, b.op.microbatch);
    });
    keep_whole_steps(timeline);
    note_unknown(timeline);
    return timeline;
  }

  void keep_named_lanes() {
    std::erase_if(ops_, [this](const RawOp& raw) {
      if (lanes_.count({raw.pid, raw.tid}) > 0) return false;
      leave_out(NoteCode::lane_without_name, "events of lanes without a name are left out");
      return true;
    });
    if (ops_.empty()) {
      throw Error(ErrorKind::insufficient, "no step with operations in named lanes",
                  Place{.file = file_},
                  "lanes are named in thread_name: \"PP rank 0, TP rank 0, compute\"");
    }
  }

  void find_workers(Timeline& timeline) {
    std::map<std::tuple<int, int, int>, std::uint32_t> index;
    const auto place = [this](const RawOp& raw) {
      const LaneName& lane = lanes_.find({raw.pid, raw.tid})->second;
      return std::tuple(lane.pp, static_cast<int>(raw.pid), lane.tp);
    };
    for (const RawOp& raw : ops_) index.emplace(place(raw), 0);
    for (auto& [key, worker] : index) {
      worker = static_cast<std::uint32_t>(timeline.workers.size());
      const auto [pp, dp, tp] = key;
      timeline.workers.push_back({dp, pp, tp});
      timeline.dp = std::max(timeline.dp, dp + 1);
      timeline.pp = std::max(timeline.pp, pp + 1);
      timeline.tp = std::max(timeline.tp, tp + 1);
    }
    for (RawOp& raw : ops_) {
      raw.op.worker = index.at(place(raw));
      raw.op.work = work_of(timeline.types[raw.op.type], lanes_.at({raw.pid, raw.tid}).lane);
    }
  }

  // Every worker does as many forwards and backwards in a step as the others. Each step that is
  // kept has all workers: what follows is no larger than the events.
  void keep_whole_steps(Timeline& timeline) {
    std::int64_t left_out = 0;
    std::int64_t all = 0;
    std::string first;
    for (std::size_t from = 0; from < ops_.size(); ++all) {
      std::size_t to = from;
      while (to < ops_.size() && ops_[to].step == ops_[from].step) ++to;
      const std::string missing = missing_in(timeline, from, to);
      if (missing.empty()) {
        TimelineStep& step = timeline.steps.emplace_back();
        step.id = ops_[from].step;
        step.begin = timeline.ops.size();
        for (std::size_t i = from; i < to; ++i) {
          timeline.ops.push_back(ops_[i].op);
          timeline.ops.back().step = static_cast<std::uint32_t>(timeline.steps.size() - 1);
        }
        step.end = timeline.ops.size();
      } else if (left_out++ == 0) {
        first = missing;
      }
      from = to;
    }
    std::vector<RawOp>().swap(ops_);
    const Place where{.file = file_, .what = first};
    if (timeline.steps.empty()) {
      throw Error(ErrorKind::insufficient,
                  "no step has the same number of forwards and backwards on each worker", where,
                  "the compute lane of every worker is needed, with its thread_name");
    }
    if (left_out == 0) return;
    notes_.add(NoteCode::timeline_incomplete_step,
               std::to_string(left_out) + " of " + std::to_string(all) +
                   " steps do not have the same number of forwards and backwards on each worker "
                   "and are left out",
               where, left_out);
  }

  // Of the operations of one step: the first worker that differs from the first; empty: none.
  std::string missing_in(const Timeline& timeline, std::size_t from, std::size_t to) const {
    const std::size_t workers = timeline.workers.size();
    std::uint32_t expected = 0;
    std::pair<int, int> usual;
    const auto differs = [&](std::uint32_t worker) {
      const TimelineWorker& w = timeline.workers[worker];
      return "step " + std::to_string(ops_[from].step) + ", dp " + std::to_string(w.dp) +
             ", stage " + std::to_string(w.pp);
    };
    for (std::size_t i = from; i < to; ++expected) {
      const std::uint32_t worker = ops_[i].op.worker;
      if (worker != expected) return differs(expected);
      std::pair<int, int> count;
      for (; i < to && ops_[i].op.worker == worker; ++i) {
        count.first += ops_[i].op.work == Work::forward ? 1 : 0;
        count.second += ops_[i].op.work == Work::backward ? 1 : 0;
      }
      if (expected == 0) usual = count;
      if (count != usual) return differs(expected);
    }
    return expected == workers ? std::string() : differs(expected);
  }

  // What stands in its lane under a name that tells nothing.
  void note_unknown(const Timeline& timeline) {
    struct Odd {
      std::int64_t count = 0;
      const TimelineOp* first = nullptr;
    };
    Odd unknown;
    Odd misc;
    for (const TimelineOp& op : timeline.ops) {
      const bool named = op.work == Work::other_compute && timeline.types[op.type] == kPause;
      const bool other = op.work == Work::other_compute || op.work == Work::other_comm;
      if (named || (!other && op.work != Work::own_time)) continue;
      Odd& odd = other ? unknown : misc;
      if (odd.count++ == 0) odd.first = &op;
    }
    if (unknown.count > 0) {
      notes_.add(
          NoteCode::timeline_unknown_operation,
          "'" + timeline.types[unknown.first->type].substr(0, 80) +
              "' is not a known operation of its lane; its time counts, its peers are not known",
          place_of(timeline, *unknown.first), unknown.count);
    }
    if (misc.count > 0) {
      notes_.add(NoteCode::timeline_misc_lane,
                 "'" + timeline.types[misc.first->type].substr(0, 80) +
                     "' is in a misc lane: the worker's own time, not replayed",
                 place_of(timeline, *misc.first), misc.count);
    }
  }

  JsonCursor cursor_;
  Notes& notes_;
  std::string file_;
  std::map<std::pair<std::int64_t, std::int64_t>, LaneName> lanes_;
  std::map<std::string, std::uint16_t> types_;
  std::vector<RawOp> ops_;
  std::int64_t chunks_ = 1;
};

}  // namespace

bool sniff_timeline(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || head[first] != '[') return false;
  if (head.find("\"PP rank ") != std::string_view::npos) return true;
  return head.find("\"model_chunk\"") != std::string_view::npos &&
         head.find("-compute\"") != std::string_view::npos;
}

Place place_of(const Timeline& timeline, const TimelineOp& op) {
  const TimelineWorker& worker = timeline.workers[op.worker];
  return {.file = timeline.file,
          .what = "step " + std::to_string(timeline.steps[op.step].id) + ", dp " +
                  std::to_string(worker.dp) + ", stage " + std::to_string(worker.pp) +
                  (timeline.tp > 1 ? ", tp " + std::to_string(worker.tp) : "")};
}

Timeline read_timeline(ByteSource& source, Notes& notes, const JsonCursor::Limits& limits) {
  return TimelineReader(source, notes, limits).read();
}

}  // namespace mfu::traces
