#include "faults/scenarios/scenario.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace mfu::faults {

namespace {

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  for (const auto list : {healthy_scenarios(), place_scenarios(), work_scenarios(),
                          common_scenarios(), unsure_scenarios()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const std::vector<Scenario> kAll = all_scenarios();
  return kAll;
}

const Scenario& find_scenario(std::string_view name) {
  const auto all = scenarios();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Scenario& each) { return each.name == name; });
  if (found == all.end()) throw std::out_of_range("no such scenario: " + std::string(name));
  return *found;
}

}  // namespace mfu::faults
