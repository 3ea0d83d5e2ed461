#include "report/conditions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>

namespace mfu {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

bool is_yes(std::string_view value) { return value == "true" || value == "yes" || value == "on"; }

// One line of `job`: does it say that the run does this already?
void read_job_word(const std::string& key_as_written, const std::string& value_as_written,
                   Conditions& conditions) {
  const std::string key = lower(key_as_written);
  const std::string value = lower(value_as_written);
  if (holds_any(key, {"checkpoint", "ckpt", "save"})) {
    conditions.async_checkpoint = conditions.async_checkpoint || value.starts_with("async") ||
                                  (holds_any(key, {"async"}) && is_yes(value));
  }
  if (key == "gc" || holds_any(key, {"manual_gc", "garbage_collection"})) {
    conditions.manual_gc = conditions.manual_gc || value.starts_with("manual") || value == "off" ||
                           value == "disabled" || (holds_any(key, {"manual"}) && is_yes(value));
  }
  if (holds_any(key, {"compile"})) conditions.compiled = conditions.compiled || is_yes(value);
  if (holds_any(key, {"attention", "attn"})) {
    conditions.fused_attention = conditions.fused_attention || holds_any(value, {"flash", "fused"});
  }
  if (holds_any(key, {"data", "input"})) {
    conditions.tokenised = conditions.tokenised || holds_any(value, {"tokenized", "tokenised"});
  }
  const bool number = !value.empty() && value.size() <= 4 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  if (number && (key == "loader_workers" || key == "num_workers"))
    conditions.loader_workers = value;
}

// Of what ranks spend on communication, the part that compute hides.
std::optional<double> hidden_share(const Diagnosis& diagnosis, const RunTimings& run) {
  if (run.overlapped_comm.empty()) return std::nullopt;
  double hidden = 0.0;
  std::size_t count = 0;
  for (std::size_t s = 0; s < run.overlapped_comm.steps(); ++s) {
    for (const double value : run.overlapped_comm.row(s)) {
      if (std::isnan(value)) continue;
      hidden += value;
      ++count;
    }
  }
  double exposed = 0.0;
  for (const Part& part : diagnosis.parts) {
    if (part.id == PartId::exposed_transfer) exposed = std::max(0.0, part.seconds);
  }
  if (count == 0) return std::nullopt;
  hidden /= static_cast<double>(count);
  if (!(hidden + exposed > 0.0)) return std::nullopt;
  return hidden / (hidden + exposed);
}

std::vector<std::string> unmeasured(const RunTimings& run) {
  struct Check {
    std::string_view name;
    bool (*measured)(const RankTelemetry&);
  };
  constexpr std::array<Check, 5> kChecks{
      {{"temperature", [](const RankTelemetry& t) { return !t.temperature_c.empty(); }},
       {"SM clock", [](const RankTelemetry& t) { return !t.sm_clock_mhz.empty(); }},
       {"power cap", [](const RankTelemetry& t) { return !t.power_w.empty(); }},
       {"ECC", [](const RankTelemetry& t) { return t.ecc_uncorrected.has_value(); }},
       {"Xid", [](const RankTelemetry& t) { return !t.xid.empty(); }}}};
  std::vector<std::string> names;
  for (const Check& check : kChecks) {
    const bool all = !run.ranks.empty() &&
                     std::all_of(run.ranks.begin(), run.ranks.end(), [&](const RankInfo& rank) {
                       return check.measured(rank.telemetry);
                     });
    if (!all) names.emplace_back(check.name);
  }
  return names;
}

}  // namespace

Conditions conditions_of(const Diagnosis& diagnosis, const RunTimings& run) {
  Conditions conditions;
  conditions.recompute = run.workload.recompute;
  conditions.interleaved = run.workload.pipeline_schedule == PipelineSchedule::interleaved ||
                           run.workload.virtual_stages > 1;
  conditions.forward_backward = !run.forward.empty() && !run.backward.empty();
  conditions.hidden_share = hidden_share(diagnosis, run);
  conditions.unmeasured = unmeasured(run);
  conditions.placement = diagnosis.placement;
  for (const auto& [key, value] : run.job) read_job_word(key, value, conditions);
  return conditions;
}

}  // namespace mfu
