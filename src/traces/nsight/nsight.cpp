#include "traces/nsight/nsight.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/note_code.hpp"
#include "mfu/timings.hpp"
#include "traces/gpu_span.hpp"
#include "traces/kineto/meta.hpp"
#include "traces/kineto/steps.hpp"
#include "traces/nsight/capture.hpp"
#include "traces/nsight/sqlite_file.hpp"
#include "traces/split.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

// A device with fewer kernels than one in so many of the busiest one's is only touched in passing.
constexpr std::int64_t kInPassing = 100;

// 3 of "report_3.sqlite", "train.3.nsys-rep.sqlite": what --output with %q{SLURM_PROCID} gives.
// "report3" is how nsys numbers its own files, and "step_3" or "node-3" are not ranks.
std::optional<std::int64_t> number_in_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (const std::string_view end :
       {".sqlite", ".sqlite3", ".db", ".nsys-rep", ".nsys", ".qdrep"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  for (const std::string_view end : {".nsys-rep", ".nsys", ".qdrep"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  std::size_t at = name.size();
  while (at > 0 && digit(name[at - 1])) --at;
  if (at == name.size() || name.size() - at > 5 || at < 2) return std::nullopt;
  if (std::string_view("._-").find(name[at - 1]) == std::string_view::npos) return std::nullopt;
  std::string word;
  for (std::size_t i = at - 1; i > 0; --i) {
    const char c = name[i - 1];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) break;
    word.insert(word.begin(), c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  // "2024-05-17", "v1.2"
  if (word.empty()) return std::nullopt;
  for (const std::string_view other :
       {"step", "steps", "iter",    "iteration", "epoch", "node", "host", "run",
        "try",  "v",     "version", "gpus",      "batch", "tp",   "pp",   "dp",
        "ep",   "cp",    "job",     "exp",       "seed",  "bs",   "seq"}) {
    if (word == other) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto result = std::from_chars(name.data() + at, name.data() + name.size(), value);
  return result.ec == std::errc{} ? std::optional<std::int64_t>(value) : std::nullopt;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < 4; ++i) {
    if (i > 0) out += ", ";
    out += '\'' + names[i] + '\'';
  }
  if (names.size() > 4) out += " and " + std::to_string(names.size() - 4) + " more";
  return out;
}

class NsightReader {
 public:
  NsightReader(SqliteFile& file, Notes& notes)
      : name_(file.name()), notes_(notes), capture_(read_capture(file, notes)) {}

  std::vector<RankTrace> read() {
    const bool any_kernels =
        std::any_of(capture_.processes.begin(), capture_.processes.end(),
                    [](const auto& entry) { return has_kernels(entry.second); });
    std::vector<RankTrace> out;
    for (auto& [id, process] : capture_.processes) {
      if (any_kernels && !has_kernels(process)) {
        notes_.add(NoteCode::process_without_kernels,
                   "a process that only copies on a GPU is not a rank", place());
        continue;
      }
      read_process(process, out);
    }
    if (out.empty()) {
      throw Error(ErrorKind::insufficient, "the export holds no GPU activity that can be used",
                  place(), "record with nsys profile --trace=cuda,nvtx");
    }
    settle_ranks(out);
    return out;
  }

 private:
  Place place() const {
    Place where;
    where.file = name_;
    return where;
  }

  static bool has_kernels(const NsightProcess& process) {
    return std::any_of(process.devices.begin(), process.devices.end(),
                       [](const NsightProcess::Device& device) { return device.kernels > 0; });
  }

  void read_process(NsightProcess& process, std::vector<RankTrace>& out) {
    if (process.activities.empty()) return;
    settle_calls(process);
    const NvtxSteps::Choice steps = choose_steps(process);
    const std::vector<std::size_t> devices = devices_of(process);
    for (const std::size_t device : devices) {
      std::vector<bool> keep(process.devices.size(), false);
      keep[device] = true;
      if (devices.size() == 1) {
        // Copies between devices are filed under either.
        for (std::size_t i = 0; i < keep.size(); ++i) {
          if (process.devices[i].kernels == 0) keep[i] = true;
        }
      }
      RankTrace trace;
      trace.file = name_;
      trace.format = "nsight sqlite";
      trace.node = capture_.node;
      trace.epoch_offset_ns = capture_.session_epoch_ns;
      trace.has_gpu = true;
      trace.lost_activities = process.lost;
      trace.activities = process.lost;
      for (const NsightProcess::Device& seen : process.devices) trace.activities += seen.activities;
      const std::int64_t id = process.devices[device].id;
      if (id >= 0 && id <= kMostGpus) trace.device = static_cast<int>(id);
      trace.device_name = gpu_name(id);
      if (devices.size() == 1 && !process.ranks_differ) trace.rank = process.rank;
      const bool last = device == devices.back();
      SortedLog<Launch> launches = last ? std::move(process.launches) : process.launches;
      attribute(process, keep, steps.windows, launches, trace);
      out.push_back(std::move(trace));
    }
    process = {};  // its memory is not needed for the next one
  }

  // In the order of their ids.
  std::vector<std::size_t> devices_of(const NsightProcess& process) {
    std::vector<std::size_t> out;
    std::int64_t most = 0;
    for (const NsightProcess::Device& device : process.devices) {
      most = std::max(most, device.kernels);
    }
    std::int64_t left = 0;
    for (std::size_t i = 0; i < process.devices.size(); ++i) {
      const NsightProcess::Device& device = process.devices[i];
      if (device.kernels > 0 && device.kernels >= most / kInPassing) {
        out.push_back(i);
      } else {
        left += device.kernels;
      }
    }
    std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      return process.devices[a].id < process.devices[b].id;
    });
    if (left > 0) {
      notes_.add(NoteCode::several_devices,
                 "a few kernels on a device that the process otherwise does not use", place(),
                 left);
    }
    if (out.size() > 1) {
      notes_.add(NoteCode::several_devices_in_process,
                 "one process with kernels on " + std::to_string(out.size()) +
                     " devices: each is shown separately, and which ranks they are is not known",
                 place());
    }
    if (out.empty()) out.push_back(0);  // only copies
    return out;
  }

  NvtxSteps::Choice choose_steps(const NsightProcess& process) {
    NvtxSteps::Choice steps = process.steps.choose();
    if (!steps.unusable.empty()) {
      notes_.add(NoteCode::nvtx_ranges_unusable,
                 "NVTX ranges " + listed(steps.unusable) +
                     " cannot be steps: they overlap, or their numbers do not rise",
                 place());
    }
    if (!steps.others.empty()) {
      notes_.add(
          NoteCode::several_step_ranges,
          "NVTX ranges '" + steps.family + "' were used as the steps, not " + listed(steps.others),
          place());
    }
    return steps;
  }

  void attribute(NsightProcess& process, const std::vector<bool>& keep,
                 const std::vector<StepSplit>& host, SortedLog<Launch>& launches, RankTrace& out) {
    StepLinks links(host, launches);
    GpuSpan reached;
    process.activities.each([&](const GpuActivity& activity) {
      if (!keep[activity.device]) return;
      reached.see(activity);
      links.see(activity);
    });
    reached.settle(out, notes_);
    std::vector<StepSplit> span{out.gpu_span};
    out.host_steps = host;
    bool linked = false;
    if (host.empty()) {
      out.step_source = StepSource::captured_span;
      out.steps = span;
    } else {
      out.step_source = StepSource::nvtx;
      if (links.enough()) out.steps = links.gpu_windows(name_, notes_);
      linked = !out.steps.empty();
      if (!linked) {
        out.steps = host;
        notes_.add(NoteCode::launches_unlinked,
                   "most GPU activities have no launch in the trace: steps are the host's windows",
                   place());
      }
    }
    SplitSweep sweep({&span, &out.steps, &out.host_steps});
    process.activities.each([&](const GpuActivity& activity) {
      if (keep[activity.device]) sweep.add(activity.start_ns, activity.end_ns(), activity.activity);
    });
    sweep.finish();
    out.gpu_span = span.front();
    take_collectives(process, keep, out, [&](const NsightProcess::Collective& collective) {
      if (linked && collective.correlation != kNoCorrelation) {
        const std::uint32_t step = links.gpu_step(collective.correlation);
        if (step != kNoStep) return step;
      }
      return window_at(out.steps, collective.span.start_ns);
    });
  }

  template <typename Step>
  void take_collectives(NsightProcess& process, const std::vector<bool>& keep, RankTrace& out,
                        Step&& step) {
    std::vector<NsightProcess::Collective>& all = process.collectives;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tie(a.span.start_ns, a.span.end_ns, a.span.stream, a.correlation, a.device,
                      a.span.kind, a.span.bytes) < std::tie(b.span.start_ns, b.span.end_ns,
                                                            b.span.stream, b.correlation, b.device,
                                                            b.span.kind, b.span.bytes);
    });
    std::map<std::uint32_t, std::uint32_t> numbers;  // from the capture's kinds to the trace's
    for (const NsightProcess::Collective& collective : all) {
      if (!keep[collective.device]) continue;
      CollectiveSpan span = collective.span;
      const auto next = static_cast<std::uint32_t>(out.kinds.size());
      const auto [at, added] = numbers.try_emplace(span.kind, next);
      if (added) out.kinds.push_back(capture_.kinds[span.kind]);
      span.kind = at->second;
      span.step = step(collective);
      out.collectives.push_back(span);
    }
    // Which communicator a kernel is of is not in an export.
    if (!out.collectives.empty()) out.groups.emplace_back();
  }

  bool known(std::uint32_t kind) const { return capture_.kinds[kind] != "unknown"; }

  // Kernels of NCCL do not tell send, receive and all-to-all apart, those of RCCL nothing at all;
  // the range around their launch does: the outermost, as an all-to-all is made of sends.
  void settle_calls(NsightProcess& process) {
    if (process.calls.empty()) return;
    std::sort(process.calls.begin(), process.calls.end(), [](const auto& a, const auto& b) {
      return std::tie(a.thread, a.begin_ns, b.end_ns, a.kind, a.bytes) <
             std::tie(b.thread, b.begin_ns, a.end_ns, b.kind, b.bytes);
    });
    constexpr std::ptrdiff_t kDeepest = 64;
    for (NsightProcess::Collective& collective : process.collectives) {
      if (collective.launch_thread == 0) continue;
      const std::pair key{collective.launch_thread, collective.launch_ns};
      auto at = std::upper_bound(process.calls.begin(), process.calls.end(), key,
                                 [](const auto& wanted, const NsightProcess::Call& call) {
                                   return wanted < std::pair{call.thread, call.begin_ns};
                                 });
      const NsightProcess::Call* outermost = nullptr;
      for (std::ptrdiff_t seen = 0; at != process.calls.begin() && seen < kDeepest; ++seen) {
        --at;
        if (at->thread != collective.launch_thread) break;
        if (at->end_ns >= collective.launch_ns && known(at->kind)) outermost = &*at;
      }
      if (outermost == nullptr) continue;
      const std::string& own = capture_.kinds[collective.span.kind];
      if (own == "unknown" || own == "sendrecv") collective.span.kind = outermost->kind;
      if (collective.span.kind == outermost->kind) collective.span.bytes = outermost->bytes;
    }
  }

  std::string gpu_name(std::int64_t device) const {
    const NsightCapture::Gpu* found = nullptr;
    bool same = true;
    for (const NsightCapture::Gpu& gpu : capture_.gpus) {
      same = same && gpu.name == capture_.gpus.front().name;
      if (gpu.cuda == device) found = &gpu;
    }
    if (same && !capture_.gpus.empty()) return capture_.gpus.front().name;
    for (const NsightCapture::Gpu& gpu : capture_.gpus) {
      if (found == nullptr && gpu.id == device) found = &gpu;
    }
    return found == nullptr ? std::string() : found->name;
  }

  void settle_ranks(std::vector<RankTrace>& traces) {
    std::map<std::int64_t, int> times;
    for (const RankTrace& trace : traces) {
      if (trace.rank) ++times[*trace.rank];
    }
    for (RankTrace& trace : traces) {
      if (!trace.rank || times[*trace.rank] < 2) continue;
      notes_.add(NoteCode::rank_twice,
                 "two processes are labelled rank " + std::to_string(*trace.rank) +
                     ": neither label is used",
                 place());
      trace.rank.reset();
    }
    if (traces.size() > 1) {
      const auto without =
          std::count_if(traces.begin(), traces.end(), [](const RankTrace& t) { return !t.rank; });
      if (without > 0) {
        notes_.add(NoteCode::rank_unknown,
                   "the file does not say which rank a process is (label it: nvtxMarkA(\"MPI Rank "
                   "3\"))",
                   place(), without);
      }
      return;
    }
    RankTrace& trace = traces.front();
    if (trace.rank) return;
    trace.rank = rank_from_name(name_);
    if (!trace.rank) {
      trace.rank = number_in_name(name_);
      if (trace.rank) {
        notes_.add(NoteCode::rank_from_number,
                   "the number at the end of the file's name was used as the rank", place());
      }
    }
    trace.rank_from_name = trace.rank.has_value();
  }

  std::string name_;
  Notes& notes_;
  NsightCapture capture_;
};

}  // namespace

