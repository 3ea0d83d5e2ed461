#include "traces/nsight/capture.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/note_code.hpp"
#include "traces/classify.hpp"
#include "traces/nsight/names.hpp"
#include "traces/nsight/target.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

constexpr std::size_t kMostProcesses = 256;
// A time beyond these is invalid: sums of two of them must fit.
constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;
constexpr std::int64_t kLongest = 10'000'000'000'000'000;  // 115 days

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kSets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr std::int64_t kPeerCopy = 10;
constexpr std::int64_t kDeviceCopy = 8;
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;

std::int64_t process_of_thread(std::int64_t thread) noexcept {
  return thread & ~std::int64_t{0xffffff};
}

std::int32_t small(std::int64_t value) noexcept {
  const bool fits = value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(value) : -1;
}

struct KernelName {
  Activity activity = Activity::compute;
  std::uint32_t kind = 0;
  bool found = false;
};

struct RangeName {
  std::optional<StepName> step;
  std::optional<std::int64_t> rank;
  bool collective = false;
  std::uint32_t kind = 0;
};

class Scan {
 public:
  Scan(SqliteFile& file, Notes& notes)
      : file_(file), notes_(notes), names_(file), faults_(file.name()) {}

  NsightCapture read() {
    bool any_table = false;
    for (const char* table : {kKernels, kCopies, kSets, kGraphs}) {
      if (!file_.has_table(table)) continue;
      any_table = true;
      scan_activities(table);
    }
    if (out_.processes.empty()) refuse_empty(any_table);
    if (file_.has_table(kRanges)) scan_ranges();
    scan_thread_names();
    if (file_.has_table(kRuntime)) scan_launches();
    if (several_processes_) {
      // Their correlations would be taken for each other's.
      NsightProcess& process = out_.processes.begin()->second;
      process.launches.clear();
      process.calls.clear();
      process.steps = {};
      fault(NoteCode::process_unknown, "GPU activities do not say which process they are of");
    }
    read_target(file_, faults_, out_);
    faults_.report(notes_);
    return std::move(out_);
  }

 private:
  void fault(NoteCode code, const char* text) { faults_.add(code, text); }

  [[noreturn]] void refuse_empty(bool any_table) {
    const bool export_of_nsys = any_table || file_.has_table("EXPORT_META_DATA") ||
                                file_.has_table("META_DATA_EXPORT") ||
                                file_.has_table("TARGET_INFO_SESSION_START_TIME");
    if (!export_of_nsys) {
      throw Error(ErrorKind::format, "an SQLite database, but not a Nsight Systems export",
                  faults_.place({}), "nsys export --type sqlite REPORT.nsys-rep");
    }
    faults_.report(notes_);
    throw Error(ErrorKind::insufficient, "the export holds no GPU activity", faults_.place({}),
                "record with nsys profile --trace=cuda,nvtx");
  }

  std::uint32_t kind_index(std::string_view kind) {
    const auto at = std::find(out_.kinds.begin(), out_.kinds.end(), kind);
    if (at != out_.kinds.end()) return static_cast<std::uint32_t>(at - out_.kinds.begin());
    out_.kinds.emplace_back(kind);
    return static_cast<std::uint32_t>(out_.kinds.size() - 1);
  }

  KernelName kernel_named(std::string_view name) {
    KernelName out;
    out.found = true;
    out.activity = classify_kernel(name);
    if (out.activity == Activity::communication) out.kind = kind_index(collective_kind(name));
    return out;
  }

  // `column` holds an id, or the text itself.
  KernelName kernel_name(const SqliteFile::Rows& rows, int column) {
    if (rows.is_text(column)) return kernel_named(rows.text(column));
    if (!rows.is_integer(column)) return {};
    const std::int64_t id = rows.integer(column);
    return kernels_.get(id, [&] {
      const auto text = names_.find(id);
      return text ? kernel_named(*text) : KernelName{};
    });
  }

  NsightProcess* process(std::int64_t id) {
    const auto at = out_.processes.find(id);
    if (at != out_.processes.end()) return &at->second;
    if (out_.processes.size() == kMostProcesses) {
      fault(NoteCode::too_many_processes, "activity of more processes than a node runs");
      return nullptr;
    }
    return &out_.processes[id];
  }

