#include "traces/timeline.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace mfu::traces {
namespace {

constexpr double kMostMicroseconds = 1e15;  // 30 years
constexpr std::int64_t kMostIndex = 1 << 20;

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
  std::optional<std::int64_t> pid, tid, step, chunk;
  std::optional<double> ts_us, dur_us;
};

struct RawOp {
  std::int64_t step, pid, tid;
  std::uint16_t type;
  double start_us, end_us;
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
      } else if (key == "name") {
        event.lane_name = text();
      } else {
        cursor_.skip_value();
      }
    }
  }

  void leave_out(const char* code, const char* why) {
    notes_.add(code, Severity::loss, why, Place{.file = file_});
  }

  void take(const Event& event) {
    if (event.phase == "M") {
      if (event.name != "thread_name" || !event.pid || !event.tid) return;
      if (const auto lane = lane_of(event.lane_name)) lanes_[{*event.pid, *event.tid}] = *lane;
      return;
    }
    if (event.phase != "X") return;
    const std::string& type = event.category.empty() ? event.name : event.category;
    if (!event.pid || !event.tid || *event.pid < 0 || *event.pid > kMostIndex || type.empty()) {
      return leave_out("event-without-place",
                       "events without a process, thread or name are left out");
    }
    if (!event.step) return leave_out("event-without-step", "events without a step are left out");
    const bool fine = event.ts_us && event.dur_us && std::fabs(*event.ts_us) < kMostMicroseconds &&
                      *event.dur_us >= 0.0 && *event.dur_us < kMostMicroseconds;
    if (!fine) {
      return leave_out("event-time", "events with a missing, negative or huge time are left out");
    }
    if (event.chunk) chunks_ = std::max(chunks_, std::min<std::int64_t>(*event.chunk, 64) + 1);
    ops_.push_back({*event.step, *event.pid, *event.tid, type_of(type), *event.ts_us,
                    *event.ts_us + *event.dur_us});
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
    timeline.chunks = static_cast<int>(chunks_);
    // Ids by name, so that the order of events changes nothing.
    std::vector<std::uint16_t> by_name(types_.size());
    for (const auto& [name, id] : types_) {
      by_name[id] = static_cast<std::uint16_t>(timeline.types.size());
      timeline.types.push_back(name);
    }
    std::set<std::tuple<int, int, int>> places;
    for (const RawOp& op : ops_) {
      if (const LaneName* lane = find_lane(op)) {
        places.insert({lane->pp, static_cast<int>(op.pid), lane->tp});
      }
    }
    std::map<std::tuple<int, int, int>, std::uint32_t> index;
    for (const auto& place : places) {
      index[place] = static_cast<std::uint32_t>(timeline.workers.size());
      const auto [pp, dp, tp] = place;
      timeline.workers.push_back({dp, pp, tp});
      timeline.dp = std::max(timeline.dp, dp + 1);
      timeline.pp = std::max(timeline.pp, pp + 1);
      timeline.tp = std::max(timeline.tp, tp + 1);
    }
    std::map<std::int64_t, std::vector<TimelineOp>> steps;
    for (const RawOp& op : ops_) {
      const LaneName* lane = find_lane(op);
      if (lane == nullptr) {
        leave_out("lane-without-name", "events of lanes without a name are left out");
        continue;
      }
      steps[op.step].push_back({op.start_us, op.end_us,
                                index.at({lane->pp, static_cast<int>(op.pid), lane->tp}),
                                by_name[op.type], lane->lane});
    }
    for (auto& [id, ops] : steps) {
      std::sort(ops.begin(), ops.end(), [](const TimelineOp& a, const TimelineOp& b) {
        return std::tie(a.start_us, a.worker, a.lane, a.type, a.end_us) <
               std::tie(b.start_us, b.worker, b.lane, b.type, b.end_us);
      });
      timeline.steps.push_back({id, std::move(ops)});
    }
    if (timeline.steps.empty()) {
      throw Error(ErrorKind::insufficient, "no step with operations in named lanes",
                  Place{.file = file_},
                  "lanes are named in thread_name: \"PP rank 0, TP rank 0, compute\"");
    }
    return timeline;
  }

  const LaneName* find_lane(const RawOp& op) const {
    const auto found = lanes_.find({op.pid, op.tid});
    return found == lanes_.end() ? nullptr : &found->second;
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

Timeline read_timeline(ByteSource& source, Notes& notes, const JsonCursor::Limits& limits) {
  return TimelineReader(source, notes, limits).read();
}

}  // namespace mfu::traces
