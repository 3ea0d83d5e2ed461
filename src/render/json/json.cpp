// `mfu.report/1`: one object, stable key order, SI units. Unknown is null, with the reason beside
// it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "render/json/sections.hpp"
#include "render/json/values.hpp"
#include "render/renderers.hpp"
#include "render/rows.hpp"
#include "report/compare/compare_section.hpp"
#include "report/compare/history_section.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/scores_section.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/flops_section.hpp"
#include "report/measure/log_section.hpp"
#include "report/measure/peak_section.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu {
namespace {

using render::Json;
using render::number;
using render::text;

Json interval(const Interval& value) { return Json::array({number(value.lo), number(value.hi)}); }

// Reasons for the nulls of `setup`, by key.
Json setup_missing(const Setup& setup, const Json& values) {
  Json reasons = Json::object();
  const auto reason = [&](const char* key, const char* why) {
    if (values.at(key).is_null()) reasons[key] = why;
  };
  reason("model", "the file names no model");
  reason("params", "the work is given directly: no model was counted");
  reason("active_params", "the work is given directly: no model was counted");
  reason("chip", "the file has no hardware.chip");
  reason("precision", "the file has no hardware.precision");
  reason("peak_flops_per_gpu", "neither a chip with a precision nor hardware.peak_tflops is given");
  reason("clock_mhz", setup.peak_given ? "the peak is given, not worked out from a clock"
                                       : "no peak, so no clock");
  reason("convention", "the file names no convention");
  reason("seq_len", "the file has no workload.seq_len");
  reason("tokens_per_step", "neither tokens_per_step nor seq_len and global_batch are given");
  reason("flops_per_step", "the file has no workload.flops_per_step");
  reason("microbatches", "the file has no workload.microbatches");
  reason("job", "the file names no job");
  reason("global_batch", "the file has no workload.global_batch");
  reason("nodes", "the file names no nodes");
  reason("recompute", "the file has no workload.recompute");
  return reasons;
}

Json layout_of(const Parallelism& parallelism) {
  Json sizes = Json::object();
  for (const Axis axis : kAxes) {
    if (parallelism[axis]) sizes[std::string(to_string(axis))] = *parallelism[axis];
  }
  return sizes;
}

Json setup_of(const DiagnoseSection& section) {
  const Setup& setup = section.diagnosis.detail->setup;
  Json values = {
      {"model", text(setup.model)},
      {"params", number(section.params)},
      {"active_params", number(section.active_params)},
      {"chip", text(setup.chip_id)},
      {"gpus", setup.gpus},
      {"precision", text(setup.precision)},
      {"peak_flops_per_gpu", number(setup.peak_flops_per_gpu)},
      {"clock", to_string(setup.clock.rule)},
      {"clock_mhz", number(setup.clock_mhz)},
      {"convention", text(setup.convention)},
      {"fingerprint", to_text(section.fingerprint)},
      {"seq_len", number(setup.seq_len)},
      {"tokens_per_step", number(setup.tokens_per_step)},
      {"flops_per_step", number(setup.flops_per_step)},
      {"reference", setup.reference == Reference::median ? "median" : "mean"},
      {"recorded_ranks", setup.recorded_ranks},
      {"expected_ranks", setup.expected_ranks},
      {"peak_given", setup.peak_given},
      {"stages", setup.stages},
      {"microbatches", setup.microbatches ? Json(*setup.microbatches) : Json(nullptr)},
      {"job", text(setup.job)},
      {"global_batch", number(setup.global_batch)},
      {"nodes", setup.nodes > 0 ? Json(setup.nodes) : Json(nullptr)},
      {"layout", layout_of(setup.parallelism)},
      {"recompute", setup.recompute ? Json(to_string(*setup.recompute)) : Json(nullptr)},
      {"split", to_string(section.diagnosis.detail->split)},
  };
  values["missing"] = setup_missing(setup, values);
  return values;
}

// 95 % intervals relative to the value: of the mean step, how sure it is to come again; of a
// factor, how sure the size of what happened is.
Json relative_ci(const std::optional<TermSpread>& spread) {
  return spread ? interval(spread->step) : Json(nullptr);
}

Json headline_of(const DiagnoseSection& section) {
  const Headline& headline = section.diagnosis.headline;
  Json values = {
      {"mfu", number(headline.mfu)},
      {"mfu_missing", text(section.mfu_missing)},
      {"status", to_string(section.status)},
      {"hfu", number(section.hfu)},
      {"parallel_efficiency", number(headline.parallel_efficiency)},
      {"step_seconds", number(headline.step_seconds)},
      {"usual_step_seconds", number(headline.usual_step_seconds)},
      {"p95_seconds", number(headline.p95_seconds)},
      {"statistic", "mean"},
      {"tokens_per_second", number(headline.tokens_per_second)},
      {"step_relative_ci", relative_ci(section.spread)},
  };
  if (!section.spread) values["step_relative_ci_missing"] = "fewer than 5 steps count";
  if (!headline.tokens_per_second) {
    values["tokens_per_second_missing"] = "the file does not say how many tokens a step has";
  }
  if (headline.impossible) values["impossible_because"] = section.impossible_because;
  return values;
}

Json factors_of(const std::vector<Factor>& factors) {
  Json list = Json::array();
  for (const Factor& factor : factors) {
    Json entry = {{"id", to_string(factor.id)},
                  {"value", number(factor.value)},
                  {"loss_seconds", number(factor.loss_seconds)}};
    if (!factor.parts.empty()) entry["parts"] = factors_of(factor.parts);
    list.push_back(std::move(entry));
  }
  return list;
}

Json parts_of(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) {
    list.push_back({{"id", to_string(part.id)},
                    {"seconds", number(part.seconds)},
                    {"share", number(part.share)}});
  }
  return list;
}