  // Of a thread of the host; null where that process did nothing on a GPU.
  NsightProcess* process_of(const SqliteFile::Rows& rows, int column) {
    if (!rows.is_integer(column)) {
      // The oldest exports name no process: then there is one.
      return out_.processes.size() == 1 ? &out_.processes.begin()->second : nullptr;
    }
    const std::int64_t id = process_of_thread(rows.integer(column));
    const auto at = out_.processes.find(id);
    if (at != out_.processes.end()) return &at->second;
    if (out_.processes.size() != 1 || out_.processes.begin()->first != 0) return nullptr;
    if (!only_process_) only_process_ = id;
    if (*only_process_ != id) several_processes_ = true;
    return &out_.processes.begin()->second;
  }

  std::optional<std::uint8_t> device_index(NsightProcess& process, std::int64_t id) {
    std::size_t at = 0;
    while (at < process.devices.size() && process.devices[at].id != id) ++at;
    if (at == process.devices.size()) {
      if (at == kMostDevices) {
        fault(NoteCode::too_many_devices, "activity on more devices than one node has");
        return std::nullopt;
      }
      process.devices.push_back({id, 0, 0});
    }
    return static_cast<std::uint8_t>(at);
  }

  // Columns 0 and 1. False: they cannot be used.
  bool usable_times(const SqliteFile::Rows& rows, std::int64_t& begin, std::int64_t& end) {
    if (!rows.is_integer(0) || !rows.is_integer(1)) {
      fault(NoteCode::wrong_column_type, "a row without a start and an end was left out");
      return false;
    }
    begin = rows.integer(0);
    end = rows.integer(1);
    if (begin < -kLatest || begin > kLatest || end < -kLatest || end > kLatest) {
      fault(NoteCode::overflowing_duration, "a row with an invalid time was left out");
      return false;
    }
    if (end < begin) {
      fault(NoteCode::negative_duration, "an activity that ends before it starts");
      return false;
    }
    if (end - begin > kLongest) {
      fault(NoteCode::overflowing_duration, "an activity longer than a trace can be");
      return false;
    }
    return true;
  }

  void scan_activities(const char* table) {
    faults_.set_table(table);
    for (const char* column : {"start", "end", "deviceId"}) {
      if (!file_.has_column(table, column)) {
        throw Error(ErrorKind::format, std::string("the table has no column ") + column,
                    faults_.place(table), "export it with a current nsys");
      }
    }
    const bool kernels = table == kKernels;
    const bool graphs = table == kGraphs;
    SqliteFile::Rows rows = file_.select(
        table, {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                kernels ? "demangledName" : "copyKind", kernels ? "shortName" : "srcDeviceId",
                kernels ? "mangledName" : "dstDeviceId"});
    while (rows.next()) {
      GpuActivity activity;
      std::int64_t end = 0;
      NsightProcess* const owner = process(rows.is_integer(5) ? rows.integer(5) : 0);
      bool usable = usable_times(rows, activity.start_ns, end);
      if (usable && !rows.is_integer(2)) {
        fault(NoteCode::wrong_column_type, "a row without a device was left out");
        usable = false;
      }
      if (owner == nullptr) continue;
      if (!usable) {
        ++owner->lost;
        continue;
      }
      activity.length_ns = end - activity.start_ns;
      const auto device = device_index(*owner, rows.integer(2));
      if (!device) continue;
      activity.device = *device;
      if (rows.is_integer(4)) activity.correlation = static_cast<std::uint64_t>(rows.integer(4));
      ++owner->devices[*device].activities;
      if (kernels || graphs) ++owner->devices[*device].kernels;
      if (kernels) {
        take_kernel(rows, activity, *owner);
      } else if (graphs) {
        fault(NoteCode::whole_graphs,
              "a CUDA graph was recorded as a whole: all its time counts as compute, including "
              "copies and communication (nsys profile --cuda-graph-trace=node separates them)");
      } else {
        activity.activity = copy_class(rows);
      }
      owner->activities.add(activity);
    }
  }

  void take_kernel(const SqliteFile::Rows& rows, GpuActivity& activity, NsightProcess& owner) {
    KernelName name;
    for (int column = 6; column <= 8 && !name.found; ++column) name = kernel_name(rows, column);
    if (!name.found) {
      fault(NoteCode::kernel_without_name,
            "a kernel whose name is not in the export counts as compute");
    }
    activity.activity = name.activity;
    if (name.activity != Activity::communication) return;
    NsightProcess::Collective collective;
    collective.span.start_ns = activity.start_ns;
    collective.span.end_ns = activity.end_ns();
    collective.span.stream = rows.is_integer(3) ? small(rows.integer(3)) : -1;
    collective.span.kind = name.kind;
    collective.correlation = activity.correlation;
    collective.device = activity.device;
    owner.collectives.push_back(collective);
  }

