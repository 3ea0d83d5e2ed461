#include "traces/xla/xla.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/json_fields.hpp"
#include "base/json_scanner.hpp"
#include "base/note_code.hpp"
#include "traces/kineto/event.hpp"
#include "traces/kineto/meta.hpp"
#include "traces/kineto/steps.hpp"
#include "traces/split.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

constexpr std::string_view kDevicePrefix = "/device:";

enum class XlaLane : std::uint8_t { unknown, other, steps, ops, stream };

struct XlaEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t step = -1;  // the number in the name
  std::uint32_t kind = 0;  // of a collective: index into the kinds
  Activity activity = Activity::compute;
  bool holds_others = false;  // while, conditional, call
  bool begins_only = false;   // all-gather-start
};

struct XlaThread {
  XlaLane lane = XlaLane::unknown;
  std::vector<XlaEvent> events;
};

struct XlaProcess {
  std::string name;  // empty: not told yet
  std::map<std::int64_t, XlaThread> threads;
  [[nodiscard]] bool is_device() const { return name.starts_with(kDevicePrefix); }
};

XlaLane xla_lane_of(std::string_view name) {
  if (name == "Steps") return XlaLane::steps;
  if (name == "XLA Ops") return XlaLane::ops;
  if (name.starts_with("Stream #")) return XlaLane::stream;
  return XlaLane::other;
}

// The number that the name ends with: "7", "train 7".
std::optional<std::int64_t> number_at_end(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && digit(text[at - 1])) --at;
  return integer_of_text(text.substr(at));
}

constexpr std::string_view kHloCollectives[] = {
    "all-reduce", "all-gather", "reduce-scatter",     "all-to-all",           "ragged-all-to-all",
    "send",       "recv",       "collective-permute", "collective-broadcast", "async-collective"};
constexpr std::string_view kHloCopies[] = {"copy-start", "copy-done", "infeed", "outfeed",
                                           "host-transfer"};
constexpr std::string_view kHloHolders[] = {"while", "conditional", "call"};

// Whether the operation `part` is what `name` begins with: "send.3", "send-done", not "sender".
bool is_operation(std::string_view name, std::string_view part) {
  if (!name.starts_with(part)) return false;
  const std::string_view rest = name.substr(part.size());
  return rest.empty() || rest.front() == '.' || rest.front() == '-' || rest.front() == '_' ||
         rest.front() == ' ';
}

template <std::size_t N>
bool any_operation(std::string_view name, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [name](std::string_view part) { return is_operation(name, part); });
}

class XlaReader {
 public:
  XlaReader(ByteSource& source, Notes& notes)
      : source_(source), notes_(notes), scanner_(source, kNoKeys) {}

  std::vector<RankTrace> read() {
    for (;;) {
      const JsonScanner::Part part = scanner_.next();
      if (part == JsonScanner::Part::end) break;
      if (part == JsonScanner::Part::event && !take(scanner_.text())) scanner_.reject();
    }
    scanner_.report(notes_);
    const Place where{.file = source_.name()};
    if (source_.cut_off()) {
      notes_.add(NoteCode::truncated_gzip, "the gzip data stops too early", where);
    }
    if (without_time_ > 0) {
      notes_.add(NoteCode::event_without_time, "an operation without a usable time", where,
                 without_time_);
    }
    std::vector<RankTrace> out;
    bool any_device = false;
    for (auto& [device, process] : devices()) {
      any_device = true;
      if (std::optional<RankTrace> trace = finish(device, *process)) {
        out.push_back(std::move(*trace));
      }
    }
    if (out.empty()) {
      throw Error(ErrorKind::insufficient,
                  any_device ? "the JAX trace shows no operation on a device"
                             : "the JAX trace shows the host alone, no device",
                  where,
                  "capture on the accelerator, with jax.block_until_ready() before the trace ends");
    }
    if (out.size() == 1) {
      out.front().rank = rank_from_name(source_.name());
      out.front().rank_from_name = out.front().rank.has_value();
    }
    return out;
  }

 private:
  static inline const std::vector<std::string_view> kNoKeys;

