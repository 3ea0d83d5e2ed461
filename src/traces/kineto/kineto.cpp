#include "traces/kineto/kineto.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_scanner.hpp"
#include "base/note_code.hpp"
#include "mfu/timings.hpp"
#include "traces/classify.hpp"
#include "traces/gpu_span.hpp"
#include "traces/kineto/collectives.hpp"
#include "traces/kineto/event.hpp"
#include "traces/kineto/halves.hpp"
#include "traces/kineto/meta.hpp"
#include "traces/kineto/steps.hpp"
#include "traces/sorted_log.hpp"
#include "traces/split.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

// 2010 to 2060: a clock that shows this is the time of day.
constexpr bool time_of_day(std::int64_t ns) noexcept {
  return ns > 1'262'304'000'000'000'000 && ns < 2'840'140'800'000'000'000;
}

// Counts by code without building a text for each of a million.
class Faults {
 public:
  void add(NoteCode code, const char* text, std::int64_t offset, std::int64_t count) {
    for (Fault& fault : faults_) {
      if (fault.code == code) {
        fault.count += count;
        return;
      }
    }
    faults_.push_back({code, text, offset, count});
  }
  void report(const std::string& file, Notes& notes) const {
    for (const Fault& fault : faults_) {
      Place place;
      place.file = file;
      place.byte_offset = fault.offset;
      notes.add(fault.code, fault.text, std::move(place), fault.count);
    }
  }

 private:
  struct Fault {
    NoteCode code;
    const char* text;
    std::int64_t offset;
    std::int64_t count;
  };
  std::vector<Fault> faults_;
};

struct DeviceSeen {
  std::int64_t id = 0;
  std::int64_t kernels = 0;
};

class KinetoReader {
 public:
  KinetoReader(ByteSource& source, Notes& notes, std::size_t window)
      : source_(source), notes_(notes), scanner_(source, TraceMetadata::keys(), limits(window)) {}

  RankTrace read() {
    for (;;) {
      const JsonScanner::Part part = scanner_.next();
      if (part == JsonScanner::Part::end) break;
      if (part == JsonScanner::Part::field) {
        metadata_.take(scanner_.key(), scanner_.text(), place(scanner_.offset()), notes_);
        continue;
      }
      ++events_;
      KinetoEvent event;
      if (!parse_event(scanner_.text(), event)) {
        scanner_.reject();
      } else if (event.begin_end) {
        take_half(event);
      } else if (event.kind != EventKind::other) {
        take(event);
      }
    }
    if (halves_.open() > 0) fault(NoteCode::begin_end_event, kHalf, halves_.open());
    scanner_.report(notes_);
    faults_.report(source_.name(), notes_);
    if (source_.cut_off()) {
      notes_.add(NoteCode::truncated_gzip, "the gzip data stops too early",
                 place(static_cast<std::int64_t>(source_.raw_bytes())));
    }
    return finish();
  }

 private:
  static JsonScanner::Limits limits(std::size_t window) {
    JsonScanner::Limits out;
    out.window = window;
    return out;
  }

  Place place(std::int64_t offset) const {
    Place where;
    where.file = source_.name();
    where.byte_offset = offset;
    return where;
  }

  void fault(NoteCode code, const char* text, std::int64_t count = 1) {
    faults_.add(code, text, scanner_.offset(), count);
  }

  // False: the event's times cannot be used.
  bool usable(const KinetoEvent& event) {
    if (event.odd_tokens > 0) {
      fault(NoteCode::odd_token, "a bare word like NaN or N/A where a number belongs",
            event.odd_tokens);
    }
    switch (event.fault) {
      case TimeFault::absent:
        fault(NoteCode::event_without_time, "an activity without a usable time");
        return false;
      case TimeFault::negative:
        fault(NoteCode::negative_duration, "an activity that ends before it starts");
        return false;
      case TimeFault::overflow:
        fault(NoteCode::overflowing_duration, "an activity longer than a trace can be");
        return false;
      case TimeFault::none:
        break;
    }
    if (event.time_as_text) {
      fault(NoteCode::time_as_text, "a time in quotes was read as a number");
    }
    return true;
  }