  // Of a set, too: it has no kind.
  static Activity copy_class(const SqliteFile::Rows& rows) {
    if (!rows.is_integer(6)) return Activity::memory;
    const std::int64_t kind = rows.integer(6);
    const bool across =
        rows.is_integer(7) && rows.is_integer(8) && rows.integer(7) != rows.integer(8);
    return kind == kPeerCopy || (kind == kDeviceCopy && across) ? Activity::communication
                                                                : Activity::memory;
  }

  RangeName range_named(std::string_view text) {
    RangeName out;
    out.step = parse_step_name(text);
    out.rank = rank_of_label(text);
    if (text.starts_with("nccl")) {
      out.collective = true;
      // "nccl:all_reduce", "ncclAllReduce": the kind is in the name behind the library's.
      out.kind = kind_index(collective_kind(text.substr(4)));
    }
    return out;
  }

  void set_rank(NsightProcess& owner, std::int64_t rank) {
    if (owner.rank && *owner.rank != rank) owner.ranks_differ = true;
    owner.rank = rank;
  }

  void scan_ranges() {
    faults_.set_table(kRanges);
    SqliteFile::Rows rows = file_.select(kRanges, {"start", "end", "eventType", "text", "textId",
                                                   "globalTid", "jsonText", "jsonTextId"});
    while (rows.next()) {
      if (!rows.is_integer(2)) {
        faults_.add(NoteCode::wrong_column_type, Severity::info,
                    "an NVTX event without a type was left out");
        continue;
      }
      RangeName own;
      const RangeName* name = &own;
      if (rows.is_text(3)) {
        own = range_named(rows.text(3));
      } else if (rows.is_integer(4)) {
        const std::int64_t id = rows.integer(4);
        name = &ranges_.get(id, [&] {
          const auto text = names_.find(id);
          return text ? range_named(*text) : RangeName{};
        });
      }
      if (!name->step && !name->rank && !name->collective) continue;
      NsightProcess* const owner = process_of(rows, 5);
      if (owner == nullptr) continue;
      const std::int64_t type = rows.integer(2);
      if (type != kPushPop && type != kStartEnd) {
        // Marks and names of threads.
        if (name->rank) set_rank(*owner, *name->rank);
        continue;
      }
      if (!name->step && !name->collective) continue;
      if (rows.is_null(1)) {
        fault(NoteCode::open_range, "an NVTX range whose end was not recorded");
        continue;
      }
      std::int64_t begin = 0;
      std::int64_t end = 0;
      if (!usable_times(rows, begin, end)) continue;
      const std::int64_t thread = rows.is_integer(5) ? rows.integer(5) : 0;
      if (name->step) owner->steps.add(*name->step, thread, begin, end);
      if (name->collective) {
        owner->calls.push_back({thread, begin, end, name->kind, message_bytes(rows)});
      }
    }
  }

