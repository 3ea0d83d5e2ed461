#include "readers/traces/trace_json.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mfu {

namespace {

using Written = nlohmann::ordered_json;
using nlohmann::json;

Written number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Written(*value) : Written(nullptr);
}
Written number(const std::optional<std::int64_t>& value) {
  return value ? Written(*value) : Written(nullptr);
}

Written split_to_json(const TraceSplit& split) {
  return {{"window_s", split.window_s},
          {"compute_s", split.compute_s},
          {"exposed_comm_s", split.exposed_comm_s},
          {"exposed_memory_s", split.exposed_memory_s},
          {"idle_s", split.idle_s},
          {"overlapped_comm_s", split.overlapped_comm_s}};
}

Written rank_to_json(const TraceRank& rank) {
  return {{"rank", rank.rank},
          {"file", rank.file},
          {"rank_from_name", rank.rank_from_name},
          {"steps_from", to_string(rank.steps_from)},
          {"steps", rank.steps},
          {"activities", rank.activities},
          {"lost_activities", rank.lost_activities},
          {"cut_off", rank.cut_off},
          {"wait_s", number(rank.wait_s)},
          {"in_steps", split_to_json(rank.in_steps)},
          {"gpu_span", split_to_json(rank.gpu_span)},
          {"host_steps", rank.host_steps},
          {"host_windows", split_to_json(rank.host_windows)}};
}

Written collective_to_json(const TraceCollective& one) {
  return {{"index", one.index},
          {"step", one.step},
          {"kind", one.kind},
          {"group", one.group},
          {"sequence", number(one.sequence)},
          {"bytes", number(one.bytes)},
          {"ranks", one.ranks},
          {"last_ranks", one.last_ranks},
          {"late_s", number(one.late_s)},
          {"transfer_s", one.transfer_s},
          {"shortest_rank", one.shortest_rank},
          {"longest_wait_s", one.longest_wait_s},
          {"longest_waiter", one.longest_waiter},
          {"end_spread_s", number(one.end_spread_s)}};
}

Written note_to_json(const Note& note) {
  return {{"code", note.code.str()},     {"severity", to_string(note.severity)},
          {"count", note.count},         {"text", note.text},
          {"file", note.first.file},     {"line", note.first.line},
          {"column", note.first.column}, {"byte_offset", note.first.byte_offset},
          {"what", note.first.what}};
}

[[noreturn]] void refuse(const json::exception& problem, const Place& place) {
  throw Error(ErrorKind::format, "cannot be read: " + std::string(problem.what()), place,
              "reduce the traces again, or leave the key out");
}

// Reads what is there and is not null into `to`.
template <typename T>
void take(const json& object, const char* key, T& to) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) to = found->get<T>();
}
template <typename T>
void take(const json& object, const char* key, std::optional<T>& to) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) to = found->get<T>();
}

// The value of the enumeration whose name stands there.
template <typename Enum, std::size_t N>
void take_name(const json& object, const char* key, const std::array<Enum, N>& known, Enum& to,
               const Place& place) {
  std::string name;
  take(object, key, name);
  if (name.empty()) return;
  for (const Enum value : known) {
    if (to_string(value) == name) {
      to = value;
      return;
    }
  }
  throw Error(ErrorKind::format, std::string(key) + " is '" + name.substr(0, 80) + "'", place,
              "reduce the traces again with this version");
}

TraceSplit split_from_json(const json& object, const char* key) {
  TraceSplit split;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return split;
  take(*found, "window_s", split.window_s);
  take(*found, "compute_s", split.compute_s);
  take(*found, "exposed_comm_s", split.exposed_comm_s);
  take(*found, "exposed_memory_s", split.exposed_memory_s);
  take(*found, "idle_s", split.idle_s);
  take(*found, "overlapped_comm_s", split.overlapped_comm_s);
  return split;
}

