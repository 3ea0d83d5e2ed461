// history as JSON.
#include <cmath>

#include "render/json/sections.hpp"
#include "report/compare/history_section.hpp"

namespace mfu::render {
namespace {

Json entry_of(const HistoryEntry& entry) {
  return {{"job", entry.job},
          {"fingerprint", to_text(entry.fingerprint)},
          {"command", text(entry.command)},
          {"label", text(entry.label)},
          {"time", text(entry.time)},
          {"statistic", text(entry.statistic)},
          {"mfu", number(entry.mfu)},
          {"step_seconds", number(entry.step_seconds)},
          {"tokens_per_second", number(entry.tokens_per_second)},
          {"gpus", number(entry.gpus)},
          {"model", text(entry.model)},
          {"chip", text(entry.chip)},
          {"verdict", text(entry.verdict)},
          {"line", entry.line}};
}

// A level as the series has it: an MFU, or seconds of a step.
Json level(const HistorySeries& series, double log_speed) {
  Json values = {{"mfu", nullptr}, {"step_seconds", nullptr}};
  values[series.has_mfu ? "mfu" : "step_seconds"] =
      std::exp(series.has_mfu ? log_speed : -log_speed);
  return values;
}

Json baseline_of(const HistorySeries& series, const std::string& words) {
  Json values = {{"job", series.job},
                 {"fingerprint", to_text(series.fingerprint)},
                 {"command", text(series.entries.front().command)},
                 {"gpus", number(series.entries.front().gpus)}};
  if (!series.baseline) {
    values["mfu"] = nullptr;
    values["step_seconds"] = nullptr;
    values["missing"] = words;
  } else {
    values.update(level(series, series.baseline->log_middle));
    values["entries"] = series.baseline->entries;
    values["relative_scatter"] = std::expm1(series.baseline->log_sigma);
  }
  Json changes = Json::array();
  for (const HistoryChange& change : series.changes) {
    const HistoryEntry& entry = series.entries[series.speed_entry[change.index]];
    changes.push_back({{"line", entry.line},
                       {"label", text(entry.label)},
                       {"time", text(entry.time)},
                       {"before", level(series, change.log_before)},
                       {"after", level(series, change.log_after)},
                       {"speed", std::expm1(change.log_after - change.log_before)}});
  }
  values["changes"] = std::move(changes);
  return values;
}

}  // namespace

void json_history(Json& object, const HistorySection& section) {
  Json entries = Json::array();
  Json baselines = Json::array();
  for (std::size_t i = 0; i < section.series.size(); ++i) {
    for (const HistoryEntry& entry : section.series[i].entries) entries.push_back(entry_of(entry));
    baselines.push_back(baseline_of(section.series[i], section.texts[i].baseline));
  }
  if (section.action == HistoryAction::against) {
    Json values = {{"job", section.job}, {"summary", section.against_line}};
    values["baseline"] = baselines.empty() ? Json(nullptr) : baselines.front();
    const bool known = section.against.has_value();
    values["speed"] = known ? Json(std::expm1(section.against->log_ratio)) : Json(nullptr);
    values["speed_ci"] = known ? Json::array({std::expm1(section.against->log_ci.lo),
                                              std::expm1(section.against->log_ci.hi)})
                               : Json(nullptr);
    object["history"] = std::move(values);
    return;
  }
  object["action"] = to_string(section.action);
  object["entries"] = std::move(entries);
  // One job: its baseline; several: of each.
  object["baseline"] = baselines.size() == 1 ? baselines.front() : Json(nullptr);
  object["baselines"] = std::move(baselines);
}

}  // namespace mfu::render
