#include "traces/collectives/across.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/note_code.hpp"
#include "timings/builder.hpp"
#include "timings/trace.hpp"
#include "traces/collectives/captures.hpp"
#include "traces/collectives/collectives.hpp"
#include "traces/split.hpp"

namespace mfu::traces {

namespace {

// The analysis calls a loss material from 5 % of the step on: communication that is not paired and
// takes less than that cannot distort a wait series materially.
constexpr double kUnpairedShare = 0.05;

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

TraceSplit in_seconds(const Split& split) {
  return {seconds(split.window_ns),       seconds(split.compute_ns),
          seconds(split.exposed_comm_ns), seconds(split.exposed_memory_ns),
          seconds(split.idle_ns),         seconds(split.overlapped_comm_ns)};
}

TraceSteps public_source(StepSource source) {
  switch (source) {
    case StepSource::gpu_annotation:
      return TraceSteps::gpu_annotation;
    case StepSource::host_annotation:
      return TraceSteps::host_annotation;
    case StepSource::nvtx:
      return TraceSteps::nvtx;
    case StepSource::scheduler:
      return TraceSteps::scheduler;
    case StepSource::captured_span:
      break;
  }
  return TraceSteps::captured_span;
}

// A whole node in one file, as profilers of a node write it: each process and device is a rank. The
// file orders them by process and device; what has no rank takes the lowest that is free, file by
// file. `traces`: by file.
void number_in_files(std::vector<RankTrace>& traces, Notes& notes) {
  std::set<std::int64_t> taken;
  std::map<std::string, std::int64_t> in_file;
  for (const RankTrace& trace : traces) {
    if (trace.rank) taken.insert(*trace.rank);
    ++in_file[trace.file];
  }
  std::map<std::string, std::int64_t> numbered;
  std::int64_t next = 0;
  for (RankTrace& trace : traces) {
    if (trace.rank || in_file[trace.file] < 2) continue;
    while (taken.contains(next)) ++next;
    taken.insert(next);
    trace.rank = next;
    ++numbered[trace.file];
  }
  for (const auto& [file, count] : numbered) {
    notes.add(NoteCode::rank_assumed,
              "the file holds " + std::to_string(in_file[file]) +
                  " processes or devices and does not say which rank each is: " +
                  std::to_string(count) + " are numbered by process and device",
              Place{.file = file}, count);
  }
}

void settle_ranks(std::vector<RankTrace>& traces, Notes& notes) {
  std::stable_sort(traces.begin(), traces.end(),
                   [](const RankTrace& a, const RankTrace& b) { return a.file < b.file; });
  for (RankTrace& trace : traces) {
    if (trace.rank && (*trace.rank < 0 || *trace.rank > kMostRank)) {
      notes.add(NoteCode::rank_impossible,
                "the trace states rank " + std::to_string(*trace.rank) + ", which no job has",
                Place{.file = trace.file});
      trace.rank.reset();
    }
  }
  number_in_files(traces, notes);
  for (RankTrace& trace : traces) {
    if (trace.rank) continue;
    if (traces.size() > 1) {
      throw Error(ErrorKind::insufficient, "the trace does not say which rank it is from",
                  Place{.file = trace.file},
                  "put the rank into the file's name, as in rank3.json, or give this file alone");
    }
    trace.rank = 0;
    notes.add(NoteCode::rank_assumed,
              "neither the trace nor its name gives the rank: rank 0 is assumed",
              Place{.file = trace.file});
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const RankTrace& a, const RankTrace& b) { return *a.rank < *b.rank; });
  for (std::size_t i = 1; i < traces.size(); ++i) {
    if (*traces[i].rank != *traces[i - 1].rank) continue;
    throw Error(ErrorKind::usage,
                "two traces of rank " + std::to_string(*traces[i].rank) + ": " +
                    traces[i - 1].file + " and " + traces[i].file,
                Place{.file = traces[i].file}, "give one trace per rank, of one capture");
  }
}

std::optional<std::int64_t> settle_world(const std::vector<RankTrace>& traces, Notes& notes) {
  std::optional<std::int64_t> world;
  for (const RankTrace& trace : traces) {
    if (!trace.world_size) continue;
    if (*trace.world_size < 1 || *trace.world_size > kMostGpus) {
      notes.add(NoteCode::world_size_impossible,
                "the trace states a world size of " + std::to_string(*trace.world_size) +
                    ": it is not used",
                Place{.file = trace.file});
      continue;
    }
    world = std::max(world.value_or(0), *trace.world_size);
  }
  const std::int64_t highest = *traces.back().rank + 1;
  if (world && *world < highest) {
    notes.add(NoteCode::world_size_too_small,
              "the traces state a world size of " + std::to_string(*world) +
                  ", but there is a rank " + std::to_string(highest - 1) + ": it is not used");
    world.reset();
  }
  const auto recorded = static_cast<std::int64_t>(traces.size());
  if (world && recorded < *world) {
    notes.add(NoteCode::ranks_missing,
              std::to_string(recorded) + " of " + std::to_string(*world) +
                  " ranks have a trace here; give all of them for a verdict across ranks");
  }
  return world;
}

// One span instead of steps, where some traces have none.
void settle_step_source(std::vector<RankTrace>& traces, Notes& notes) {
  const auto spans = std::count_if(traces.begin(), traces.end(), [](const RankTrace& trace) {
    return trace.step_source == StepSource::captured_span;
  });
  if (spans == 0) return;
  const auto all = static_cast<std::ptrdiff_t>(traces.size());
  notes.add(
      NoteCode::no_steps_in_trace,
      spans == all
          ? "the trace has no steps: all that was captured counts as one"
          : std::to_string(spans) + " of " + std::to_string(all) +
                " traces have no steps: for every rank, all that was captured counts as one step",
      Place{.file = traces.front().file});
  if (spans == all) return;
  for (RankTrace& trace : traces) {
    if (trace.step_source == StepSource::captured_span) continue;
    trace.step_source = StepSource::captured_span;
    trace.steps = {trace.gpu_span};
    trace.steps.front().id = 0;
    for (CollectiveSpan& span : trace.collectives) span.step = 0;
  }
}

std::vector<std::int64_t> ids_of(const RankTrace& trace) {
  std::vector<std::int64_t> ids;
  for (const StepSplit& step : trace.steps) ids.push_back(step.id);
  return ids;
}

// The id of each trace's steps under which all know them; -1: not on all ranks.
std::vector<std::vector<std::int64_t>> settle_steps(std::vector<RankTrace>& traces, Notes& notes) {
  std::set<std::int64_t> common;
  bool usable = true;
  bool as_many = true;
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const std::vector<std::int64_t> ids = ids_of(traces[r]);
    usable = usable &&
             std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end() &&
             (ids.empty() || ids.back() <= kMostStepId);
    as_many = as_many && ids.size() == traces.front().steps.size();
    std::set<std::int64_t> own(ids.begin(), ids.end());
    if (r == 0) {
      common = std::move(own);
    } else {
      std::erase_if(common, [&own](std::int64_t id) { return own.count(id) == 0; });
    }
  }
  if (common.empty() || !usable) {
    // Counters that were started anew, that the ranks do not share, or that count no steps.
    if (!as_many) {
      throw Error(ErrorKind::insufficient,
                  "the traces share no step numbers and differ in their number of steps",
                  Place{.file = traces.back().file}, "give traces of the same capture");
    }
    notes.add(NoteCode::steps_by_order,
              "step numbers do not ascend or agree between the ranks: their steps are matched from "
              "the first on",
              Place{.file = traces.front().file});
    for (RankTrace& trace : traces) {
      for (std::size_t i = 0; i < trace.steps.size(); ++i) {
        trace.steps[i].id = static_cast<std::int64_t>(i);
      }
    }
    std::vector<std::vector<std::int64_t>> all;
    for (const RankTrace& trace : traces) all.push_back(ids_of(trace));
    return all;
  }
  std::vector<std::vector<std::int64_t>> all;
  for (const RankTrace& trace : traces) {
    std::vector<std::int64_t> ids = ids_of(trace);
    for (std::int64_t& id : ids) {
      if (common.count(id) == 0) id = -1;
    }
    all.push_back(std::move(ids));
  }
  return all;
}