  void take_half(const KinetoEvent& event) {
    KinetoEvent whole;
    switch (halves_.take(event, scanner_.text(), whole)) {
      case EventHalves::Taken::whole:
        take(whole);
        break;
      case EventHalves::Taken::alone:
        fault(NoteCode::begin_end_event, kHalf);
        break;
      case EventHalves::Taken::kept:
        break;
    }
  }

  void take(const KinetoEvent& event) {
    if (event.kind == EventKind::collective_call) {
      collectives_.add_call(event);
      return;
    }
    const bool activity = event.kind == EventKind::kernel || event.kind == EventKind::copy;
    if (activity) ++seen_;
    if (!usable(event)) {
      if (activity) ++lost_;
      if (event.kind == EventKind::step) host_steps_.add_without_length(event);
      return;
    }
    if (!any_time_) any_time_ = event.start_ns;
    switch (event.kind) {
      case EventKind::kernel:
      case EventKind::copy:
        take_activity(event);
        break;
      case EventKind::launch:
        if (event.correlation) launches_.add({*event.correlation, event.start_ns});
        break;
      case EventKind::step:
        host_steps_.add(event);
        break;
      case EventKind::host_collective:
        collectives_.add_host(event);
        host_ranges_.add(
            {event.start_ns, event.length_ns, kNoCorrelation, 0, Activity::communication});
        break;
      default:
        break;
    }
  }

  void take_activity(const KinetoEvent& event) {
    const std::int64_t id = event.device.value_or(0);
    std::size_t device = 0;
    while (device < devices_.size() && devices_[device].id != id) ++device;
    if (device == devices_.size()) {
      if (device == kMostDevices) {
        fault(NoteCode::too_many_devices, "activity on more devices than one node has");
        ++lost_;
        return;
      }
      devices_.push_back({id, 0});
    }
    GpuActivity activity;
    activity.start_ns = event.start_ns;
    activity.length_ns = event.length_ns;
    activity.device = static_cast<std::uint8_t>(device);
    if (event.correlation) activity.correlation = *event.correlation;
    if (event.kind == EventKind::kernel) {
      ++devices_[device].kernels;
      activity.activity = classifier_.classify(event.name);
      if (activity.activity == Activity::communication) {
        collectives_.add_kernel(event, activity.device);
      }
    } else {
      activity.activity = classify_copy(event.name);
    }
    activities_.add(activity);
  }

