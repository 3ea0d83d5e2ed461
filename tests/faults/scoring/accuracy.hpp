// How often the diagnosis is right, kind by kind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "faults/scenarios/scenario.hpp"
#include "faults/scoring/score.hpp"
#include "faults/scoring/tally.hpp"

namespace mfu::faults {

struct Miss {
  std::uint64_t seed = 0;
  std::string told;  // one line: the job, what is true, what was said
};

struct Row {
  std::string_view scenario;
  int runs = 0;
  int family = 0;        // one of the accepted families
  int family_exact = 0;  // the best one
  int culprit = 0;
  int persistence = 0;
  int false_alarms = 0;
  std::vector<double> step_errors;  // of the runs whose recoverable step was given
  std::map<Family, int> verdicts;
  std::vector<Miss> misses;  // family, culprit or more than 10 % of the step wrong
  Tally tally;
};

// The seed of the k-th job of a scenario: different for each, so that their layouts differ.
[[nodiscard]] std::uint64_t scenario_seed(std::string_view scenario, std::uint64_t k) noexcept;

// Runs `count` jobs of the scenario, the first of them number `first`, and diagnoses them.
[[nodiscard]] Row accuracy(const Scenario& scenario, std::uint64_t first, int count,
                           const DiagnoseOptions& options);

// The table and, asked for, the misses.
[[nodiscard]] std::string accuracy_table(const std::vector<Row>& rows, bool misses);

}  // namespace mfu::faults
