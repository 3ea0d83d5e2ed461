// How sure a change of speed is: steps that hang together, and few of them.
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "mfu/compare.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu;

// Seconds of steps around 2 s, of which each remembers `memory` of the one before.
std::vector<double> steps(std::size_t count, double sigma, double memory, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  double state = random.normal();
  for (std::size_t i = 0; i < count; ++i) {
    state = memory * state + std::sqrt(1 - memory * memory) * random.normal();
    values.push_back(2.0 * std::exp(sigma * state));
  }
  return values;
}

Side log_of(const std::string& name, std::vector<double> seconds) {
  Side side;
  side.name = name;
  side.measure = Measure::log;
  side.status = CalcStatus::ok;
  side.step_seconds = mean(seconds);
  side.usual_step_seconds = median(seconds);
  SideFactor usual;
  usual.id = "usual_step";
  usual.seconds = *side.usual_step_seconds;
  SideFactor slow;
  slow.id = "slow_steps";
  slow.value = *side.usual_step_seconds / *side.step_seconds;
  side.factors = {usual, slow};
  side.steps = static_cast<std::int64_t>(seconds.size());
  side.weights.assign(seconds.size(), 1.0);
  side.costs = std::move(seconds);
  return side;
}

// Pairs of the same job of which one seems quicker.
int changed_of_100(std::size_t before, std::size_t after, double sigma, double memory) {
  int changed = 0;
  CompareOptions options;
  options.replicates = 400;
  options.least_change = 0.0;
  for (std::uint64_t k = 0; k < 100; ++k) {
    const Comparison c = compare(log_of("before", steps(before, sigma, memory, 2 * k + 1)),
                                 log_of("after", steps(after, sigma, memory, 2 * k + 2)), options);
    REQUIRE(c.comparable);
    changed += c.outcome == Outcome::no_change ? 0 : 1;
  }
  return changed;
}

}  // namespace

TEST_CASE("blocks are as long as the steps hang together", "[compare]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CHECK(block_length(steps(200, 0.05, 0.0, seed)) <= 12);
    CHECK(block_length(steps(1000, 0.05, 0.95, seed)) >= 40);
    CHECK(block_length(steps(1000, 0.05, 0.95, seed)) <= 125);
  }
  CHECK(block_length(std::vector<double>(64, 2.0)) == 4);
  CHECK(block_length(std::vector<double>(3, 2.0)) == 1);
  CHECK(block_length({}) == 1);
  // One burst does not hide that the others hang together.
  std::vector<double> burst = steps(1000, 0.02, 0.95, 7);
  burst[500] = 200.0;
  CHECK(block_length(burst) >= 40);
}

TEST_CASE("steps that hang together are no change", "[compare]") {
  CHECK(changed_of_100(200, 200, 0.05, 0.0) <= 10);
  CHECK(changed_of_100(200, 200, 0.05, 0.9) <= 16);  // worth ten that do not
  CHECK(changed_of_100(800, 500, 0.05, 0.95) <= 12);
}

TEST_CASE("few steps against many are no change", "[compare]") {
  CHECK(changed_of_100(5, 1000, 0.05, 0.0) <= 12);
  CHECK(changed_of_100(8, 8, 0.05, 0.0) <= 10);
}

TEST_CASE("a change is found in steps that hang together", "[compare]") {
  int found = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    std::vector<double> slow = steps(500, 0.02, 0.9, 2 * k + 1);
    for (double& value : slow) value *= 1.05;
    const Comparison c =
        compare(log_of("before", steps(500, 0.02, 0.9, 2 * k + 2)), log_of("after", slow), {});
    found += c.outcome == Outcome::worse && c.moved == "usual_step" ? 1 : 0;
  }
  CHECK(found >= 19);
}