  void choose_device(RankTrace& out) {
    keep_.assign(devices_.size(), true);
    std::size_t best = 0;
    std::size_t with_kernels = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].kernels > 0) ++with_kernels;
      if (devices_[i].kernels > devices_[best].kernels ||
          (devices_[i].kernels == devices_[best].kernels && devices_[i].id < devices_[best].id)) {
        best = i;
      }
    }
    if (devices_.empty()) return;
    if (devices_[best].id >= 0 && devices_[best].id <= kMostGpus) {
      out.device = static_cast<int>(devices_[best].id);
    }
    if (with_kernels < 2) return;
    // One process drives several GPUs (the old DataParallel): they share no single timeline.
    std::int64_t left = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      keep_[i] = i == best || devices_[i].kernels == 0;
      if (!keep_[i]) ++left;
    }
    notes_.add(NoteCode::several_devices,
               "one process with kernels on " + std::to_string(with_kernels) +
                   " devices; only device " + std::to_string(devices_[best].id) + " is used",
               place(-1), left);
  }

  RankTrace finish() {
    RankTrace out;
    out.file = source_.name();
    out.format = "kineto";
    take_metadata(out);
    choose_device(out);
    out.has_gpu = !activities_.empty();
    out.activities = seen_;
    out.lost_activities = lost_;
    out.cut_off = source_.cut_off() || scanner_.count(JsonOddity::truncated) > 0;
    std::vector<StepSplit> host = host_steps_.windows(source_.name(), notes_);
    const std::int64_t broken = scanner_.count(JsonOddity::malformed_event);
    if (events_ == 0 && broken > 0) {
      throw Error(ErrorKind::format,
                  "none of the trace's events can be read: " + std::to_string(broken) +
                      " are broken or longer than an event can be",
                  place(-1), "was the file cut, or written by two processes?");
    }
    if (events_ == 0 || (!out.has_gpu && host.empty())) {
      throw Error(ErrorKind::insufficient,
                  events_ == 0 ? "the trace holds no events"
                               : "no GPU activity and no ProfilerStep in the trace",
                  place(-1),
                  "profile with ProfilerActivity.CUDA and call prof.step() once per step");
    }
    if (!out.has_gpu) {
      finish_host(out, std::move(host));
    } else {
      finish_gpu(out, std::move(host));
    }
    settle_clock(out);
    return out;
  }

  void take_metadata(RankTrace& out) {
    out.rank = metadata_.rank;
    const std::optional<std::int64_t> named = rank_from_name(source_.name());
    if (out.rank && named && *named != *out.rank) {
      notes_.add(NoteCode::rank_contradicts_name,
                 "the trace states rank " + std::to_string(*out.rank) + " and its name rank " +
                     std::to_string(*named) + ": the trace's own is used",
                 place(-1));
    }
    if (!out.rank) {
      out.rank = named;
      out.rank_from_name = out.rank.has_value();
    }
    out.world_size = metadata_.world_size;
    out.node = metadata_.node;
  }

  // The GPU is not seen: all that is known of a window is its length and the host's collectives.
  void finish_host(RankTrace& out, std::vector<StepSplit> host) {
    notes_.add(NoteCode::no_gpu_activity, Severity::info,
               "the trace holds no GPU activity: what the steps did is not known", place(-1));
    out.step_source = StepSource::host_annotation;
    out.host_steps = host;
    out.steps = std::move(host);
    SplitSweep sweep({&out.steps, &out.host_steps});
    host_ranges_.each([&](const GpuActivity& range) {
      sweep.add(range.start_ns, range.end_ns(), range.activity);
    });
    sweep.finish();
    collectives_.finish(
        false, [](std::uint8_t) { return true; },
        [&](std::uint64_t, std::int64_t start) { return window_at(out.steps, start); }, out);
  }

  // A step ends on the GPU with its last kernel; what its host still does is in the next one. After
  // the last step nothing follows, and in a trace of one step that can be nearly all.
  void note_host_tail(const RankTrace& out) {
    if (out.step_source != StepSource::gpu_annotation || out.host_steps.empty()) return;
    const std::int64_t tail = out.host_steps.back().end_ns - out.steps.back().end_ns;
    const std::int64_t all = out.steps.back().end_ns - out.steps.front().begin_ns;
    const auto mean = all / static_cast<std::int64_t>(out.steps.size());
    if (out.host_steps.back().id != out.steps.back().id || 2 * tail <= mean) return;
    notes_.add(NoteCode::host_after_last_kernel,
               "the last step continues on the host for " + std::to_string(tail / 1'000'000) +
                   " ms after its last GPU activity, against " + std::to_string(mean / 1'000'000) +
                   " ms per step on the GPU: that time is in no step",
               place(-1));
  }

  void finish_gpu(RankTrace& out, std::vector<StepSplit> host) {
    out.device_name = metadata_.device_name(out.device);
    StepLinks links(host, launches_);
    GpuSpan reached;
    activities_.each([&](const GpuActivity& activity) {
      if (!keep_[activity.device]) return;
      reached.see(activity);
      links.see(activity);
    });
    reached.settle(out, notes_);
    std::vector<StepSplit> span{out.gpu_span};
    out.host_steps = std::move(host);
    if (out.host_steps.empty()) {
      out.step_source = StepSource::captured_span;
      out.steps = span;
    } else if (links.enough()) {
      out.step_source = StepSource::gpu_annotation;
      out.steps = links.gpu_windows(source_.name(), notes_);
    }
    if (out.steps.empty()) {
      out.step_source = StepSource::host_annotation;
      out.steps = out.host_steps;
      notes_.add(NoteCode::launches_unlinked,
                 "most GPU activities have no launch in the trace: steps are the host's windows",
                 place(-1));
    }
    note_host_tail(out);
    SplitSweep sweep({&span, &out.steps, &out.host_steps});
    activities_.each([&](const GpuActivity& activity) {
      if (keep_[activity.device]) {
        sweep.add(activity.start_ns, activity.end_ns(), activity.activity);
      }
    });
    sweep.finish();
    out.gpu_span = span.front();
    collectives_.finish(
        true, [&](std::uint8_t device) { return keep_[device]; },
        [&](std::uint64_t correlation, std::int64_t start) {
          if (out.step_source == StepSource::gpu_annotation) {
            const std::uint32_t step = links.gpu_step(correlation);
            if (step != kNoStep) return step;
          }
          return window_at(out.steps, start);
        },
        out);
  }

  void settle_clock(RankTrace& out) {
    const std::int64_t base = metadata_.base_ns.value_or(0);
    const std::int64_t sample = any_time_.value_or(0);
    if (base == 0 || time_of_day(sample)) {
      if (time_of_day(sample)) out.epoch_offset_ns = 0;
      if (base != 0) {
        notes_.add(NoteCode::base_time_unused,
                   "the events already hold the time of day; baseTimeNanoseconds was not added",
                   place(-1));
      }
      return;
    }
    if (base < 0 || base > std::numeric_limits<std::int64_t>::max() / 2) {
      notes_.add(NoteCode::base_time_unused,
                 "baseTimeNanoseconds is not a time in this century and was not added", place(-1));
      return;
    }
    const auto shift = [base](StepSplit& window) {
      window.begin_ns += base;
      window.end_ns += base;
    };
    std::for_each(out.steps.begin(), out.steps.end(), shift);
    std::for_each(out.host_steps.begin(), out.host_steps.end(), shift);
    if (out.has_gpu) shift(out.gpu_span);
    for (CollectiveSpan& span : out.collectives) {
      span.start_ns += base;
      span.end_ns += base;
    }
    out.epoch_offset_ns = 0;
  }

  ByteSource& source_;
  Notes& notes_;
  JsonScanner scanner_;
  TraceMetadata metadata_;
  Faults faults_;
  KernelClassifier classifier_;
  CollectiveLog collectives_;
  HostSteps host_steps_;
  SortedLog<GpuActivity> activities_;
  SortedLog<GpuActivity> host_ranges_;
  SortedLog<Launch> launches_;
  std::vector<DeviceSeen> devices_;
  std::vector<bool> keep_;  // by index into devices_
  std::optional<std::int64_t> any_time_;
  static constexpr const char* kHalf = "an activity that begins or ends alone was left out";
  EventHalves halves_;
  std::int64_t seen_ = 0;  // GPU activities
  std::int64_t lost_ = 0;  // of them
  std::int64_t events_ = 0;
};

}  // namespace

