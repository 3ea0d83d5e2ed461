// What is written as mfu.run/1 is read back as it was: in any rank order, unit, and number of
// files.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scoring/accuracy.hpp"
#include "faults/written/write.hpp"
#include "mfu/read.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mfu-round-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

constexpr double kDifferent = std::numeric_limits<double>::infinity();

double worst_difference(const Column& got, const Column& wanted) {
  if (got.steps() != wanted.steps() || got.ranks() != wanted.ranks()) return kDifferent;
  double worst = 0.0;
  for (std::size_t s = 0; s < wanted.steps(); ++s) {
    for (std::size_t r = 0; r < wanted.ranks(); ++r) {
      const double a = got.at(s, r);
      const double b = wanted.at(s, r);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (std::isnan(a) != std::isnan(b)) return kDifferent;
      if (a != b) worst = std::max(worst, std::fabs(a - b) / std::fabs(b));
    }
  }
  return worst;
}

void check_same(const RunTimings& got, const RunTimings& wanted) {
  CHECK(got.steps == wanted.steps);
  REQUIRE(got.ranks.size() == wanted.ranks.size());
  for (std::size_t r = 0; r < wanted.ranks.size(); ++r) {
    CHECK(got.ranks[r].rank == wanted.ranks[r].rank);
    CHECK(got.ranks[r].node == wanted.ranks[r].node);
    CHECK(got.ranks[r].gpu == wanted.ranks[r].gpu);
    CHECK(got.ranks[r].telemetry.sm_clock_mhz == wanted.ranks[r].telemetry.sm_clock_mhz);
    CHECK(got.ranks[r].telemetry.temperature_c == wanted.ranks[r].telemetry.temperature_c);
    for (const Axis axis : kAxes) {
      // An axis of size 1 says nothing and is not written.
      if (wanted.parallelism[axis].value_or(1) > 1) {
        CHECK(got.ranks[r].coords[axis] == wanted.ranks[r].coords[axis]);
      }
    }
  }
  constexpr double kRounding = 1e-12;
  CHECK(worst_difference(got.compute, wanted.compute) <= kRounding);
  CHECK(worst_difference(got.comm, wanted.comm) <= kRounding);
  CHECK(worst_difference(got.stall, wanted.stall) <= kRounding);
  CHECK(worst_difference(got.wait, wanted.wait) <= kRounding);
  CHECK(worst_difference(got.forward, wanted.forward) <= kRounding);
  CHECK(worst_difference(got.backward, wanted.backward) <= kRounding);
  REQUIRE(got.comm_by_group.size() == wanted.comm_by_group.size());
  for (const auto& [name, column] : wanted.comm_by_group) {
    REQUIRE(got.comm_by_group.count(name) == 1);
    CHECK(worst_difference(got.comm_by_group.at(name), column) <= kRounding);
  }
  CHECK(got.waits_in == wanted.waits_in);
  CHECK(got.workload.flops_per_step == wanted.workload.flops_per_step);
  CHECK(got.workload.microbatches == wanted.workload.microbatches);
  CHECK(got.hardware.chip == wanted.hardware.chip);
  CHECK(got.hardware.count == wanted.hardware.count);
  CHECK(got.convention == wanted.convention);
}

}  // namespace

TEST_CASE("a run reads back as it was written", "[round-trip]") {
  const Folder folder;
  for (const std::string_view name : {"healthy-dp", "slow-tp-group", "heavy-stage", "hot-rank"}) {
    for (std::uint64_t k = 0; k < 3; ++k) {
      const Job job = simulate(find_scenario(name).draw(scenario_seed(name, 40 + k)));
      if (job.run.ranks.size() > 64) continue;
      for (const char* unit : {"s", "ms", "us", "ns"}) {
        INFO(name << ", seed " << job.spec.seed << ", unit " << unit);
        WriteOptions options;
        options.time_unit = unit;
        options.shuffle_seed = k;
        options.coords = k != 1;
        Notes notes;
        const std::string whole = folder.write("run.json", to_json(job.run, options));
        check_same(read_run({whole}, notes).run, job.run);

        std::vector<std::string> paths;
        for (const std::string& text : to_jsonl(job.run, options, 1 + 2 * k)) {
          paths.push_back(folder.write("part" + std::to_string(paths.size()) + ".jsonl", text));
        }
        check_same(read_run(paths, notes).run, job.run);
      }
    }
  }
}