  bool take(std::string_view text) {
    JsonFields fields(text);
    JsonField field;
    std::string_view phase;
    std::string_view name;
    std::string_view label;     // args.name of metadata
    std::string_view category;  // args.hlo_category
    std::optional<std::int64_t> pid;
    std::optional<std::int64_t> tid;
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> length;
    while (fields.next(field)) {
      if (field.key == "ph") phase = field.value;
      if (field.key == "name") name = field.value;
      if (field.key == "pid") pid = integer_of(field.value);
      if (field.key == "tid") tid = integer_of(field.value);
      if (field.key == "ts") start = nanoseconds_of(field.value);
      if (field.key == "dur") length = nanoseconds_of(field.value);
      if (field.key == "args" && !field.text && field.value.front() == '{') {
        JsonFields inner = fields.enter();
        JsonField argument;
        while (inner.next(argument)) {
          if (argument.key == "name") label = argument.value;
          if (argument.key == "hlo_category") category = argument.value;
        }
        if (inner.broken()) return false;
        fields.leave(inner);
      }
    }
    if (fields.broken()) return false;
    if (!pid) return true;
    if (phase == "M") {
      if (name == "process_name") take_process(*pid, label);
      if (name == "thread_name" && tid) processes_[*pid].threads[*tid].lane = xla_lane_of(label);
      return true;
    }
    if (phase != "X") return true;
    XlaProcess& process = processes_[*pid];
    if (!process.name.empty() && !process.is_device()) return true;
    XlaThread& thread = process.threads[tid.value_or(0)];
    if (thread.lane == XlaLane::other) return true;
    if (!start || !length || *length < 0 || __builtin_add_overflow(*start, *length, &end_)) {
      ++without_time_;
      return true;
    }
    XlaEvent event;
    event.start_ns = *start;
    event.end_ns = end_;
    event.step = number_at_end(name).value_or(-1);
    const bool stream = thread.lane == XlaLane::stream;
    event.activity = stream ? kernels_.classify(name) : classify_hlo(name, category);
    event.holds_others = !stream && any_operation(name, kHloHolders);
    event.begins_only = !stream && contains(name, "-start");
    if (event.activity == Activity::communication) {
      event.kind = number_of_kind(kind_of(name, category));
    }
    thread.events.push_back(event);
    return true;
  }

  void take_process(std::int64_t pid, std::string_view label) {
    XlaProcess& process = processes_[pid];
    process.name = label;
    if (!process.is_device()) process.threads.clear();
  }

  static std::string_view kind_of(std::string_view name, std::string_view category) {
    if (contains(name, "collective-permute")) return "sendrecv";
    // collective_kind() folds underscores; HLO has dashes.
    for (const std::string_view text : {name, category}) {
      std::string plain;
      for (const char c : text) {
        if (c != '-') plain += c;
      }
      const std::string_view kind = collective_kind(plain);
      if (kind != "unknown") return kind;
    }
    return "unknown";
  }

  std::uint32_t number_of_kind(std::string_view kind) {
    const auto at = std::find(kinds_.begin(), kinds_.end(), kind);
    if (at != kinds_.end()) return static_cast<std::uint32_t>(at - kinds_.begin());
    kinds_.emplace_back(kind);
    return static_cast<std::uint32_t>(kinds_.size() - 1);
  }

  // By kind and number: TPU:2 before TPU:10.
  std::map<std::pair<std::string, std::int64_t>, XlaProcess*> devices() {
    std::map<std::pair<std::string, std::int64_t>, XlaProcess*> out;
    for (auto& [pid, process] : processes_) {
      if (!process.is_device()) continue;
      // "/device:TPU:0 (pid 3)" is how some viewers write it.
      const std::string_view name =
          std::string_view(process.name).substr(0, process.name.find(' '));
      const std::size_t colon = name.rfind(':');
      const std::optional<std::int64_t> number = integer_of_text(name.substr(colon + 1));
      // "/device:CUSTOM:..." is a plane of counters.
      if (!number || contains(name, "CUSTOM")) continue;
      out.emplace(std::pair(std::string(name.substr(0, colon)), *number), &process);
    }
    return out;
  }

  // The operations, in order of start; what only holds others is left out.
  static std::vector<XlaEvent> activity_of(const XlaProcess& process) {
    const bool streams =
        std::any_of(process.threads.begin(), process.threads.end(), [](const auto& entry) {
          return entry.second.lane == XlaLane::stream && !entry.second.events.empty();
        });
    std::vector<XlaEvent> all;
    for (const auto& [tid, thread] : process.threads) {
      if (thread.lane != (streams ? XlaLane::stream : XlaLane::ops)) continue;
      std::vector<XlaEvent> events = thread.events;
      sort_by_start(events);
      for (std::size_t i = 0; i < events.size(); ++i) {
        const bool filled = i + 1 < events.size() && events[i + 1].start_ns < events[i].end_ns;
        if (!events[i].holds_others || !filled) all.push_back(events[i]);
      }
    }
    sort_by_start(all);
    return all;
  }

