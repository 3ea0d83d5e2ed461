#include "readers/run/logged_ranks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "timings/builder.hpp"

namespace mfu {
namespace {

using RankStep = std::pair<std::int64_t, std::int64_t>;  // rank, step

struct LoggedSample {
  double compute = 0.0;
  double comm = 0.0;
  std::optional<double> stall;
  std::optional<double> overlapped;
  std::optional<double> forward, backward;
};

struct LoggedSamples {
  std::map<RankStep, LoggedSample> samples;
  bool splits = false;  // compute and communication are separate
};

bool has_series(const TrainingLog& log, std::string_view series) {
  return std::any_of(log.rank_values.begin(), log.rank_values.end(),
                     [&](const LoggedRankValue& value) { return value.series == series; });
}

// Rows without a step number: the n-th row of each rank is one step.
std::vector<std::int64_t> steps_of_rows(const TrainingLog& log) {
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> seen;
  std::vector<std::int64_t> steps;
  for (const LoggedRankValue& value : log.rank_values) {
    steps.push_back(value.iteration >= 0 ? value.iteration : seen[{value.rank, value.series}]++);
  }
  return steps;
}

// Computing, exposed communication and free time add up to the step.
LoggedSamples samples_of_ascend(const TrainingLog& log) {
  LoggedSamples found;
  found.splits = has_series(log, "computing") && has_series(log, "communication-not-overlapped");
  const std::vector<std::int64_t> steps = steps_of_rows(log);
  for (std::size_t i = 0; i < log.rank_values.size(); ++i) {
    const LoggedRankValue& value = log.rank_values[i];
    LoggedSample& sample = found.samples[{value.rank, steps[i]}];
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

LoggedSamples samples_of_megatron(const TrainingLog& log) {
  LoggedSamples found;
  found.splits = has_series(log, "forward-compute") && has_series(log, "backward-compute");
  const bool syncs_as_one = has_series(log, "all-grads-sync");
  // A step given twice (a resumed run repeats it) has the values given last, not the
  // sum.
  std::map<RankStep, std::map<std::string_view, double>> told;
  for (const LoggedRankValue& value : log.rank_values) {
    if (value.unit == RankUnit::seconds)
      told[{value.rank, value.iteration}][value.series] = value.value;
  }
  for (const auto& [key, timers] : told) {
    LoggedSample& sample = found.samples[key];
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
void add_rest_of_step(const TrainingLog& log, LoggedSamples& found) {
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

ScoreUnit score_unit(RankUnit unit) {
  switch (unit) {
    case RankUnit::seconds:
      return ScoreUnit::seconds;
    case RankUnit::ratio:
      return ScoreUnit::ratio;
    case RankUnit::flops_per_second:
      return ScoreUnit::flops;
    case RankUnit::watts:
    case RankUnit::celsius:
    case RankUnit::hertz:
      break;
  }
  return ScoreUnit::other;
}

// The series that says most of the ranks. Times of an iteration are the same on all ranks of a job
// in step: a throughput of their own says more.
const LoggedRankValue& telling_series(const TrainingLog& log) {
  for (const std::string_view wanted : {"-relative-score", "estimated-throughput"}) {
    for (const LoggedRankValue& value : log.rank_values) {
      if (value.series.ends_with(wanted)) return value;
    }
  }
  return log.rank_values.front();
}

// Each report against its own best: what all ranks lose alike is nobody's.
void add_over_reports(const TrainingLog& log, RankScores& scores) {
  std::map<std::int64_t, std::map<std::int64_t, double>> reports;  // by number, of each rank
  for (const LoggedRankValue& value : log.rank_values) {
    const bool sound = std::isfinite(value.value) && value.value > 0.0;
    if (value.series == scores.series && sound) reports[value.iteration][value.rank] = value.value;
  }
  const bool times = scores.unit == ScoreUnit::seconds;
  std::map<std::int64_t, RankOverReports> ranks;
  for (const auto& [number, values] : reports) {
    double best = values.begin()->second;
    for (const auto& [rank, value] : values) {
      best = times ? std::min(best, value) : std::max(best, value);
    }
    // A score is against the best already, which may not be listed.
    if (scores.unit == ScoreUnit::ratio) best = std::max(best, 1.0);
    for (const auto& [rank, value] : values) {
      RankOverReports& own = ranks[rank];
      own.score += times ? best / value : value / best;
      ++own.reports;
    }
  }
  scores.reports = static_cast<std::int64_t>(reports.size());
  for (auto& [rank, own] : ranks) {
    own.rank = rank;
    own.all_reports = (own.score + static_cast<double>(scores.reports - own.reports)) /
                      static_cast<double>(scores.reports);
    own.score /= static_cast<double>(own.reports);
    scores.over_reports.push_back(own);
  }
}

// What a log shows that has values by rank and no split.
RankScores scores_of(const TrainingLog& log) {
  RankScores scores;
  scores.file = log.path;
  if (log.rank_values.empty()) return scores;
  const LoggedRankValue& telling = telling_series(log);
  scores.series = telling.series;
  scores.unit = score_unit(telling.unit);
  std::map<std::int64_t, double> last;
  for (const LoggedRankValue& value : log.rank_values) {
    if (value.series == scores.series) last[value.rank] = value.value;
  }
  for (const auto& [rank, value] : last) scores.last.push_back({rank, value});
  add_over_reports(log, scores);
  scores.coarse_timers = log.format == kRankTimersName || has_series(log, "forward-backward");
  return scores;
}

void describe_logged_job(const TrainingLog& log, RunTimings& run) {
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

std::uint64_t log_size(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

}  // namespace

std::variant<RunTimings, RankScores> ranks_of_log(const TrainingLog& log, Notes& notes) {
  const bool ascend = has_series(log, "computing");
  LoggedSamples found = ascend ? samples_of_ascend(log) : samples_of_megatron(log);
  if (!found.splits) return scores_of(log);
  if (!ascend) add_rest_of_step(log, found);

  RunBuilder builder;
  describe_logged_job(log, builder.run);
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

std::optional<LoggedRanks> read_logged_ranks(const std::vector<std::string>& paths,
                                             std::optional<ByteSource> opened, Notes& notes) {
  TrainingLog all;
  LoggedRanks result;
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
        bytes = log_size(path);
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
  result.ranks = ranks_of_log(all, notes);
  return result;
}

}  // namespace mfu
