// log as JSON: what calc has for the headline's step, and the steps behind it.
#include "render/json/sections.hpp"
#include "report/measure/log_section.hpp"

namespace mfu::render {
namespace {

Json segments_of(const LogSummary& summary) {
  Json list = Json::array();
  for (const SegmentSummary& segment : summary.segments) {
    list.push_back({{"number", segment.number},
                    {"first_line", segment.first_line},
                    {"first_step", segment.first_iteration},
                    {"last_step", segment.last_iteration},
                    {"steps", segment.steps},
                    {"used", segment.used},
                    {"change", number(segment.change)}});
  }
  return list;
}

Json levels_of(const std::optional<LogLevels>& levels) {
  if (!levels) return nullptr;
  return {{"slow_share", number(levels->slow_share)},
          {"time_share", number(levels->time_share)},
          {"slow_over_quick", number(levels->slow_cost / levels->quick_cost)},
          {"period_lines", number(levels->period_lines)}};
}

Json steps_of(const LogSection& section) {
  const LogSummary& s = section.summary;
  const LeftOutSteps& out = s.left_out;
  Json values = {
      {"used", s.used},
      {"left_out", out.total()},
      {"warmup", out.warmup},
      {"p50_seconds", number(section.p50_seconds)},
      {"mean_seconds", number(section.mean_seconds)},
      {"p95_seconds", number(section.p95_seconds)},
      {"outlier_share", number(s.outliers.time_share)},
      {"period_steps", number(s.outliers.period_steps)},
      {"segments", segments_of(s)},
      {"p50_seconds_ci", interval_of(section.p50_seconds_ci)},
      {"p50_relative_ci", interval_of(s.median_relative())},
      {"mean_over_p50", number(s.mean_cost / s.median_cost)},
      {"mean_relative_ci", section.spread ? interval_of(section.spread->mean) : Json(nullptr)},
      {"slow_steps_relative_ci",
       section.spread ? interval_of(section.spread->slow_steps) : Json(nullptr)},
      {"lines", s.lines},
      {"steps_a_line", s.steps_a_line},
      {"first_step", s.first_iteration},
      {"last_step", s.last_iteration},
      {"basis", to_string(s.basis)},
      {"outliers", s.outliers.count},
      {"outlier_excess_share", number(s.outliers.excess_share)},
      {"outliers_beside_pauses", s.outliers.beside_pauses},
      {"period_seconds", number(s.outliers.period_seconds)},
      {"levels", levels_of(s.levels)},
      {"drift", s.drift ? number(s.drift->change) : Json(nullptr)}};
  values["left_out_by_reason"] = {{"warmup", out.warmup},           {"skipped", out.skipped},
                                  {"too_short", out.too_short},     {"over_peak", out.over_peak},
                                  {"other_batch", out.other_batch}, {"without_time", out.without}};
  Json pauses = Json::array();
  for (const PauseSummary& pause : s.pauses) {
    pauses.push_back({{"kind", pause.kind},
                      {"count", pause.count},
                      {"timed", pause.timed},
                      {"seconds", pause.timed > 0 ? number(pause.seconds) : Json(nullptr)}});
  }
  values["pauses"] = std::move(pauses);
  Json missing = Json::object();
  if (!section.p50_seconds) {
    for (const char* key : {"p50_seconds", "mean_seconds", "p95_seconds"}) {
      missing[key] = section.seconds_missing;
    }
  }
  if (!section.p50_seconds_ci) {
    missing["p50_seconds_ci"] =
        s.interval_known ? section.seconds_missing : "fewer than 5 lines count";
  }
  if (!section.spread) {
    missing["mean_relative_ci"] = "fewer than 5 lines count";
    missing["slow_steps_relative_ci"] = "fewer than 5 lines count";
  }
  if (!s.outliers.period_steps) {
    missing["period_steps"] = "no number of steps fits the slow ones better than chance would";
  }
  values["missing"] = std::move(missing);
  return values;
}

Json reported_of(const LogSection& section) {
  Json values = {{"mfu", nullptr}, {"tflops", nullptr}, {"reproduced_by", nullptr}};
  Json figures = Json::array();
  for (std::size_t i = 0; i < section.reported.size(); ++i) {
    const LoggedFigure& figure = section.reported[i];
    Json& place = values[figure.is_ratio ? "mfu" : "tflops"];
    if (place.is_null()) place = figure.is_ratio ? figure.value : figure.value / 1e12;
    const Match* match = figure.match();
    figures.push_back(
        {{"kind", figure.is_ratio   ? "mfu"
                  : figure.hardware ? "hardware-flops"
                                    : "model-flops"},
         {"value", number(figure.value)},
         {"against_flops", number(figure.against_flops)},
         {"recounted", figure.recounted},
         {"convention", match != nullptr && match->convention != nullptr
                            ? Json(match->convention->id)
                            : Json(nullptr)},
         {"relative_error", match != nullptr ? number(match->relative_error) : Json(nullptr)},
         {"ties", figure.detection.ties},
         {"text", section.reported_texts[i]}});
  }
  if (section.reproduced_by) values["reproduced_by"] = *section.reproduced_by;
  if (section.reported.empty()) {
    values["missing"] = "the log prints neither an MFU nor FLOP/s";
  } else if (!section.reproduced_by) {
    values["missing"] = section.reported_texts.front();
  }
  values["figures"] = std::move(figures);
  return values;
}

}  // namespace

void json_log(Json& object, const LogSection& section) {
  json_calc(object, section.calc);
  object["setup"]["reference"] = to_string(section.summary.statistic);
  object["setup"]["missing"].erase("reference");
  Json& headline = object["headline"];
  headline["statistic"] = to_string(section.summary.statistic);
  headline["usual_step_seconds"] = number(section.p50_seconds);
  headline["p95_seconds"] = number(section.p95_seconds);
  headline["wall_seconds"] = number(section.wall_seconds);
  if (!section.wall_seconds) {
    headline["wall_seconds_missing"] = "the lines of the steps have no time stamps";
  }
  object["setup"]["format"] = section.format;
  Json layout = Json::object();
  for (const auto& [axis, size] : section.parallel) layout[axis] = size;
  object["setup"]["layout"] = std::move(layout);
  object["steps"] = steps_of(section);
  object["reported"] = reported_of(section);
  Json sources = Json::array();
  for (const LogSource& source : section.sources) {
    sources.push_back({{"what", source.what}, {"value", source.value}, {"from", source.from}});
  }
  object["sources"] = std::move(sources);
}

}  // namespace mfu::render