  static void sort_by_start(std::vector<XlaEvent>& events) {
    std::sort(events.begin(), events.end(), [](const XlaEvent& a, const XlaEvent& b) {
      return std::tuple(a.start_ns, -a.end_ns, a.activity, a.kind) <
             std::tuple(b.start_ns, -b.end_ns, b.activity, b.kind);
    });
  }

  static std::vector<StepSplit> steps_of(const XlaProcess& process) {
    std::vector<XlaEvent> marks;
    for (const auto& [tid, thread] : process.threads) {
      if (thread.lane != XlaLane::steps) continue;
      marks.insert(marks.end(), thread.events.begin(), thread.events.end());
    }
    sort_by_start(marks);
    std::vector<StepSplit> steps;
    bool numbered = true;
    for (const XlaEvent& mark : marks) {
      StepSplit step;
      step.id = mark.step;
      step.begin_ns = steps.empty() ? mark.start_ns : steps.back().end_ns;
      step.end_ns = mark.end_ns;
      if (step.end_ns <= step.begin_ns) continue;
      numbered = numbered && step.id >= 0 && (steps.empty() || step.id > steps.back().id);
      steps.push_back(step);
    }
    for (std::size_t i = 0; !numbered && i < steps.size(); ++i) {
      steps[i].id = static_cast<std::int64_t>(i);
    }
    return steps;
  }

  std::optional<RankTrace> finish(const std::pair<std::string, std::int64_t>& device,
                                  const XlaProcess& process) {
    const std::vector<XlaEvent> activity = activity_of(process);
    if (activity.empty()) {
      notes_.add(NoteCode::trace_without_activity,
                 "a device without an operation (" + printable(process.name, 80) + ") was left out",
                 Place{.file = source_.name()});
      return std::nullopt;
    }
    RankTrace out;
    out.file = source_.name();
    out.format = "xla";
    out.has_gpu = true;
    if (device.second <= 1'000'000) out.device = static_cast<int>(device.second);
    out.activities = static_cast<std::int64_t>(activity.size());
    out.cut_off = source_.cut_off() || scanner_.count(JsonOddity::truncated) > 0;
    out.gpu_span.begin_ns = activity.front().start_ns;
    for (const XlaEvent& event : activity) {
      out.gpu_span.end_ns = std::max(out.gpu_span.end_ns, event.end_ns);
    }
    out.steps = steps_of(process);
    out.step_source = StepSource::gpu_annotation;
    if (out.steps.empty()) {
      out.step_source = StepSource::captured_span;
      out.steps = {out.gpu_span};
    }
    std::vector<StepSplit> span{out.gpu_span};
    SplitSweep sweep({&span, &out.steps});
    for (const XlaEvent& event : activity) {
      sweep.add(event.start_ns, event.end_ns, event.activity);
    }
    sweep.finish();
    out.gpu_span = span.front();
    take_collectives(activity, out);
    return out;
  }

  void take_collectives(const std::vector<XlaEvent>& activity, RankTrace& out) const {
    out.kinds = kinds_;
    for (const XlaEvent& event : activity) {
      if (event.activity != Activity::communication || event.begins_only) continue;
      CollectiveSpan span;
      span.start_ns = event.start_ns;
      span.end_ns = event.end_ns;
      span.kind = event.kind;
      span.step = window_at(out.steps, event.start_ns);
      out.collectives.push_back(span);
    }
    // Which devices took part is not in the trace.
    if (!out.collectives.empty()) out.groups.emplace_back();
  }

  ByteSource& source_;
  Notes& notes_;
  JsonScanner scanner_;
  KernelClassifier kernels_;
  std::map<std::int64_t, XlaProcess> processes_;
  std::vector<std::string> kinds_;
  std::int64_t end_ = 0;
  std::int64_t without_time_ = 0;
};

}  // namespace

Activity classify_hlo(std::string_view name, std::string_view category) {
  for (const std::string_view text : {name, category}) {
    if (any_operation(text, kHloCollectives)) return Activity::communication;
    if (any_operation(text, kHloCopies)) return Activity::memory;
  }
  return Activity::compute;
}

bool sniff_xla(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  if (!contains(head, "\"traceEvents\"") || !contains(head, "\"process_name\"")) return false;
  return contains(head, "\"/device:TPU:") || contains(head, "\"/device:GPU:") ||
         contains(head, "\"/host:CPU\"");
}

std::vector<RankTrace> read_xla(ByteSource& source, Notes& notes) {
  return XlaReader(source, notes).read();
}

}  // namespace mfu::traces
