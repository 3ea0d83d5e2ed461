// The diagnosis against jobs whose truth is known: each kind of fault over many layouts, sizes and
// ways to record. MFU_ACCURACY_SEEDS=N asks for N jobs of each kind; MFU_ACCURACY_MISSES=1 lists
// what was wrong.
#include "faults/accuracy.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../catch.hpp"
#include "base/robust.hpp"
#include "faults/scenario.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

struct Floor {
  std::string_view scenario;
  double family;    // least share of right families
  double culprit;   // least share of right families with the right culprits
  double step_p95;  // most error of the recoverable step in 95 % of the runs; 0: not asked
};

// Scenarios that are not in this list are shown, not judged.
constexpr std::array kFloors{
    Floor{"healthy-dp", 1.0, 1.0, 0.0},
    Floor{"healthy-tp", 1.0, 1.0, 0.0},
    Floor{"healthy-pp", 1.0, 1.0, 0.0},
    Floor{"healthy-ep", 1.0, 1.0, 0.0},
    Floor{"healthy-bubble", 1.0, 1.0, 0.0},
    Floor{"healthy-warmup", 1.0, 1.0, 0.0},
    Floor{"healthy-jitter-at-scale", 1.0, 1.0, 0.0},
    Floor{"immaterial", 1.0, 1.0, 0.0},
    Floor{"slow-rank", 0.9, 0.9, 0.1},
    Floor{"slow-rank-onset", 0.9, 0.9, 0.1},
    Floor{"slow-rank-bursts", 0.9, 0.9, 0.1},
    Floor{"slow-node", 0.9, 0.9, 0.1},
    Floor{"slow-node-onset", 0.9, 0.9, 0.1},
    Floor{"slow-node-bursts", 0.9, 0.9, 0.1},
    Floor{"hot-rank", 0.9, 0.9, 0.1},
    Floor{"rank-input", 0.9, 0.9, 0.1},
    Floor{"slow-dp-group", 0.9, 0.9, 0.1},
    Floor{"slow-tp-group", 0.9, 0.9, 0.1},
    Floor{"slow-ring", 0.9, 0.9, 0.0},
    Floor{"slow-communication", 0.9, 0.9, 0.1},
    Floor{"heavy-stage", 0.9, 0.9, 0.1},
    Floor{"stage-is-node", 0.9, 0.9, 0.0},
    Floor{"data-shards", 0.9, 0.9, 0.1},
    Floor{"sequence-lengths", 0.9, 0.9, 0.1},
    Floor{"microbatch-lengths", 0.9, 0.9, 0.1},
    Floor{"expert-drift", 0.9, 0.9, 0.1},
    Floor{"input-stall", 0.9, 0.9, 0.1},
    Floor{"checkpoint", 0.9, 0.9, 0.1},
    Floor{"gc-pauses", 0.9, 0.9, 0.1},
    Floor{"thermal", 0.9, 0.9, 0.1},
    Floor{"slow-kernels", 0.9, 0.9, 0.1},
};

int asked(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

}  // namespace

TEST_CASE("the diagnosis is right about jobs with a known fault", "[accuracy]") {
  const int count = asked("MFU_ACCURACY_SEEDS", 12);
  std::vector<Row> rows;
  for (const Scenario& scenario : scenarios()) {
    rows.push_back(accuracy(scenario, 1, count, DiagnoseOptions{}));
  }
  std::fputs(accuracy_table(rows, asked("MFU_ACCURACY_MISSES", 0) != 0).c_str(), stdout);
  for (const Row& row : rows) {
    for (const Floor& floor : kFloors) {
      if (floor.scenario != row.scenario) continue;
      INFO(accuracy_table({row}, true));
      const double runs = static_cast<double>(row.runs);
      CHECK(static_cast<double>(row.family) >= floor.family * runs);
      CHECK(static_cast<double>(row.culprit) >= floor.culprit * runs);
      CHECK(row.false_alarms == 0);
      if (floor.step_p95 > 0.0 && !row.step_errors.empty()) {
        CHECK(quantile(row.step_errors, 0.95) <= floor.step_p95);
      }
    }
  }
}