TraceRank rank_from_json(const json& object, const Place& place) {
  constexpr std::array kSources{TraceSteps::gpu_annotation, TraceSteps::host_annotation,
                                TraceSteps::nvtx, TraceSteps::scheduler, TraceSteps::captured_span};
  TraceRank rank;
  take(object, "rank", rank.rank);
  take(object, "file", rank.file);
  take(object, "rank_from_name", rank.rank_from_name);
  take_name(object, "steps_from", kSources, rank.steps_from, place);
  take(object, "steps", rank.steps);
  take(object, "activities", rank.activities);
  take(object, "lost_activities", rank.lost_activities);
  take(object, "cut_off", rank.cut_off);
  take(object, "wait_s", rank.wait_s);
  rank.in_steps = split_from_json(object, "in_steps");
  rank.gpu_span = split_from_json(object, "gpu_span");
  take(object, "host_steps", rank.host_steps);
  rank.host_windows = split_from_json(object, "host_windows");
  return rank;
}

TraceCollective collective_from_json(const json& object) {
  TraceCollective one;
  take(object, "index", one.index);
  take(object, "step", one.step);
  take(object, "kind", one.kind);
  take(object, "group", one.group);
  take(object, "sequence", one.sequence);
  take(object, "bytes", one.bytes);
  take(object, "ranks", one.ranks);
  take(object, "last_ranks", one.last_ranks);
  take(object, "late_s", one.late_s);
  take(object, "transfer_s", one.transfer_s);
  take(object, "shortest_rank", one.shortest_rank);
  take(object, "longest_wait_s", one.longest_wait_s);
  take(object, "longest_waiter", one.longest_waiter);
  take(object, "end_spread_s", one.end_spread_s);
  return one;
}

void note_from_json(const json& object, const Place& place, Notes& notes) {
  constexpr std::array kSeverities{Severity::info, Severity::assumption, Severity::loss};
  Note note;
  std::string code;
  take(object, "code", code);
  note.code = NoteId(code);
  take_name(object, "severity", kSeverities, note.severity, place);
  take(object, "count", note.count);
  take(object, "text", note.text);
  take(object, "file", note.first.file);
  take(object, "line", note.first.line);
  take(object, "column", note.first.column);
  take(object, "byte_offset", note.first.byte_offset);
  take(object, "what", note.first.what);
  notes.add(std::move(note));
}

template <typename Each>
void each_of(const json& object, const char* key, const Each& each) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return;
  // get<> makes a wrong kind an exception, as everywhere here; an object's values would not be.
  for (const json& element : found->get_ref<const json::array_t&>()) each(element);
}

}  // namespace

nlohmann::ordered_json trace_to_json(const TraceEvidence& trace) {
  Written object = {{"world_size", number(trace.world_size)},
                    {"pairing", to_string(trace.pairing)},
                    {"by_sequence", trace.by_sequence},
                    {"reason", trace.reason},
                    {"waits_separate", trace.waits_separate},
                    {"collectives", trace.collectives},
                    {"paired", trace.paired},
                    {"paired_share", trace.paired_share},
                    {"end_spread_s", number(trace.end_spread_s)},
                    {"end_tolerance_s", number(trace.end_tolerance_s)},
                    {"clock_offset_s", number(trace.clock_offset_s)},
                    {"nobody_late", trace.nobody_late}};
  for (const char* key : {"late", "ranks", "list"}) object[key] = Written::array();
  for (const TraceLate& late : trace.late) {
    object["late"].push_back({{"rank", late.rank},
                              {"collectives", late.collectives},
                              {"late_s", late.late_s},
                              {"first_late_s", late.first_late_s},
                              {"first_index", late.first_index}});
  }
  for (const TraceRank& rank : trace.ranks) object["ranks"].push_back(rank_to_json(rank));
  for (const TraceCollective& one : trace.list) object["list"].push_back(collective_to_json(one));
  return object;
}