Json families_of(const std::vector<Family>& families) {
  Json list = Json::array();
  for (const Family family : families) list.push_back(to_string(family));
  return list;
}

Json culprits_of(const Culprits& culprits) {
  return {{"ranks", culprits.ranks},
          {"nodes", culprits.nodes},
          {"stages", culprits.stages},
          {"groups", culprits.groups}};
}

Json recoverable_of(const Recoverable& left) {
  return {{"step_seconds", number(left.step_seconds)},
          {"step_seconds_ci", interval(left.step_seconds_ci)},
          {"mfu", number(left.mfu)}};
}

// All families that the evidence allows; one where the verdict is named.
Json readings_of(const DiagnoseSection& section) {
  const Verdict& verdict = section.diagnosis.verdict;
  Json list = Json::array();
  if (verdict.family == Family::healthy) return list;
  const auto add = [&](Family family, const std::string& owner, const Json& needs,
                       const Recoverable* left) {
    list.push_back({{"family", to_string(family)},
                    {"owner", text(owner)},
                    {"needs", needs},
                    {"recoverable", left ? recoverable_of(*left) : Json(nullptr)}});
  };
  if (verdict.families.empty() && verdict.family != Family::inconclusive) {
    add(verdict.family, section.owner, Json::array(),
        verdict.recoverable ? &*verdict.recoverable : nullptr);
  }
  const bool open = verdict.family == Family::inconclusive;
  for (std::size_t i = 0; i < verdict.families.size(); ++i) {
    add(verdict.families[i], section.reading_owners[i],
        open ? Json(section.actions) : Json::array(),
        i < verdict.recoverable_by_reading.size() ? &verdict.recoverable_by_reading[i] : nullptr);
  }
  return list;
}

