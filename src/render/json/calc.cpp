// calc, whatif, flops, list and explain as JSON.
#include <string>

#include "render/json/sections.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/flops_section.hpp"

namespace mfu::render {
namespace {

Json precision_of(const std::optional<Precision>& precision) {
  return precision ? Json(to_string(*precision)) : Json(nullptr);
}

// Keys without a value, each with the reason.
Json setup_missing(const CalcSection& section, const Json& values) {
  const CalcInput& input = section.calculation.input;
  Json reasons = Json::object();
  const auto reason = [&](const char* key, const char* why) {
    if (values.at(key).is_null()) reasons[key] = why;
  };
  reason("model", "no --model is given");
  reason("params", "neither --model nor --params is given");
  reason("active_params", "the shape of the model is not known");
  reason("chip", "no --chip is given");
  reason("gpus", "--gpus is not given");
  reason("precision", "neither --precision nor --chip is given");
  reason("peak_flops_per_gpu", "neither --chip nor --peak is given");
  reason("clock", "the peak does not come from the chip table");
  reason("clock_mhz", input.peak && input.peak->given
                          ? "the peak is given, not worked out from a clock"
                          : "no peak, so no clock");
  reason("convention", "nothing was counted: the TFLOP/s are as given");
  reason("seq_len", "--seq-len is not given");
  reason("tokens_per_step", "neither --tokens-per-step nor --batch and --seq-len are given");
  reason("flops_per_step", "tokens per step or FLOPs per token are not known");
  reason("reference", "one measurement, no ranks");
  reason("global_batch", "--batch is not given");
  reason("microbatches", "--accumulation is not given");
  reason("params_used", "nothing was counted from parameters");
  return reasons;
}

Json setup_of(const CalcSection& section) {
  const Calculation& c = section.calculation;
  const CalcInput& input = c.input;
  const std::optional<PeakUsed>& peak = input.peak;
  const ConventionResult* chosen = c.results.empty() ? nullptr : &c.results.front();
  std::optional<double> params = input.params;
  if (!params && c.parameters) params = c.parameters->total;
  std::optional<double> active;
  if (c.parameters) active = c.parameters->active;
  std::optional<double> work;
  if (chosen != nullptr && c.tokens_per_step) {
    const std::optional<double>& each =
        chosen->flops_per_token ? chosen->flops_per_token : chosen->hardware_flops_per_token;
    if (each) work = *each * *c.tokens_per_step;
  }
  const bool from_table = peak && !peak->given;
  Json values = {
      {"model", text(input.model ? std::string_view(input.model->name) : std::string_view())},
      {"params", number(params)},
      {"active_params", number(active)},
      {"chip", text(peak && peak->chip != nullptr ? peak->chip->id : std::string_view())},
      {"gpus", number(input.gpus)},
      {"precision", peak ? text(precision_text(*peak)) : Json(nullptr)},
      {"peak_flops_per_gpu", peak ? number(peak->flops) : Json(nullptr)},
      {"clock", from_table ? text(to_string(peak->clock.rule)) : Json(nullptr)},
      {"clock_mhz", peak ? number(peak->clock_mhz) : Json(nullptr)},
      {"convention",
       text(chosen != nullptr ? std::string_view(chosen->convention->id) : std::string_view())},
      {"fingerprint", to_text(section.fingerprint)},
      {"seq_len", number(input.seq_len)},
      {"tokens_per_step", number(c.tokens_per_step)},
      {"flops_per_step", number(work)},
      {"reference", nullptr},
      {"peak_given", peak && peak->given},
      {"global_batch", number(input.batch)},
      {"microbatches", number(input.accumulation)},
      {"params_used",
       chosen != nullptr && chosen->params > 0 ? number(chosen->params) : Json(nullptr)},
  };
  values["missing"] = setup_missing(section, values);
  return values;
}

Json results_of(const Calculation& c) {
  Json list = Json::array();
  for (const ConventionResult& result : c.results) {
    list.push_back({{"convention", result.convention->id},
                    {"flops_per_token", number(result.flops_per_token)},
                    {"hardware_flops_per_token", number(result.hardware_flops_per_token)},
                    {"model_flops_per_second_per_gpu", number(result.flops_per_second)},
                    {"hardware_flops_per_second_per_gpu", number(result.hardware_flops_per_second)},
                    {"mfu", number(result.mfu)},
                    {"hfu", number(result.hfu)},
                    {"settings", result.settings}});
  }
  return list;
}

Json headline_of(const CalcSection& section) {
  const Calculation& c = section.calculation;
  Json values = {
      {"mfu", number(c.mfu())},
      {"hfu", c.results.empty() ? Json(nullptr) : number(c.results.front().hfu)},
      {"step_seconds", number(c.step_seconds)},
      {"tokens_per_second", number(c.tokens_per_second)},
      {"status", to_string(section.status)},
      {"tokens_per_second_per_gpu", number(c.tokens_per_second_per_gpu)},
      {"achieved_flops_per_second_per_gpu", number(c.achieved_flops)},
  };
  if (!section.mfu_missing.empty()) values["mfu_missing"] = section.mfu_missing;
  if (values["hfu"].is_null()) {
    values["hfu_missing"] = c.results.empty() ? "no model, so nothing was recounted"
                            : !c.input.peak   ? "HFU needs the peak"
                                              : "the convention defines no recomputation here";
  }
  if (values["step_seconds"].is_null()) {
    values["step_seconds_missing"] = "neither --step-time nor the tokens per step are given";
  }
  if (values["tokens_per_second"].is_null()) {
    values["tokens_per_second_missing"] = "the throughput of the whole job is not known";
  }
  if (!section.impossible_because.empty()) {
    values["impossible_because"] = section.impossible_because;
  }
  return values;
}

Json peaks_of(const CalcSection& section) {
  Json list = Json::array();
  for (std::size_t i = 0; i < section.peaks.size(); ++i) {
    const PeakRow& row = section.peaks[i];
    list.push_back(
        {{"chip", text(row.chip != nullptr ? row.chip->id : std::string_view())},
         {"precision", row.mix.empty() ? precision_of(row.precision) : Json(to_text(row.mix))},
         {"clock", row.clock ? text(to_string(*row.clock)) : Json(nullptr)},
         {"clock_mhz", row.clock && row.clock_mhz > 0.0 ? number(row.clock_mhz) : Json(nullptr)},
         {"dense", row.dense},
         {"peak_flops_per_gpu", number(row.flops)},
         {"mfu", number(row.mfu)},
         {"used", row.used},
         {"name", section.peak_texts[i]}});
  }
  return list;
}

void add_matches(Json& object, const CalcSection& section) {
  const Detection& detection = *section.detection;
  Json list = Json::array();
  for (std::size_t i = 0; i < detection.matches.size(); ++i) {
    const Match& match = detection.matches[i];
    list.push_back({{"hypothesis", section.match_texts[i]},
                    {"convention",
                     text(match.convention != nullptr ? match.convention->id : std::string_view())},
                    {"peak_flops_per_gpu",
                     detection.reported.is_ratio ? number(match.peak.flops) : Json(nullptr)},
                    {"value", number(match.value)},
                    {"relative_error", number(match.relative_error)},
                    {"changes", match.departures},
                    {"tied", match.tied}});
  }
  object["matches"] = std::move(list);
  object["reported"] = {{"kind", detection.reported.is_ratio ? "mfu" : "flops_per_second_per_gpu"},
                        {"value", number(detection.reported.value)},
                        {"tolerance", number(detection.tolerance)},
                        {"tried", detection.tried},
                        {"ties", detection.ties},
                        {"summary", section.detection_line}};
}

Json total_of(const FlopsTotal& total, const std::optional<double>& tokens) {
  const auto step = [&](const std::optional<double>& each) {
    return each && tokens ? number(*each * *tokens) : Json(nullptr);
  };
  return {{"convention", total.convention->id},
          {"flops_per_token", number(total.flops_per_token)},
          {"hardware_flops_per_token", number(total.hardware_flops_per_token)},
          {"flops_per_step", step(total.flops_per_token)},
          {"hardware_flops_per_step", step(total.hardware_flops_per_token)}};
}

}  // namespace

void json_calc(Json& object, const CalcSection& section) {
  if (section.rebase) {
    const Rebase& rebase = *section.rebase;
    object["headline"] = {{"mfu", number(rebase.mfu())}, {"status", to_string(section.status)}};
    if (!section.impossible_because.empty()) {
      object["headline"]["impossible_because"] = section.impossible_because;
    }
    object["rebase"] = {{"from_mfu", number(rebase.from_mfu)},
                        {"from_peak_flops_per_gpu", number(rebase.from_peak_flops)},
                        {"to_peak_flops_per_gpu", number(rebase.to_peak_flops)},
                        {"achieved_flops_per_second_per_gpu", number(rebase.achieved_flops())},
                        {"mfu", number(rebase.mfu())}};
    object["advice"] = section.advice;
    return;
  }
  object["setup"] = setup_of(section);
  object["results"] = results_of(section.calculation);
  object["headline"] = headline_of(section);
  if (section.what_if || !section.peaks.empty()) object["peaks"] = peaks_of(section);
  if (section.what_if) {
    Json left_out = Json::array();
    for (const LeftOutConvention& out : section.calculation.left_out) {
      left_out.push_back({{"convention", out.convention->id}, {"reason", out.reason}});
    }
    object["left_out"] = std::move(left_out);
  }
  if (section.detection) add_matches(object, section);
  object["advice"] = section.advice;
}

void json_flops(Json& object, const FlopsSection& section) {
  object["setup"] = {
      {"model", section.model},
      {"params", section.parameters ? number(section.parameters->total) : Json(nullptr)},
      {"active_params", section.parameters ? number(section.parameters->active) : Json(nullptr)},
      {"params_used", section.params > 0 ? number(section.params) : Json(nullptr)},
      {"convention", section.convention->id},
      {"settings", section.settings},
      {"seq_len", number(section.seq_len)},
      {"tokens_per_step", number(section.tokens_per_step)}};
  Json list = Json::array();
  for (std::size_t i = 0; i < section.components.size(); ++i) {
    const Component& component = section.components[i];
    const double both = component.forward + component.backward;
    Json entry = {{"id", component.id},
                  {"forward_flops_per_token", number(component.forward)},
                  {"backward_flops_per_token", number(component.backward)},
                  {"share", number(both / section.components_total.value_or(0.0))}};
    if (section.tokens_per_step) entry["flops_per_step"] = number(both * *section.tokens_per_step);
    list.push_back(std::move(entry));
  }
  object["components"] = std::move(list);
  object["components_of"] = text(section.components_line);
  object["components_total"] = number(section.components_total);
  object["total"] = total_of(section.total, section.tokens_per_step);
  Json results = Json::array({total_of(section.total, section.tokens_per_step)});
  for (const FlopsTotal& other : section.others) {
    results.push_back(total_of(other, section.tokens_per_step));
  }
  object["results"] = std::move(results);
}

void json_list(Json& object, const ListSection& section) {
  Json items = Json::array();
  for (const Item& item : section.items) {
    items.push_back({{"id", item.id},
                     {"title", text(item.title)},
                     {"text", text(item.text)},
                     {"source", text(item.source)}});
  }
  object["items"] = std::move(items);
}

}  // namespace mfu::render