TraceEvidence trace_from_json(const json& value, const Place& place) {
  constexpr std::array kPairings{TracePairing::none, TracePairing::paired, TracePairing::durations,
                                 TracePairing::refused};
  try {
    if (!value.is_object()) {
      throw Error(ErrorKind::format, "expected an object", place);
    }
    TraceEvidence trace;
    take(value, "world_size", trace.world_size);
    take_name(value, "pairing", kPairings, trace.pairing, place);
    take(value, "by_sequence", trace.by_sequence);
    take(value, "reason", trace.reason);
    take(value, "waits_separate", trace.waits_separate);
    take(value, "collectives", trace.collectives);
    take(value, "paired", trace.paired);
    take(value, "paired_share", trace.paired_share);
    take(value, "end_spread_s", trace.end_spread_s);
    take(value, "end_tolerance_s", trace.end_tolerance_s);
    take(value, "clock_offset_s", trace.clock_offset_s);
    take(value, "nobody_late", trace.nobody_late);
    each_of(value, "late", [&](const json& element) {
      TraceLate late;
      take(element, "rank", late.rank);
      take(element, "collectives", late.collectives);
      take(element, "late_s", late.late_s);
      take(element, "first_late_s", late.first_late_s);
      take(element, "first_index", late.first_index);
      trace.late.push_back(late);
    });
    each_of(value, "ranks",
            [&](const json& element) { trace.ranks.push_back(rank_from_json(element, place)); });
    each_of(value, "list",
            [&](const json& element) { trace.list.push_back(collective_from_json(element)); });
    return trace;
  } catch (const json::exception& problem) {
    refuse(problem, place);
  }
}

nlohmann::ordered_json notes_to_json(const Notes& notes) {
  Written list = Written::array();
  for (const Note& note : notes.all()) list.push_back(note_to_json(note));
  return list;
}

void notes_from_json(const json& value, const Place& place, Notes& notes) {
  try {
    for (const json& element : value.get_ref<const json::array_t&>()) {
      note_from_json(element, place, notes);
    }
  } catch (const json::exception& problem) {
    refuse(problem, place);
  }
}

namespace {

Written parts_to_json(const std::vector<PipelineReplay::Part>& parts) {
  Written list = Written::array();
  for (const PipelineReplay::Part& part : parts) {
    list.push_back({{"name", part.name}, {"slowdown", part.slowdown}});
  }
  return list;
}

std::vector<PipelineReplay::Part> parts_from_json(const json& object, const char* key) {
  std::vector<PipelineReplay::Part> parts;
  each_of(object, key, [&](const json& element) {
    PipelineReplay::Part& part = parts.emplace_back();
    take(element, "name", part.name);
    take(element, "slowdown", part.slowdown);
  });
  return parts;
}

}  // namespace

nlohmann::ordered_json replay_to_json(const PipelineReplay& replay) {
  return {{"steps", replay.steps},
          {"recorded_step_s", replay.recorded_step_s},
          {"replayed_step_s", replay.replayed_step_s},
          {"ideal_step_s", replay.ideal_step_s},
          {"balanced_stages_step_s", replay.balanced_stages_step_s},
          {"no_waits_step_s", replay.no_waits_step_s},
          {"worst_rank", number(replay.worst_rank)},
          {"worst_rank_at_peers_step_s", replay.worst_rank_at_peers_step_s},
          {"by_dp", parts_to_json(replay.by_dp)},
          {"by_stage", parts_to_json(replay.by_stage)},
          {"by_op_type", parts_to_json(replay.by_op_type)}};
}

PipelineReplay replay_from_json(const json& value, const Place& place) {
  try {
    PipelineReplay replay;
    take(value, "steps", replay.steps);
    take(value, "recorded_step_s", replay.recorded_step_s);
    take(value, "replayed_step_s", replay.replayed_step_s);
    take(value, "ideal_step_s", replay.ideal_step_s);
    take(value, "balanced_stages_step_s", replay.balanced_stages_step_s);
    take(value, "no_waits_step_s", replay.no_waits_step_s);
    take(value, "worst_rank", replay.worst_rank);
    take(value, "worst_rank_at_peers_step_s", replay.worst_rank_at_peers_step_s);
    replay.by_dp = parts_from_json(value, "by_dp");
    replay.by_stage = parts_from_json(value, "by_stage");
    replay.by_op_type = parts_from_json(value, "by_op_type");
    const bool sound =
        replay.recorded_step_s > 0.0 && replay.replayed_step_s > 0.0 && replay.ideal_step_s > 0.0;
    if (!sound) throw Error(ErrorKind::format, "a replay whose steps have no length", place);
    return replay;
  } catch (const json::exception&) {
    throw Error(ErrorKind::format, "a value has the wrong type", place,
                "reduce the timeline again with this version");
  }
}

}  // namespace mfu