Json verdict_of(const DiagnoseSection& section) {
  const Verdict& verdict = section.diagnosis.verdict;
  Json values = {
      {"family", to_string(verdict.family)},
      {"families", families_of(verdict.families)},
      {"locality", to_string(verdict.locality)},
      {"culprits", culprits_of(verdict.culprits)},
      {"persistence", verdict.persistence == Persistence::none
                          ? Json(nullptr)
                          : Json(to_string(verdict.persistence))},
      {"onset_step", number(verdict.onset_step)},
      {"period_steps", number(verdict.period_steps)},
      {"cause", text(to_string(verdict.cause))},
      {"confidence",
       verdict.family == Family::inconclusive ? Json(nullptr) : number(verdict.confidence)},
  };
  if (verdict.recoverable) {
    values["recoverable"] = recoverable_of(*verdict.recoverable);
    if (!verdict.recoverable->mfu) values["recoverable"]["mfu_missing"] = text(section.mfu_missing);
  } else {
    values["recoverable"] = nullptr;
    values["recoverable_missing"] = section.recoverable_missing;
  }
  values["readings"] = readings_of(section);
  values["refuted_by"] = text(section.refuted_by);
  values["summary"] = section.verdict_line;
  values["evidence"] = section.why;
  values["health"] =
      render::health_facts(section.diagnosis.detail->verdict_health, section.health.facts);
  values["actions"] = section.actions;
  values["owner"] = text(section.owner);
  values["verify"] = text(section.verify);
  values["also"] = section.also;
  return values;
}

Json findings_of(const DiagnoseSection& section) {
  Json list = Json::array();
  for (std::size_t i = 0; i < section.diagnosis.detail->findings.size(); ++i) {
    const Finding& finding = section.diagnosis.detail->findings[i];
    const FindingText words =
        i < section.finding_texts.size() ? section.finding_texts[i] : FindingText{};
    list.push_back({{"code", words.code},
                    {"family", to_string(finding.family)},
                    {"seconds", number(finding.loss_seconds)},
                    {"seconds_ci", interval(finding.loss_ci)},
                    {"material", finding.material},
                    {"culprits", culprits_of(finding.culprits)},
                    {"cause", text(to_string(finding.cause))},
                    {"gone_since_step", number(finding.gone_since_step)},
                    {"evidence", words.evidence},
                    {"health", render::health_facts(finding.health, words.health)},
                    {"actions", words.actions},
                    {"owner", text(words.owner)},
                    {"verify", text(words.verify)}});
  }
  return list;
}

void add_scores(Json& object, const ScoresSection& section) {
  object["verdict"] = {
      {"family", to_string(section.family)},   {"confidence", nullptr},
      {"confidence_missing", section.unseen},  {"culprits", {{"ranks", section.ranks}}},
      {"summary", section.verdict_line},       {"evidence", section.why},
      {"actions", Json::array({section.next})}};
}

void add_diagnose(Json& object, const DiagnoseSection& section) {
  const Diagnosis& diagnosis = section.diagnosis;
  object["setup"] = setup_of(section);
  object["headline"] = headline_of(section);
  object["factors"] = factors_of(diagnosis.factors);
  if (section.spread) {
    constexpr std::array kOrder{FactorId::single_gpu, FactorId::balance, FactorId::own_stall,
                                FactorId::transfer, FactorId::dependency};
    for (std::size_t k = 0; k < diagnosis.factors.size(); ++k) {
      const auto at = std::find(kOrder.begin(), kOrder.end(), diagnosis.factors[k].id);
      object["factors"][k]["relative_ci"] =
          interval(section.spread->factors[static_cast<std::size_t>(at - kOrder.begin())]);
    }
  }
  object["parts"] = parts_of(diagnosis.parts);
  if (diagnosis.detail->waits_unknown) {
    // Neither is zero: with one rank of several they are not known, and not in sum and product.
    object["factors"].push_back(
        {{"id", to_string(FactorId::balance)}, {"value", nullptr}, {"loss_seconds", nullptr}});
    object["parts"].push_back(
        {{"id", to_string(PartId::imbalance_wait)}, {"seconds", nullptr}, {"share", nullptr}});
  }
  object["verdict"] = verdict_of(section);
  object["findings"] = findings_of(section);
  object["thresholds"] = {
      {"target_efficiency", number(diagnosis.detail->target_efficiency)},
      {"materiality", number(diagnosis.detail->materiality)},
      {"communication_materiality", number(diagnosis.detail->communication_materiality)}};
  object["steps"] = {{"used", diagnosis.detail->steps_used},
                     {"warmup", diagnosis.detail->warmup_steps}};
  object["certainty"] = {{"measured", section.measured},
                         {"derived", section.derived},
                         {"assumed", section.assumed},
                         {"unseen", section.unseen}};
  object["unmeasured"] = Json::array();
  for (const Unmeasured& one : section.unmeasured) {
    object["unmeasured"].push_back({{"what", one.what}, {"where", one.where}, {"why", one.why}});
  }
  if (diagnosis.detail->placement) render::json_placement(object, *diagnosis.detail->placement);
  if (section.worth_table) render::json_worth(object, *section.worth_table);
  render::json_health(object, section);
  render::json_references(object, section.references);
  if (section.replay) render::json_replay(object, *section.replay);
  if (section.trace) render::json_trace(object, *section.trace);
}

