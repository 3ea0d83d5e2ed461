// The parts of the JSON report that stand in files of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/json/values.hpp"

namespace mfu {
struct CalcSection;
struct CompareSection;
struct DiagnoseSection;
struct FlopsSection;
struct HealthFact;
struct HistorySection;
struct ListSection;
struct LogSection;
struct PeakSection;
struct Placement;
struct PlanSection;
struct ReferencesSection;
struct ReplaySection;
struct TraceSection;
struct WorthSection;
}  // namespace mfu

namespace mfu::render {

void json_health(Json& object, const DiagnoseSection& section);
[[nodiscard]] Json health_facts(const std::vector<HealthFact>& facts,
                                const std::vector<std::string>& words);
void json_calc(Json& object, const CalcSection& section);
void json_flops(Json& object, const FlopsSection& section);
void json_peak(Json& object, const PeakSection& section);
void json_plan(Json& object, const PlanSection& section);
void json_replay(Json& object, const ReplaySection& section);
void json_placement(Json& object, const Placement& placement);
void json_worth(Json& object, const WorthSection& section);
void json_trace(Json& object, const TraceSection& section);
void json_compare(Json& object, const CompareSection& section);
void json_history(Json& object, const HistorySection& section);
// null: it was not placed, for want of an MFU.
void json_references(Json& object, const std::optional<ReferencesSection>& section);
void json_log(Json& object, const LogSection& section);
void json_list(Json& object, const ListSection& section);

}  // namespace mfu::render