// Nanoseconds of waiting by rank and step, hidden by compute or not.
std::vector<std::vector<std::int64_t>> waits_of(const std::vector<RankTrace>& traces,
                                                const Pairing& pairing) {
  std::vector<std::vector<std::int64_t>> waits;
  for (const RankTrace& trace : traces) waits.emplace_back(trace.steps.size(), 0);
  for (const PairedCollective& pair : pairing.collectives) {
    for (const Member& m : pair.members) {
      const CollectiveSpan& span = traces[m.rank].collectives[m.span];
      if (span.step >= waits[m.rank].size()) continue;
      waits[m.rank][span.step] += span.end_ns - span.start_ns - pair.transfer_ns;
    }
  }
  return waits;
}

TraceCollective public_collective(const std::vector<RankTrace>& traces,
                                  const PairedCollective& pair, bool paired) {
  TraceCollective out;
  const Member& first = pair.members.front();
  const CollectiveSpan& span = traces[first.rank].collectives[first.span];
  out.step = pair.step;
  out.kind = traces[first.rank].kinds[span.kind];
  out.group = traces[first.rank].groups[span.group];
  if (span.sequence >= 0) out.sequence = span.sequence;
  if (span.bytes >= 0) out.bytes = span.bytes;
  out.ranks = static_cast<std::int64_t>(pair.members.size());
  out.transfer_s = seconds(pair.transfer_ns);
  std::int64_t longest = -1;
  std::int64_t shortest = -1;
  for (const Member& m : pair.members) {
    const CollectiveSpan& own = traces[m.rank].collectives[m.span];
    const std::int64_t duration = own.end_ns - own.start_ns;
    if (duration > longest) {
      longest = duration;
      out.longest_waiter = *traces[m.rank].rank;
    }
    if (shortest < 0 || duration < shortest) {
      shortest = duration;
      out.shortest_rank = *traces[m.rank].rank;
    }
  }
  out.longest_wait_s = seconds(longest - shortest);
  if (paired) {
    out.late_s = seconds(pair.late_ns);
    out.end_spread_s = seconds(pair.end_spread_ns);
    for (const std::size_t r : pair.last) out.last_ranks.push_back(*traces[r].rank);
  }
  return out;
}

