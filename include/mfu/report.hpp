// Report: one result, many renderers. It holds numbers and finished sentences; a renderer only
// places them. Unknown is std::nullopt, never zero.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mfu/boxed.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"

namespace mfu {

struct Gate {
  std::string id;     // "min-mfu", "fail-on"
  std::string limit;  // as the user gave it
  std::optional<double> value;
  std::string value_text;
  bool passed = false;
};

// What a command found, with its words. What they hold is the renderers' business.
struct CalcSection;
struct CompareSection;
struct DiagnoseSection;
struct FlopsSection;
struct HistorySection;
struct ListSection;
struct LogSection;
struct PeakSection;
struct PlanSection;
struct ScoresSection;

struct Report {
  std::string tool_version;
  std::string command;
  std::vector<InputInfo> inputs;
  std::vector<Note> notes;
  std::vector<Gate> gates;
  int exit_code = 0;
  Boxed<DiagnoseSection> diagnose;
  Boxed<ScoresSection> scores;  // of diagnose, where a log has nothing else
  Boxed<CalcSection> calc;
  Boxed<FlopsSection> flops;
  Boxed<PeakSection> peak;
  Boxed<LogSection> log;
  Boxed<PlanSection> plan;
  Boxed<CompareSection> compare;
  Boxed<HistorySection> history;
  Boxed<ListSection> list;
};

struct Calculation;
struct Comparison;
struct Diagnosis;
struct Plan;
struct RunTimings;

// A result in words: the report that the command of the same name makes of it, without the inputs,
// the notes and the gates, which only the caller knows. find_renderer() (render.hpp) makes text or
// JSON of it. Pure.
//
// `run`: that the diagnosis is of. Throw Error for what has no answer: inputs that are missing or
// contradict each other (Calculation, Plan), two that do not compare (Comparison); the first of
// what calc_problems() lists.
[[nodiscard]] Report describe(const Diagnosis& diagnosis, const RunTimings& run);
[[nodiscard]] Report describe(const Calculation& calculation);
[[nodiscard]] Report describe(const Comparison& comparison);
[[nodiscard]] Report describe(const Plan& plan);

// Which of the inputs are missing or contradict each other, each with the way out; empty: none.
[[nodiscard]] std::vector<Error> calc_problems(const Calculation& calculation);

}  // namespace mfu
