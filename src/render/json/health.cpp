// The keys `health` of a diagnosis, of its verdict and of its findings.
#include "render/json/sections.hpp"
#include "report/diagnose/diagnose_section.hpp"

namespace mfu::render {
namespace {

Json xid_list(const std::vector<XidSeen>& all) {
  Json list = Json::array();
  for (const XidSeen& seen : all) {
    list.push_back({{"code", seen.code},
                    {"count", seen.count},
                    {"before", seen.before},
                    {"on_node", seen.on_node}});
  }
  return list;
}

Json rank_of(const RankHealth& rank) {
  const DeviceHealth& device = rank.device;
  Json reasons = Json::array();
  for (const ThrottleShare& seen : device.reasons) {
    reasons.push_back({{"reason", to_string(seen.reason)},
                       {"share", number(seen.share)},
                       {"seconds", number(seen.seconds)}});
  }
  return {{"rank", rank.rank},
          {"device", text(device.name)},
          {"samples", device.samples},
          {"idle_samples", device.idle_samples},
          {"sm_clock_mhz", number(device.sm_clock_mhz)},
          {"max_clock_mhz", number(device.max_clock_mhz)},
          {"temperature_c", number(device.temperature_c)},
          {"hottest_c", number(device.hottest_c)},
          {"margin_c", number(device.margin_c)},
          {"slowdown_c", number(device.slowdown_c)},
          {"memory_temperature_c", number(device.memory_temperature_c)},
          {"power_w", number(device.power_w)},
          {"power_limit_w", number(device.power_limit_w)},
          {"power_default_w", number(device.power_default_w)},
          {"throttle", device.reasons_known ? std::move(reasons) : Json(nullptr)},
          {"ecc_uncorrected", number(device.ecc_uncorrected)},
          {"ecc_corrected", number(device.ecc_corrected)},
          {"remap_pending", device.remap_pending},
          {"remap_failed", device.remap_failed},
          {"recovery_action", text(device.recovery_action)},
          {"xid", device.xid_known ? xid_list(device.xid) : Json(nullptr)}};
}

Json fact_of(const HealthFact& fact, const std::string& words) {
  Json values = {{"check", to_string(fact.check)}, {"stance", to_string(fact.stance)},
                 {"value", number(fact.value)},    {"peers", number(fact.peers)},
                 {"limit", number(fact.limit)},    {"rated", number(fact.rated)}};
  if (fact.reason) values["reason"] = to_string(*fact.reason);
  if (fact.margin) values["margin"] = true;
  if (fact.alike_peers > 0) values["alike_peers"] = fact.alike_peers;
  if (fact.explains) values["explains"] = number(fact.explains);
  if (fact.check == HealthCheck::xid && fact.code != 0) {
    values["code"] = fact.code;
    values["count"] = fact.count;
    values["before"] = fact.before;
    values["on_node"] = fact.on_node;
  }
  values["text"] = words;
  return values;
}

std::string words_at(const std::vector<std::string>& words, std::size_t i) {
  return i < words.size() ? words[i] : std::string();
}

}  // namespace

Json health_facts(const std::vector<HealthFact>& facts, const std::vector<std::string>& words) {
  Json list = Json::array();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    list.push_back(fact_of(facts[i], words_at(words, i)));
  }
  return list;
}

void json_health(Json& object, const DiagnoseSection& section) {
  const Health& health = section.diagnosis.detail->health;
  Json measured = Json::object();
  for (std::size_t c = 0; c < kHealthChecks; ++c) {
    measured[std::string(to_string(static_cast<HealthCheck>(c)))] = health.measured[c];
  }
  Json values = {{"ranks_measured", std::move(measured)},
                 {"clock_mhz", number(health.clock_mhz)},
                 {"remarks", Json::array()},
                 {"two_modes", nullptr},
                 {"ranks", Json::array()}};
  for (std::size_t i = 0; i < health.remarks.size(); ++i) {
    Json remark = fact_of(health.remarks[i].fact, words_at(section.health.remarks, i));
    remark["ranks"] = health.remarks[i].ranks;
    values["remarks"].push_back(std::move(remark));
  }
  if (health.two_modes) {
    const TwoModes& modes = *health.two_modes;
    values["two_modes"] = {{"fast_s", number(modes.fast_s)},
                           {"slow_s", number(modes.slow_s)},
                           {"ratio", number(modes.slow_s / modes.fast_s)},
                           {"slow_steps", modes.slow_steps},
                           {"of", modes.of},
                           {"fast_clock_mhz", number(modes.fast_clock_mhz)},
                           {"slow_clock_mhz", number(modes.slow_clock_mhz)},
                           {"fast_power_w", number(modes.fast_power_w)},
                           {"slow_power_w", number(modes.slow_power_w)},
                           {"text", text(section.health.two_modes)}};
  }
  for (const RankHealth& rank : health.ranks) values["ranks"].push_back(rank_of(rank));
  object["health"] = std::move(values);
}

}  // namespace mfu::render
