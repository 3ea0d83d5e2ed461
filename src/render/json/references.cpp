// Where a measurement stands among published ones, as JSON.
#include "render/json/sections.hpp"
#include "report/measure/references_section.hpp"

namespace mfu::render {
namespace {

std::string_view standing_id(Standing standing) {
  switch (standing) {
    case Standing::reproduced:
      return "reproduced";
    case Standing::fitted:
      return "fitted";
    case Standing::not_reproduced:
      return "not-reproduced";
    case Standing::not_checkable:
      return "not-checkable";
  }
  return "";
}

}  // namespace

void json_references(Json& object, const std::optional<ReferencesSection>& section) {
  if (!section) {
    object["reference_points"] = nullptr;
    return;
  }
  const ReferencePlacement& placement = section->placement;
  Json nearest = Json::array();
  for (std::size_t i = 0; i < placement.nearest.size(); ++i) {
    const ReferencePoint& point = *placement.nearest[i].point;
    nearest.push_back({{"id", point.id},
                       {"model", text(point.model)},
                       {"system", text(point.system)},
                       {"chip", text(point.chip)},
                       {"gpus", positive(point.gpus)},
                       {"params", positive(point.params)},
                       {"seq_len", positive(point.seq_len)},
                       {"mfu", positive(point.mfu)},
                       {"convention", text(point.convention)},
                       {"standing", standing_id(point.standing)},
                       {"restated_mfu", number(placement.nearest[i].restated)},
                       {"source", text(point.source)},
                       {"date", text(point.date)},
                       {"note", text(point.note)},
                       {"text", section->texts[i]}});
  }
  object["reference_points"] = {{"usual_range", {kUsualLow, kUsualHigh}},
                                {"position", placement.position < 0   ? "below"
                                             : placement.position > 0 ? "above"
                                                                      : "within"},
                                {"summary", text(section->line)},
                                {"nearest", std::move(nearest)}};
}

}  // namespace mfu::render
