// The key `replay` of a diagnosis.
#include "render/json/sections.hpp"
#include "report/diagnose/trace_section.hpp"

namespace mfu::render {
namespace {

Json parts_of(const std::vector<PipelineReplay::Part>& parts) {
  Json object = Json::object();
  for (const PipelineReplay::Part& part : parts) object[part.name] = number(part.slowdown);
  return object;
}

}  // namespace

void json_replay(Json& object, const ReplaySection& section) {
  const PipelineReplay& r = section.replay;
  object["replay"] = {{"steps", r.steps},
                      {"recorded_step_seconds", number(r.recorded_step_s)},
                      {"replayed_step_seconds", number(r.replayed_step_s)},
                      {"ideal_step_seconds", number(r.ideal_step_s)},
                      {"slowdown", number(r.slowdown())},
                      {"launch_slowdown", number(r.launch_slowdown())},
                      {"balanced_stages_step_seconds",
                       r.by_stage.size() > 1 ? number(r.balanced_stages_step_s) : Json(nullptr)},
                      {"no_waits_step_seconds", number(r.no_waits_step_s)},
                      {"worst_rank", number(r.worst_rank)},
                      {"worst_rank_at_peers_step_seconds",
                       r.worst_rank ? number(r.worst_rank_at_peers_step_s) : Json(nullptr)},
                      {"slowdown_by_dp", parts_of(r.by_dp)},
                      {"slowdown_by_stage", parts_of(r.by_stage)},
                      {"slowdown_by_op_type", parts_of(r.by_op_type)}};
}

}  // namespace mfu::render
