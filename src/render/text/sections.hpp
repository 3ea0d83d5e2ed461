// The parts of the text screen that stand in files of their own.
#pragma once

#include <string>
#include <vector>

#include "render/text/screen.hpp"

namespace mfu {
struct CalcSection;
struct CompareSection;
struct FlopsSection;
struct HistorySection;
struct ListSection;
struct LogSection;
struct PeakSection;
struct PlanSection;
struct ReplaySection;
struct TraceSection;
struct WorthSection;
}  // namespace mfu

namespace mfu::render {

void text_impossible(Screen& screen, const std::vector<std::string>& because);
void text_calc(Screen& screen, const CalcSection& section);
void text_flops(Screen& screen, const FlopsSection& section);
void text_peak(Screen& screen, const PeakSection& section);
void text_plan(Screen& screen, const PlanSection& section);
void text_replay(Screen& screen, const ReplaySection& section);
void text_worth(Screen& screen, const WorthSection& section);
void text_trace(Screen& screen, const TraceSection& section);
// The table of the same run by other conventions.
void text_conventions(Screen& screen, const CalcSection& section);
void text_compare(Screen& screen, const CompareSection& section);
void text_history(Screen& screen, const HistorySection& section);
// One measurement beside its history.
void text_against(Screen& screen, const HistorySection& section);
void text_log(Screen& screen, const LogSection& section);
void text_list(Screen& screen, const ListSection& section);

}  // namespace mfu::render