  // NCCL's own ranges carry the size of the message, which newer exports write out as JSON.
  std::int64_t message_bytes(const SqliteFile::Rows& rows) {
    std::string_view text;
    if (rows.is_text(6)) {
      text = rows.text(6);
    } else if (rows.is_integer(7)) {
      text = names_.find(rows.integer(7)).value_or(std::string_view{});
    }
    constexpr std::string_view kKey = "\"Message size [bytes]\"";
    const std::size_t at = text.find(kKey);
    if (at == std::string_view::npos) return -1;
    text.remove_prefix(at + kKey.size());
    text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
    std::int64_t value = -1;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} && value >= 0 ? value : -1;
  }

  void scan_thread_names() {
    const char* const table = "ThreadNames";
    faults_.set_table(table);
    if (!file_.has_table(table)) return;
    SqliteFile::Rows rows = file_.select(table, {"nameId", "globalTid"});
    while (rows.next()) {
      std::optional<std::int64_t> rank;
      if (rows.is_text(0)) {
        rank = rank_of_label(rows.text(0));
      } else if (rows.is_integer(0)) {
        const auto text = names_.find(rows.integer(0));
        if (text) rank = rank_of_label(*text);
      }
      if (!rank) continue;
      NsightProcess* const owner = process_of(rows, 1);
      if (owner != nullptr) set_rank(*owner, *rank);
    }
  }

  // Whether a call of this name may start something on the GPU. Most calls do not.
  static bool launches(std::string_view name) {
    std::string text;
    for (const char c : name.substr(0, 256)) {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    for (const std::string_view word : {"launch", "memcpy", "memset", "graph", "prefetch"}) {
      if (text.find(word) != std::string::npos) return true;
    }
    return false;
  }

  struct Waiting {
    std::uint64_t correlation = 0;
    std::size_t index = 0;  // into the process's collectives
  };

  // Launches are needed to tell steps apart on the GPU, and to tell which call a collective is of.
  void scan_launches() {
    faults_.set_table(kRuntime);
    std::unordered_map<const NsightProcess*, std::vector<Waiting>> waiting;
    bool needed = false;
    for (auto& [id, owner] : out_.processes) {
      needed = needed || !owner.steps.empty();
      if (owner.calls.empty() || owner.collectives.empty()) continue;
      needed = true;
      std::vector<Waiting>& list = waiting[&owner];
      for (std::size_t i = 0; i < owner.collectives.size(); ++i) {
        list.push_back({owner.collectives[i].correlation, i});
      }
      std::sort(list.begin(), list.end(), [](const Waiting& a, const Waiting& b) {
        return std::pair{a.correlation, a.index} < std::pair{b.correlation, b.index};
      });
    }
    if (!needed) return;
    SqliteFile::Rows rows =
        file_.select(kRuntime, {"start", "correlationId", "globalTid", "nameId"});
    while (rows.next()) {
      if (rows.is_integer(3)) {
        const std::int64_t id = rows.integer(3);
        const bool may = launchers_.get(id, [&] {
          const auto text = names_.find(id);
          return !text || launches(*text);
        });
        if (!may) continue;
      }
      if (!rows.is_integer(0) || !rows.is_integer(1)) {
        if (!rows.is_null(1)) {
          fault(NoteCode::wrong_column_type, "a call without a start was left out");
        }
        continue;
      }
      NsightProcess* const owner = process_of(rows, 2);
      if (owner == nullptr) continue;
      const std::int64_t start = rows.integer(0);
      const auto correlation = static_cast<std::uint64_t>(rows.integer(1));
      if (start < -kLatest || start > kLatest) {
        fault(NoteCode::overflowing_duration, "a row with an invalid time was left out");
        continue;
      }
      if (!owner->steps.empty()) owner->launches.add({correlation, start});
      const auto list = waiting.find(owner);
      if (list == waiting.end()) continue;
      auto at = std::lower_bound(
          list->second.begin(), list->second.end(), correlation,
          [](const Waiting& entry, std::uint64_t wanted) { return entry.correlation < wanted; });
      for (; at != list->second.end() && at->correlation == correlation; ++at) {
        NsightProcess::Collective& collective = owner->collectives[at->index];
        const std::int64_t thread = rows.is_integer(2) ? rows.integer(2) : 0;
        // A correlation that comes twice: the earlier call is the launch.
        if (collective.launch_thread != 0 && collective.launch_ns <= start) continue;
        collective.launch_ns = start;
        collective.launch_thread = thread;
      }
    }
  }

  SqliteFile& file_;
  Notes& notes_;
  NsightNames names_;
  NsightCapture out_;
  RowFaults faults_;
  KnownIds<KernelName> kernels_;
  KnownIds<RangeName> ranges_;
  KnownIds<bool> launchers_;
  std::optional<std::int64_t> only_process_;
  bool several_processes_ = false;
};

}  // namespace

NsightCapture read_capture(SqliteFile& file, Notes& notes) { return Scan(file, notes).read(); }

std::optional<std::int64_t> rank_of_label(std::string_view text) {
  if (text.starts_with("MPI ")) text.remove_prefix(4);
  if (!text.starts_with("Rank") && !text.starts_with("rank")) return std::nullopt;
  text.remove_prefix(4);
  if (!text.empty() && std::string_view(" _:=").find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto value = integer_of_text(text);
  return value && *value <= 10'000'000 ? value : std::nullopt;
}

}  // namespace mfu::traces
