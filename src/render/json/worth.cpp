// The keys `worth` of a diagnosis, each family's fix alone and all fixes in their order, and
// `placement`.
#include "render/json/sections.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/worth_section.hpp"

namespace mfu::render {
namespace {

Json cost(double saved_seconds, const CostBasis& basis) {
  const Cost c = cost_of(saved_seconds, basis);
  return {{"gpu_hours_a_day", number(c.gpu_hours_a_day)},
          {"cost_a_day", number(c.money_a_day)},
          {"gpu_hours_left", number(c.gpu_hours_left)},
          {"cost_left", number(c.money_left)},
          {"seconds_left", number(c.seconds_left)}};
}

}  // namespace

void json_worth(Json& object, const WorthSection& section) {
  const FixWorth& worth = section.worth;
  // Prices are of the state in which the run ends.
  const FixWorth& priced = section.end_state ? section.end_state->worth : worth;
  const auto saved_alone = [&](Family family) {
    for (const FamilyWorth& entry : priced.alone) {
      if (entry.family == family) return priced.chain.front().step_seconds - entry.step_seconds;
    }
    return 0.0;
  };
  const auto alone_of = [&](const FixWorth& from) {
    Json alone = Json::array();
    for (const FamilyWorth& entry : from.alone) {
      alone.push_back({{"family", to_string(entry.family)},
                       {"step_seconds", number(entry.step_seconds)},
                       {"mfu", number(entry.mfu)},
                       {"material", entry.material},
                       {"in_order_seconds", number(entry.in_order_seconds)},
                       {"saves", cost(saved_alone(entry.family), section.basis)}});
    }
    return alone;
  };
  const auto chain_of = [&](const FixWorth& from) {
    Json chain = Json::array();
    for (std::size_t k = 0; k < from.chain.size(); ++k) {
      const ChainStep& step = from.chain[k];
      Json families = Json::array();
      for (const Family family : step.families) families.push_back(to_string(family));
      const double saved =
          k == 0 ? 0.0 : priced.chain[k - 1].step_seconds - priced.chain[k].step_seconds;
      chain.push_back({{"id", to_string(step.stage)},
                       {"step_seconds", number(step.step_seconds)},
                       {"ratio", number(step.ratio)},
                       {"mfu", number(step.mfu)},
                       {"families", std::move(families)},
                       {"saves", cost(saved, section.basis)}});
    }
    return chain;
  };
  Json end_state = nullptr;
  if (section.end_state) {
    end_state = {{"first_step", section.end_state->first_step},
                 {"steps", section.end_state->steps},
                 {"alone", alone_of(priced)},
                 {"chain", chain_of(priced)}};
  }
  object["worth"] = {{"alone", alone_of(worth)},
                     {"chain", chain_of(worth)},
                     {"end_state", std::move(end_state)},
                     {"gpus", section.basis.gpus},
                     {"price_per_gpu_hour", number(section.basis.price_per_gpu_hour)},
                     {"steps_left", number(section.basis.steps_left)},
                     {"remarks", section.remarks}};
}

void json_placement(Json& object, const Placement& placement) {
  Json needless = Json::array();
  for (const NeedlessCrossing& crossing : placement.needless) {
    needless.push_back({{"axis", to_string(crossing.axis)},
                        {"places", crossing.of_switches ? "switch" : "node"},
                        {"rings", crossing.rings},
                        {"groups", crossing.groups},
                        {"needless", crossing.needless},
                        {"example",
                         {{"ranks", crossing.example_ranks},
                          {"places", crossing.example_places},
                          {"crossings", crossing.example_crossings},
                          {"least", crossing.example_least}}}});
  }
  Json exchanges = Json::array();
  for (const Exchange& exchange : placement.exchanges) {
    exchanges.push_back({{"ranks", exchange.ranks},
                         {"place", exchange.place},
                         {"with_ranks", exchange.with_ranks},
                         {"with_place", exchange.with_place}});
  }
  object["placement"] = {{"nodes_known", placement.nodes_known},
                         {"switches_known", placement.switches_known},
                         {"needless", std::move(needless)},
                         {"exchanges", std::move(exchanges)}};
}

}  // namespace mfu::render
