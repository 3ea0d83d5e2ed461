#include "inputs/rank_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/note_code.hpp"
#include "inputs/read_inputs.hpp"
#include "logs/registry.hpp"
#include "outputs/terminal.hpp"
#include "readers/reader.hpp"
#include "timings/builder.hpp"

namespace mfu::app {
namespace {

using Key = std::pair<std::int64_t, std::int64_t>;  // rank, step

struct Sample {
  double compute = 0.0;
  double comm = 0.0;
  std::optional<double> stall;
  std::optional<double> overlapped;
  std::optional<double> forward, backward;
};

struct Found {
  std::map<Key, Sample> samples;
  bool splits = false;  // compute and communication are told apart
};

bool has(const TrainingLog& log, std::string_view series) {
  return std::any_of(log.rank_values.begin(), log.rank_values.end(),
                     [&](const LoggedRankValue& value) { return value.series == series; });
}

// Rows without a step number: the n-th row of each rank is one step.
std::vector<std::int64_t> steps_of(const TrainingLog& log) {
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> seen;
  std::vector<std::int64_t> steps;
  for (const LoggedRankValue& value : log.rank_values) {
    steps.push_back(value.iteration >= 0 ? value.iteration : seen[{value.rank, value.series}]++);
  }
  return steps;
}

// Computing, exposed communication and free time add up to the step.
Found from_ascend(const TrainingLog& log) {
  Found found;
  found.splits = has(log, "computing") && has(log, "communication-not-overlapped");
  const std::vector<std::int64_t> steps = steps_of(log);
  for (std::size_t i = 0; i < log.rank_values.size(); ++i) {
    const LoggedRankValue& value = log.rank_values[i];
    Sample& sample = found.samples[{value.rank, steps[i]}];
    if (value.series == "computing") sample.compute = value.value;
    if (value.series == "communication-not-overlapped") sample.comm = value.value;
    if (value.series == "free") sample.stall = value.value;
    if (value.series == "overlapped") sample.overlapped = value.value;
  }
  return found;
}

// The timers that hold communication. One that holds others of the list is taken instead of them.
bool is_communication(std::string_view timer, bool syncs_as_one) {
  constexpr std::array<std::string_view, 5> kInSync{
      "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "grads-all-reduce",
      "grads-reduce-scatter", "conditional-embedder-grads-all-reduce"};
  if (std::find(kInSync.begin(), kInSync.end(), timer) != kInSync.end()) return !syncs_as_one;
  constexpr std::array<std::string_view, 4> kWhole{"all-grads-sync", "params-all-gather",
                                                   "backward-params-all-reduce",
                                                   "backward-embedding-all-reduce"};
  if (std::find(kWhole.begin(), kWhole.end(), timer) != kWhole.end()) return true;
  // "forward-recv", "backward-send-forward-recv" ...
  return (timer.starts_with("forward-") || timer.starts_with("backward-")) &&
         (timer.ends_with("-recv") || timer.ends_with("-send"));
}

Found from_megatron(const TrainingLog& log) {
  Found found;
  found.splits = has(log, "forward-compute") && has(log, "backward-compute");
  const bool syncs_as_one = has(log, "all-grads-sync");
  // A step given twice (a resumed run repeats it) has the values given last, not the
  // sum.
  std::map<Key, std::map<std::string_view, double>> told;
  for (const LoggedRankValue& value : log.rank_values) {
    if (value.unit == "s") told[{value.rank, value.iteration}][value.series] = value.value;
  }
  for (const auto& [key, timers] : told) {
    Sample& sample = found.samples[key];
    double data = 0.0;
    for (const auto& [timer, seconds] : timers) {
      if (timer == "forward-compute") sample.forward = seconds;
      if (timer == "backward-compute") sample.backward = seconds;
      if (timer == "forward-compute" || timer == "backward-compute" ||
          timer == "optimizer-inner-step") {
        sample.compute += seconds;
      } else if (is_communication(timer, syncs_as_one)) {
        sample.comm += seconds;
      } else if (timer == "batch-generator") {
        data = seconds;
      }
    }
    // Inside forward-compute: data, not work. What is left of the step is added below.
    sample.compute -= data;
    if (sample.forward) *sample.forward -= data;
  }
  return found;
}

// The rest of the step, where the log says how long that was.
void add_rest_of_step(const TrainingLog& log, Found& found) {
  std::map<std::int64_t, double> seconds;
  for (const LogSegment& segment : log.segments) {
    for (const LoggedStep& step : segment.steps) {
      if (step.step_s) seconds[step.iteration] = *step.step_s;
    }
  }
  for (auto& [key, sample] : found.samples) {
    const auto step = seconds.find(key.second);
    if (sample.stall || step == seconds.end()) continue;
    sample.stall = std::max(0.0, step->second - sample.compute - sample.comm);
  }
}

// What a log with per-rank values but no split shows.
[[noreturn]] void refuse(const TrainingLog& log) {
  Place place;
  place.file = log.path;
  if (log.rank_values.empty()) {
    throw Error(
        ErrorKind::insufficient,
        "a training log without per-rank values: it cannot show where the time of a step goes",
        place,
        "mfu log reads its step time and MFU; the recorder in examples/recorder "
        "writes what is needed");
  }
  // The last report of the first series is what people look at.
  const std::string& series = log.rank_values.front().series;
  const std::string& unit = log.rank_values.front().unit;
  std::map<std::int64_t, double> last;
  for (const LoggedRankValue& value : log.rank_values) {
    if (value.series == series) last[value.rank] = value.value;
  }
  const bool high_is_slow = unit == "s";
  auto worst = last.begin();
  for (auto at = last.begin(); at != last.end(); ++at) {
    if (high_is_slow ? at->second > worst->second : at->second < worst->second) worst = at;
  }
  const std::string shown = unit == "s"       ? fmt::format("{:.4g} s", worst->second)
                            : unit == "flops" ? fmt::format("{:.4g} TFLOP/s", worst->second / 1e12)
                                              : fmt::format("{:.4g}", worst->second);
  // Scores are best over own time: within the 5 % that count as material, nobody is slow.
  constexpr double kScoreOfAPeer = 0.95;
  if (unit == "ratio" && worst->second >= kScoreOfAPeer) {
    ScoresSection section;
    section.verdict_line =
        fmt::format("healthy as far as scores tell: no rank of {} stands out", last.size());
    section.why = {
        fmt::format("{}: the lowest is {}, of rank {}; from {} up a rank is like its peers", series,
                    shown, worst->first, kScoreOfAPeer)};
    section.unseen = "where the time of a step goes, and what all ranks lose alike";
    section.next =
        "for a diagnosis: a profiler trace, Megatron's timers of all ranks, or the recorder in "
        "examples/recorder";
    throw HealthyScores(std::move(section), place);
  }
  throw Error(ErrorKind::insufficient,
              fmt::format("{} of {} {} (the {} of the last report: rank {} with {}) say which rank "
                          "stands out, not where the time of a step goes: compute, communication "
                          "and waiting are not separated",
                          series, last.size(), last.size() == 1 ? "rank" : "ranks",
                          high_is_slow ? "slowest" : "lowest", worst->first, shown),
              place,
              log.format == "megatron-timers" || has(log, "forward-backward")
                  ? "with --timing-log-level 2 --timing-log-option all Megatron prints "
                    "forward-compute and backward-compute of all ranks"
                  : "a profiler trace, Megatron's timers of all ranks, or the recorder in "
                    "examples/recorder separate them");
}

void describe_job(const TrainingLog& log, RunTimings& run) {
  run.job["framework"] = log.format;
  run.model = log.model_name;
  run.model_json = log.model_json;
  if (!log.model_json.empty() && run.model.empty()) run.model = "as in the log";
  run.workload.seq_len = log.seq_len;
  run.workload.global_batch = log.global_batch;
  if (log.seq_len && log.global_batch) {
    run.workload.tokens_per_step = *log.seq_len * *log.global_batch;
  }
  if (log.microbatches) run.workload.microbatches = static_cast<int>(*log.microbatches);
  if (log.recompute == "full") run.workload.recompute = Recompute::full;
  if (log.recompute == "selective") run.workload.recompute = Recompute::selective;
  if (log.recompute == "none") run.workload.recompute = Recompute::none;
  run.hardware.chip = log.device_name;
  if (!log.device_name.empty()) run.hardware.precision = log.precision;
  if (log.gpus) run.hardware.count = static_cast<std::int64_t>(*log.gpus);
  // Expert parallelism lies inside data parallelism in Megatron: it is not an axis of its own.
  const bool expert_inside = log.parallel.count("dp") > 0;
  for (const Axis axis : kAxes) {
    if (axis == Axis::ep && expert_inside) continue;
    const auto size = log.parallel.find(std::string(to_string(axis)));
    if (size != log.parallel.end() && size->second > 0) run.parallelism[axis] = size->second;
  }
}

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

// Either every file is a log or none is: nothing if one cannot be read as a log. What is wrong with
// it as a timing document is the better error then.
std::optional<ReadResult> read_logs(const std::vector<std::string>& paths,
                                    std::optional<ByteSource> opened, Notes& notes) {
  TrainingLog all;
  ReadResult result;
  Notes said;
  // The first one describes the job: which that is must not depend on the order.
  const std::set<std::string> each(paths.begin(), paths.end());
  for (const std::string& path : each) {
    TrainingLog log;
    std::uint64_t bytes = 0;
    try {
      if (opened && opened->name() == path) {
        log = read_log(*opened, {}, said);
        bytes = opened->raw_bytes();
      } else {
        log = read_log(path, {}, said);
        bytes = size_of(path);
      }
    } catch (const Error&) {
      return std::nullopt;
    }
    result.inputs.push_back({path, log.format, bytes});
    if (all.format.empty()) {
      all = std::move(log);
      continue;
    }
    std::move(log.rank_values.begin(), log.rank_values.end(), std::back_inserter(all.rank_values));
  }
  for (const Note& note : said.all()) notes.add(note);
  try {
    result.run = run_of_log(all, notes);
  } catch (HealthyScores& healthy) {
    healthy.inputs = result.inputs;
    throw;
  }
  return result;
}

}  // namespace

RunTimings run_of_log(const TrainingLog& log, Notes& notes) {
  const bool ascend = has(log, "computing");
  Found found = ascend ? from_ascend(log) : from_megatron(log);
  if (!found.splits) refuse(log);
  if (!ascend) add_rest_of_step(log, found);

  RunBuilder builder;
  describe_job(log, builder.run);
  const std::size_t source = builder.add_source(log.path, true);
  bool any_stall = false;
  bool any_overlap = false;
  bool any_passes = !ascend;
  for (const auto& [key, sample] : found.samples) {
    any_stall = any_stall || sample.stall.has_value();
    any_overlap = any_overlap || sample.overlapped.has_value();
    any_passes = any_passes && sample.forward && sample.backward && *sample.forward >= 0;
  }
  RankRecord* record = nullptr;
  std::int64_t rank = -1;
  for (const auto& [key, sample] : found.samples) {
    if (record == nullptr || key.first != rank) {
      record = &builder.add(source);
      rank = key.first;
      record->info.rank = rank;
      record->steps = builder.follow_steps();
    }
    record->steps.push_back(key.second);
    const auto push = [&](Series series, double value) {
      record->at(series).values.push_back(std::max(0.0, value));
    };
    push(kCompute, sample.compute);
    push(kComm, sample.comm);
    push(kStall, sample.stall.value_or(0.0));
    if (any_overlap) push(kOverlappedComm, sample.overlapped.value_or(0.0));
    if (any_passes) {
      push(kForward, *sample.forward);
      push(kBackward, *sample.backward);
    }
  }
  if (!any_stall) {
    notes.add(NoteCode::no_rest_of_step,
              "the log does not say how long these steps are: what is neither compute nor "
              "communication is counted as 0",
              Place{.file = log.path});
  }
  if (!ascend) {
    notes.add(NoteCode::timers_as_run,
              "forward-compute includes tensor-parallel communication, which no timer separates: "
              "it is counted as compute",
              Place{.file = log.path});
  }
  return builder.build(notes);
}

ReadResult read_run_or_log(const std::vector<std::string>& paths, unsigned threads, Notes& notes) {
  // A pipe is read once: its first bytes say what it is.
  std::optional<ByteSource> opened;
  const auto pipe = std::find_if(paths.begin(), paths.end(), is_read_once);
  if (pipe != paths.end() && std::count(paths.begin(), paths.end(), *pipe) == 1) {
    const ProgressLine line("reading");
    opened = ByteSource::open(*pipe);
    const std::string head(opened->peek(kHeadBytes));
    if (is_no_run(head)) {
      if (std::optional<ReadResult> result = read_logs(paths, std::move(opened), notes)) {
        return std::move(*result);
      }
      refuse_no_run(head, *pipe);
    }
  }
  try {
    return read_inputs(paths, threads, notes, std::move(opened));
  } catch (const Error& error) {
    const bool other =
        error.kind() == ErrorKind::format && error.message().starts_with("not a timing document");
    if (!other || pipe != paths.end()) throw;
    if (std::optional<ReadResult> result = read_logs(paths, std::nullopt, notes)) {
      return std::move(*result);
    }
    throw;
  }
}

}  // namespace mfu::app