bool sniff_nsight(std::string_view head) { return sniff_sqlite(head); }

bool sniff_nsys_stats(std::string_view head) {
  // Lines about what is being processed may come first.
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    std::string plain;
    for (const char c : line) {
      if (c != '"' && c != ' ') plain += c;
    }
    const bool sums =
        plain.starts_with("Time(%),TotalTime") || plain.starts_with("Time(%);TotalTime");
    if (sums &&
        (plain.find("Instances") != std::string::npos ||
         plain.find("NumCalls") != std::string::npos || plain.find("Count") != std::string::npos)) {
      return true;
    }
  }
  return false;
}

void refuse_nsys_stats(const std::string& name) {
  Place where;
  where.file = name;
  throw Error(ErrorKind::unsupported,
              "nsys stats prints sums by name: they show neither overlap nor idle time", where,
              "give the timeline: nsys export --type sqlite REPORT.nsys-rep");
}

std::vector<RankTrace> read_nsight(const std::string& path, Notes& notes) {
  SqliteFile file = SqliteFile::open(path);
  for (const char* end : {"-wal", "-journal"}) {
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path + end, problem);
    if (problem || size == 0) continue;
    Place where;
    where.file = path;
    notes.add(NoteCode::unfinished_export,
              std::string("a file ") + end +
                  " is next to the database: the export was not finished, or is being written",
              where);
  }
  return NsightReader(file, notes).read();
}

std::vector<RankTrace> read_nsight_bytes(std::string_view bytes, const std::string& name,
                                         Notes& notes) {
  SqliteFile file = SqliteFile::from_memory(bytes, name);
  return NsightReader(file, notes).read();
}

}  // namespace mfu::traces