void add_collectives(TraceEvidence& evidence, const std::vector<RankTrace>& traces,
                     const Pairing& pairing) {
  const bool paired = pairing.status == TracePairing::paired;
  std::int64_t index = 0;
  for (const PairedCollective& pair : pairing.collectives) {
    evidence.list.push_back(public_collective(traces, pair, paired));
    evidence.list.back().index = index++;
  }
  if (paired) count_late(evidence);
  // All were counted; only so many are listed.
  if (evidence.list.size() > kMostTraceCollectives) evidence.list.resize(kMostTraceCollectives);
}

TraceEvidence evidence_of(const std::vector<RankTrace>& traces, const Pairing& pairing) {
  TraceEvidence evidence;
  evidence.pairing = pairing.status;
  evidence.by_sequence = pairing.by_sequence;
  evidence.reason = pairing.reason;
  evidence.collectives = static_cast<std::int64_t>(pairing.of);
  evidence.paired = static_cast<std::int64_t>(pairing.collectives.size());
  if (pairing.spans_ns > 0.0) evidence.paired_share = pairing.paired_ns / pairing.spans_ns;
  const auto in_s = [](std::optional<double> ns) {
    return ns ? std::optional<double>(*ns / 1e9) : std::nullopt;
  };
  evidence.end_spread_s = in_s(pairing.end_spread_ns);
  evidence.end_tolerance_s = in_s(pairing.end_tolerance_ns);
  evidence.clock_offset_s = in_s(pairing.clock_offset_ns);
  add_collectives(evidence, traces, pairing);
  return evidence;
}

TraceRank rank_evidence(const RankTrace& trace, const std::vector<std::int64_t>& ids) {
  TraceRank out;
  out.rank = *trace.rank;
  out.file = trace.file;
  out.rank_from_name = trace.rank_from_name;
  out.activities = trace.activities;
  out.lost_activities = trace.lost_activities;
  out.cut_off = trace.cut_off;
  out.steps_from = public_source(trace.step_source);
  Split total;
  for (std::size_t s = 0; s < ids.size(); ++s) {
    if (ids[s] < 0) continue;
    ++out.steps;
    add(total, trace.steps[s].split);
  }
  out.in_steps = in_seconds(total);
  out.gpu_span = in_seconds(trace.gpu_span.split);
  Split host;
  for (const StepSplit& step : trace.host_steps) add(host, step.split);
  out.host_windows = in_seconds(host);
  out.host_steps = static_cast<std::int64_t>(trace.host_steps.size());
  return out;
}