// "##[...]" anywhere in a line is a command to GitHub's runner. In JSON it stands in a string,
// where it has another spelling.
std::string without_commands(std::string json) {
  for (std::size_t at = json.find("##["); at != std::string::npos; at = json.find("##[", at)) {
    json.replace(at + 1, 1, "\\u0023");
  }
  return json;
}

// Bytes that are not UTF-8 (a name out of a file) become U+FFFD instead of an exception.
std::string written(const Json& object) {
  return without_commands(object.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Json common_head(std::string_view tool_version, std::string_view command) {
  return {{"schema", "mfu.report/1"}, {"tool", tool_version}, {"command", text(command)}};
}

Json report_object(const Report& report) {
  Json object = common_head(report.tool_version, report.command);
  object["inputs"] = Json::array();
  for (const InputInfo& input : report.inputs) {
    object["inputs"].push_back(
        {{"path", input.path}, {"format", input.format}, {"bytes", input.bytes}});
  }
  object["notes"] = Json::array();
  for (const Note& note : report.notes) {
    object["notes"].push_back({{"code", note.code.str()},
                               {"severity", to_string(note.severity)},
                               {"count", note.count},
                               {"text", note.text}});
  }
  object["gates"] = Json::array();
  for (const Gate& gate : report.gates) {
    object["gates"].push_back({{"id", gate.id},
                               {"limit", gate.limit},
                               {"value", gate.value ? number(gate.value) : text(gate.value_text)},
                               {"passed", gate.passed}});
  }
  object["exit_code"] = report.exit_code;
  if (report.diagnose) add_diagnose(object, *report.diagnose);
  if (report.scores) add_scores(object, *report.scores);
  if (report.calc) render::json_calc(object, *report.calc);
  if (report.calc && !report.calc->what_if && !report.calc->rebase) {
    render::json_references(object, report.calc->references);
  }
  if (report.flops) render::json_flops(object, *report.flops);
  if (report.peak) render::json_peak(object, *report.peak);
  if (report.log) render::json_log(object, *report.log);
  if (report.plan) render::json_plan(object, *report.plan);
  if (report.compare) render::json_compare(object, *report.compare);
  if (report.history) render::json_history(object, *report.history);
  if (report.list) render::json_list(object, *report.list);
  return object;
}

Json error_object(const Error& error, std::string_view command, std::string_view tool_version,
                  int exit_code) {
  Json object = common_head(tool_version, command);
  object["inputs"] = Json::array();
  object["notes"] = Json::array();
  object["gates"] = Json::array();
  object["exit_code"] = exit_code;
  object["error"] = {{"kind", to_string(error.kind())},
                     {"message", error.message()},
                     {"place", text(error.place().str())},
                     {"hint", text(error.hint())}};
  return object;
}

std::string row_line(const Json& object, const RowPlace& row) {
  Json line = {{"row", row.number}, {"id", text(row.id)}};
  line.update(object);
  return without_commands(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

namespace render {

std::string render_json(const Report& report, const RenderStyle& /*style*/) {
  return written(report_object(report));
}

}  // namespace render

std::string render_error_json(const Error& error, std::string_view command,
                              std::string_view tool_version, int exit_code) {
  return written(error_object(error, command, tool_version, exit_code));
}

std::string render_row_json(const Report& report, const RowPlace& row) {
  return row_line(report_object(report), row);
}

std::string render_row_error_json(const Error& error, std::string_view command,
                                  std::string_view tool_version, int exit_code,
                                  const RowPlace& row) {
  return row_line(error_object(error, command, tool_version, exit_code), row);
}

}  // namespace mfu
