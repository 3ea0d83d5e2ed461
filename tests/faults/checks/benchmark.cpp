// The promise of the verdict, held against jobs whose truth is known: each kind of fault over many
// layouts, sizes and ways to record, with seeds that no rule was tuned on.
// MFU_FAULTS_RUNS=N asks for N jobs of each kind (the proof: 100), MFU_FAULTS_FIRST=K for
// other seeds, MFU_FAULTS_MISSES=1 lists what was wrong.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "catch.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scoring/accuracy.hpp"
#include "faults/scoring/asked.hpp"
#include "faults/scoring/tally.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

// Tuning uses the jobs below this number.
constexpr int kFirstScored = 9000;
constexpr int kUsualRuns = 2;

constexpr double kFamily = 0.99;
constexpr double kCulprit = 0.99;
constexpr double kStep = 0.95;
constexpr double kCalm = 0.995;
constexpr double kAbstention = 0.99;
constexpr double kOneKind = 0.95;  // of any single kind, one miss apart

int asked(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

}  // namespace

TEST_CASE("the verdict keeps its promise on jobs with a known truth", "[benchmark]") {
  const int runs = asked_runs(kUsualRuns);
  const auto first = static_cast<std::uint64_t>(asked("MFU_FAULTS_FIRST", kFirstScored));
  std::vector<Row> rows;
  Tally all;
  for (const Scenario& scenario : scenarios()) {
    rows.push_back(accuracy(scenario, first, runs, DiagnoseOptions{}));
    all.add(rows.back().tally);
  }
  const bool misses = asked("MFU_FAULTS_MISSES", 0) != 0;
  std::fputs((accuracy_table(rows, misses) + "\n" + tally_table(all)).c_str(), stdout);

  CHECK(all.family.value() >= kFamily);
  CHECK(all.culprit.value() >= kCulprit);
  CHECK(all.step.value() >= kStep);
  CHECK(all.calm.value() >= kCalm);
  CHECK(all.abstention.value() >= kAbstention);
  for (const Row& row : rows) {
    INFO(accuracy_table({row}, true));
    CHECK(row.family + 1 >= kOneKind * row.runs);
    CHECK(row.culprit + 1 >= kOneKind * row.runs);
  }
}