void note_without_gpu(const std::vector<RankTrace>& traces, Notes& notes) {
  for (const RankTrace& trace : traces) {
    if (trace.has_gpu) continue;
    notes.add(NoteCode::no_gpu_activity,
              "the trace has no GPU activity: what is shown as idle may be host work",
              Place{.file = trace.file});
  }
}

void add_device(RunTimings& run, const std::vector<RankTrace>& traces) {
  std::set<std::string> names;
  for (const RankTrace& trace : traces) {
    if (!trace.device_name.empty()) names.insert(trace.device_name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  // Shown only: a name that the chip table does not know must not make the run fail.
  if (!text.empty()) run.job["device"] = text;
}

}  // namespace

RunTimings join_ranks(std::vector<RankTrace> traces, Notes& notes, std::int64_t empty) {
  if (traces.empty()) throw Error(ErrorKind::insufficient, "there is no trace");
  join_captures(traces, notes);
  settle_ranks(traces, notes);
  const auto given = static_cast<std::int64_t>(traces.size()) + empty;
  set_aside_strangers(traces, notes);
  std::optional<std::int64_t> world = settle_world(traces, notes);
  // A rank that is set aside is missing.
  if (static_cast<std::int64_t>(traces.size()) < given) world = std::max(world.value_or(0), given);
  std::erase_if(traces, [&notes](const RankTrace& trace) {
    if (!trace.steps.empty()) return false;
    notes.add(NoteCode::trace_without_activity,
              "the trace holds no step and no GPU activity; its rank is left out",
              Place{.file = trace.file});
    return true;
  });
  if (traces.empty()) {
    throw Error(ErrorKind::insufficient, "the trace holds no step and no GPU activity", {},
                "was the profiler running while the job trained?");
  }
  note_without_gpu(traces, notes);
  settle_step_source(traces, notes);
  const std::vector<std::vector<std::int64_t>> ids = settle_steps(traces, notes);
  const Pairing pairing = pair_collectives(traces, ids);

  RunBuilder builder;
  TraceEvidence evidence = evidence_of(traces, pairing);
  evidence.world_size = world;
  double windows = 0.0;
  for (std::size_t r = 0; r < traces.size(); ++r) {
    evidence.ranks.push_back(rank_evidence(traces[r], ids[r]));
    windows += evidence.ranks.back().in_steps.window_s;
  }
  const bool split =
      pairing.status == TracePairing::paired || pairing.status == TracePairing::durations;
  const double unpaired_s = (pairing.spans_ns - pairing.paired_ns) / 1e9;
  evidence.waits_separate = split && unpaired_s <= kUnpairedShare * windows;

  const auto waits = waits_of(traces, pairing);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const RankTrace& trace = traces[r];
    RankRecord& record = builder.add(builder.add_source(trace.file, false));
    record.info.rank = *trace.rank;
    record.info.node = trace.node;
    record.info.gpu = trace.device;
    record.steps = builder.follow_steps();
    double wait_sum = 0.0;
    for (std::size_t s = 0; s < trace.steps.size(); ++s) {
      const Split& split_ns = trace.steps[s].split;
      const std::int64_t wait = std::min(waits[r][s], split_ns.exposed_comm_ns);
      record.steps.push_back(trace.steps[s].id);
      record.at(kCompute).values.push_back(seconds(split_ns.compute_ns));
      record.at(kStall).values.push_back(seconds(split_ns.idle_ns + split_ns.exposed_memory_ns));
      record.at(kOverlappedComm).values.push_back(seconds(split_ns.overlapped_comm_ns));
      if (evidence.waits_separate) {
        record.at(kComm).values.push_back(seconds(split_ns.exposed_comm_ns - wait));
        record.at(kWait).values.push_back(seconds(wait));
      } else {
        record.at(kComm).values.push_back(seconds(split_ns.exposed_comm_ns));
      }
      if (ids[r][s] >= 0) wait_sum += seconds(waits[r][s]);
    }
    if (split) evidence.ranks[r].wait_s = wait_sum;
  }
  builder.run.waits_in = evidence.waits_separate ? WaitsIn::separate : WaitsIn::comm;
  builder.run.waits_in_given = true;
  builder.run.hardware.count = world;
  add_device(builder.run, traces);
  RunTimings run = builder.build(notes);
  run.trace = std::move(evidence);
  return run;
}

}  // namespace mfu::traces
