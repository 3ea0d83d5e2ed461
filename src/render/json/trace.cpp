// The key `trace` of a diagnosis.
#include "render/json/sections.hpp"
#include "report/diagnose/trace_section.hpp"

namespace mfu::render {
namespace {

Json split_of(const TraceSplit& split) {
  return {{"window_s", number(split.window_s)},
          {"compute_s", number(split.compute_s)},
          {"exposed_comm_s", number(split.exposed_comm_s)},
          {"exposed_memory_s", number(split.exposed_memory_s)},
          {"idle_s", number(split.idle_s)},
          {"overlapped_comm_s", number(split.overlapped_comm_s)}};
}

Json share_of(const TraceSplit& split) {
  return split.window_s > 0 ? number(split.idle_s / split.window_s) : Json(nullptr);
}

Json rank_of(const TraceRank& rank) {
  Json values = {{"rank", rank.rank},
                 {"file", rank.file},
                 {"rank_from_name", rank.rank_from_name},
                 {"steps_from", to_string(rank.steps_from)},
                 {"steps", rank.steps},
                 {"activities", rank.activities},
                 {"lost_activities", rank.lost_activities},
                 {"cut_off", rank.cut_off},
                 {"wait_s", number(rank.wait_s)},
                 {"in_steps", rank.steps > 0 ? split_of(rank.in_steps) : Json(nullptr)},
                 {"gpu_span", split_of(rank.gpu_span)},
                 {"idle_share_of_gpu_span", share_of(rank.gpu_span)},
                 {"host_steps", rank.host_steps},
                 {"host_windows", nullptr},
                 {"idle_share_of_host_windows", nullptr}};
  if (rank.host_steps > 0) {
    values["host_windows"] = split_of(rank.host_windows);
    values["idle_share_of_host_windows"] = share_of(rank.host_windows);
  }
  return values;
}

Json collective_of(const TraceCollective& one) {
  return {{"index", one.index},
          {"step", one.step},
          {"kind", one.kind},
          {"group", text(one.group)},
          {"sequence", number(one.sequence)},
          {"bytes", number(one.bytes)},
          {"ranks", one.ranks},
          {"last_rank", one.last_ranks.size() == 1 ? Json(one.last_ranks.front()) : Json(nullptr)},
          {"last_ranks", one.last_ranks},
          {"late_s", number(one.late_s)},
          {"transfer_s", number(one.transfer_s)},
          {"shortest_rank", one.shortest_rank},
          {"longest_wait_s", number(one.longest_wait_s)},
          {"longest_waiter", one.longest_waiter},
          {"end_spread_s", number(one.end_spread_s)}};
}

}  // namespace

void json_trace(Json& object, const TraceSection& section) {
  const TraceEvidence& trace = section.evidence;
  Json values = {{"pairing", to_string(trace.pairing)},
                 {"reason", text(trace.reason)},
                 {"paired_by", trace.paired == 0 ? Json(nullptr)
                                                 : Json(trace.by_sequence ? "sequence" : "order")},
                 {"world_size", number(trace.world_size)},
                 {"waits_separate", trace.waits_separate},
                 {"collectives", trace.collectives},
                 {"paired", trace.paired},
                 {"paired_share", number(trace.paired_share)},
                 {"end_spread_s", number(trace.end_spread_s)},
                 {"end_tolerance_s", number(trace.end_tolerance_s)},
                 {"clock_offset_s", number(trace.clock_offset_s)},
                 {"nobody_late", trace.nobody_late}};
  values["late"] = Json::array();
  for (const TraceLate& late : trace.late) {
    values["late"].push_back({{"rank", late.rank},
                              {"collectives", late.collectives},
                              {"late_s", number(late.late_s)},
                              {"first_late_s", number(late.first_late_s)},
                              {"first_index", late.first_index}});
  }
  values["ranks"] = Json::array();
  for (const TraceRank& rank : trace.ranks) values["ranks"].push_back(rank_of(rank));
  values["list"] = Json::array();
  for (const TraceCollective& one : trace.list) values["list"].push_back(collective_of(one));
  // All are counted above; only so many are listed.
  values["not_listed"] = trace.paired - static_cast<std::int64_t>(trace.list.size());
  values["summary"] = Json::array();
  for (const TraceSection::Line& line : section.lines) {
    values["summary"].push_back(line.label + ": " + line.text);
  }
  object["trace"] = std::move(values);
}

}  // namespace mfu::render
