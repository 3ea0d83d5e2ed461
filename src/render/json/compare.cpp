// compare as JSON.
#include <cmath>

#include "render/json/sections.hpp"
#include "report/compare/compare_section.hpp"

namespace mfu::render {
namespace {

Json side_of(const Side& side, const std::optional<double>& mfu) {
  Json values = {{"input", side.name},
                 {"measured_on", to_string(side.measure)},
                 {"mfu", number(mfu)},
                 {"mfu_as_measured", number(side.mfu)},
                 {"step_seconds", number(side.step_seconds)},
                 {"usual_step_seconds", number(side.usual_step_seconds)},
                 {"tokens_per_second_per_gpu", number(side.tokens_per_second_per_gpu)},
                 {"steps", side.steps},
                 {"status", side.status ? Json(to_string(*side.status)) : Json(nullptr)},
                 {"fingerprint", text(to_text(side.fingerprint))},
                 {"job", text(side.job)},
                 {"model", text(side.model)},
                 {"chip", text(side.chip)},
                 {"gpus", number(side.gpus)},
                 {"nodes", number(side.nodes)},
                 {"global_batch", number(side.global_batch)},
                 {"seq_len", number(side.seq_len)},
                 {"tokens_per_step", number(side.tokens_per_step)},
                 {"flops_per_step", number(side.flops_per_step)},
                 {"microbatches", number(side.microbatches)}};
  Json layout = Json::object();
  for (const auto& [axis, size] : side.layout) layout[axis] = size;
  values["layout"] = std::move(layout);
  return values;
}

Json value_of(const std::optional<double>& value, const std::string& words) {
  return value ? number(value) : text(words);
}

Json factors_of(const std::vector<FactorChange>& factors) {
  Json list = Json::array();
  for (const FactorChange& factor : factors) {
    Json entry = {{"id", factor.id},
                  {"before", number(factor.before)},
                  {"after", number(factor.after)},
                  {"log_ratio", number(factor.log_ratio)},
                  {"log_ratio_ci", interval_of(factor.log_ci)},
                  {"seconds", number(factor.seconds)},
                  {"significant", factor.significant}};
    if (!factor.parts.empty()) {
      entry["parts"] = factors_of(factor.parts);
      for (Json& part : entry["parts"]) {
        part.erase("log_ratio_ci");
        part.erase("significant");
      }
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Json delta_of(const CompareSection& section) {
  const Comparison& c = section.comparison;
  const bool has_mfu = c.mfu_before && c.mfu_after;
  const bool has_step = c.step_before && c.step_after;
  const std::optional<Interval> relative = c.relative_ci();
  Json values = {
      {"mfu", has_mfu ? number(*c.mfu_after - *c.mfu_before) : Json(nullptr)},
      {"step_seconds", has_step ? number(*c.step_after - *c.step_before) : Json(nullptr)},
      {"ci", nullptr},
      {"significant", c.log_ci || c.outcome == Outcome::no_change
                          ? Json(c.outcome == Outcome::better || c.outcome == Outcome::worse)
                          : Json(nullptr)},
      {"verdict", c.outcome == Outcome::unknown ? Json(nullptr) : Json(to_string(c.outcome))},
      {"log_ratio", number(c.log_ratio)},
      {"log_ratio_ci", interval_of(c.log_ci)},
      {"speed", number(c.relative_change())},
      {"speed_ci", interval_of(relative)},
      {"least_change", number(c.least_change)}};
  // The interval is that of the first of mfu and step_seconds that is known.
  if (relative && has_mfu) {
    values["ci"] =
        Json::array({number(*c.mfu_before * relative->lo), number(*c.mfu_before * relative->hi)});
  } else if (relative && has_step) {
    values["ci"] = Json::array({number(*c.step_before * -relative->hi / (1 + relative->hi)),
                                number(*c.step_before * -relative->lo / (1 + relative->lo))});
  }
  Json missing = Json::object();
  if (!has_mfu) missing["mfu"] = "work or peak is not known";
  if (!has_step) missing["step_seconds"] = "a step time is not known";
  if (!relative) missing["ci"] = section.verdict_line;
  if (c.outcome == Outcome::unknown) missing["verdict"] = section.verdict_line;
  values["missing"] = std::move(missing);
  return values;
}

}  // namespace

void json_compare(Json& object, const CompareSection& section) {
  const Comparison& c = section.comparison;
  object["comparable"] = c.comparable;
  Json reasons = Json::array();
  for (std::size_t i = 0; i < c.reasons.size(); ++i) {
    const Reason& reason = c.reasons[i];
    reasons.push_back({{"code", to_string(reason.obstacle)},
                       {"before", value_of(reason.before, reason.before_text)},
                       {"after", value_of(reason.after, reason.after_text)},
                       {"text", section.reason_texts[i]}});
  }
  object["reasons"] = std::move(reasons);
  object["reconverted"] = text(section.restated_line);
  object["before"] = side_of(c.detail->before, c.mfu_before);
  object["after"] = side_of(c.detail->after, c.mfu_after);
  Json differences = Json::array();
  for (std::size_t i = 0; i < c.detail->differences.size(); ++i) {
    const Difference& difference = c.detail->differences[i];
    differences.push_back({{"key", difference.key},
                           {"before", value_of(difference.before, difference.before_text)},
                           {"after", value_of(difference.after, difference.after_text)},
                           {"cause", text(difference.cause)},
                           {"text", section.difference_texts[i]}});
  }
  object["differences"] = std::move(differences);
  object["causes"] = c.detail->causes;
  object["credit"] = section.credit;
  if (!c.comparable) return;
  object["same_measurement"] = c.detail->same_data;
  object["delta"] = delta_of(section);
  object["factors"] = factors_of(c.factors);
  Json parts = Json::array();
  for (const PartChange& part : c.detail->parts) {
    parts.push_back({{"id", part.id},
                     {"before", number(part.before)},
                     {"after", number(part.after)},
                     {"seconds", number(part.after - part.before)}});
  }
  object["parts"] = std::move(parts);
  object["moved"] = text(c.moved);
  object["expected"] = section.expected.empty() ? Json(nullptr)
                                                : Json{{"factor", section.expected},
                                                       {"as_expected", section.as_expected},
                                                       {"text", section.expected_line}};
  object["summary"] = section.verdict_line;
  object["cautions"] = section.cautions;
}

}  // namespace mfu::render