bool sniff_kineto(std::string_view head) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (head.starts_with(kMark)) head.remove_prefix(kMark.size());
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  // Lanes of a pipeline timeline: "PP rank 0, TP rank 1, compute".
  if (contains(head, "PP rank ")) return false;
  if (head[first] == '{') {
    return contains(head, "\"traceEvents\"") ||
           (contains(head, "\"schemaVersion\"") &&
            (contains(head, "\"deviceProperties\"") || contains(head, "\"distributedInfo\"")));
  }
  if (head[first] != '[' || !contains(head, "\"ph\"") || !contains(head, "\"ts\"")) return false;
  // The lanes of a timeline may be named at its end; its categories ("backward-compute") are never
  // those of a profiler.
  for (const std::string_view category :
       {"cpu_op", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime",
        "cuda_driver", "hip_runtime", "python_function", "Operator", "Kernel", "Runtime", "Memcpy",
        "Memset", "mtia_runtime", "ac2g", "fwdbwd"}) {
    std::string quoted;
    quoted.reserve(category.size() + 2);
    quoted.append("\"").append(category).append("\"");
    if (contains(head, quoted)) return true;
  }
  return false;
}

RankTrace read_kineto(ByteSource& source, Notes& notes) {
  return read_kineto(source, notes, JsonScanner::Limits{}.window);
}

RankTrace read_kineto(ByteSource& source, Notes& notes, std::size_t window) {
  return KinetoReader(source, notes, window).read();
}

}  // namespace mfu::traces
