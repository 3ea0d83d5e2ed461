// Comparisons of jobs whose truth is known. MFU_PAIR_SEEDS=N asks for N pairs of each kind.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "faults/scenarios/pairs.hpp"
#include "faults/scoring/asked.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

std::uint64_t asked_pairs() { return static_cast<std::uint64_t>(asked_runs(1)); }

// Factors to the whole, parts to the steps, and each part of a factor to the factor.
void check_sums(const Comparison& c) {
  Sum logs;
  for (const FactorChange& factor : c.factors) {
    logs.add(factor.log_ratio);
    if (factor.parts.empty()) continue;
    Sum parts;
    for (const FactorChange& part : factor.parts) parts.add(part.log_ratio);
    CHECK(parts.value() == Approx(factor.log_ratio).margin(1e-12));
  }
  if (!c.factors.empty()) CHECK(logs.value() == Approx(c.log_ratio).margin(1e-12));
  Sum before;
  Sum after;
  for (const PartChange& part : c.detail->parts) {
    before.add(part.before);
    after.add(part.after);
  }
  if (!c.detail->parts.empty()) {
    CHECK(before.value() == Approx(*c.step_before).epsilon(1e-12));
    CHECK(after.value() == Approx(*c.step_after).epsilon(1e-12));
  }
}

// The seconds of the factors are those of the step, where both have the same work.
void check_seconds(const Comparison& c) {
  Sum seconds;
  for (const FactorChange& factor : c.factors) seconds.add(factor.seconds);
  CHECK(seconds.value() ==
        Approx(*c.step_after - *c.step_before).margin(1e-9 * std::max(1.0, *c.step_before)));
}

// The one interval is the other with its ends and their signs changed; fewer than 5 steps have
// none.
void check_turned(const std::optional<Interval>& there, const std::optional<Interval>& back) {
  REQUIRE(there.has_value() == back.has_value());
  if (!there) return;
  CHECK(back->lo == Approx(-there->hi).margin(1e-12));
  CHECK(back->hi == Approx(-there->lo).margin(1e-12));
}

Side side_of_job(const Job& job, const char* name) {
  Notes notes;
  Side side = side_of(diagnose(job.run, {}, notes));
  side.name = name;
  return side;
}

}  // namespace

TEST_CASE("the factor that moved is the one that the fault is in", "[compare]") {
  const std::uint64_t count = asked_pairs();
  int decidable = 0;
  int right = 0;
  std::string wrong;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name == "mixed") continue;  // two faults, one of them fixed
    for (std::uint64_t k = 1; k <= count; ++k) {
      const Pair pair = fixed_pair(scenario, k);
      const std::vector<std::string_view> wanted = factors_of_fault(pair.before);
      if (wanted.empty() || !pair.before.truth.decidable) continue;
      const Comparison c = compared(pair);
      REQUIRE(c.comparable);
      check_sums(c);
      check_seconds(c);
      ++decidable;
      if (std::find(wanted.begin(), wanted.end(), c.moved) != wanted.end()) {
        ++right;
      } else {
        wrong += std::string(scenario.name) + " " + std::to_string(k) + " -> " + c.moved + "\n";
      }
    }
  }
  INFO(wrong);
  WARN("moved: " << right << " of " << decidable);
  CHECK(decidable > 0);
  CHECK(right >= 0.99 * decidable);
}

TEST_CASE("jobs without a fault show no change", "[compare]") {
  const std::uint64_t count = asked_pairs();
  int pairs = 0;
  int right = 0;
  std::string wrong;
  for (const Scenario& scenario : scenarios()) {
    for (std::uint64_t k = 1; k <= count; ++k) {
      const Pair pair = healthy_pair(scenario, k);
      const Comparison c = compared(pair);
      REQUIRE(c.comparable);
      ++pairs;
      if (c.outcome == Outcome::no_change) {
        ++right;
      } else {
        wrong += std::string(scenario.name) + " " + std::to_string(k) + " " +
                 std::to_string(c.relative_change()) + "\n";
      }
    }
  }
  INFO(wrong);
  WARN("no change: " << right << " of " << pairs);
  CHECK(right >= 0.97 * pairs);
}

TEST_CASE("a run against itself has not changed", "[compare]") {
  for (const Scenario& scenario : scenarios()) {
    const Job job = simulate(scenario.draw(3));
    const Side side = side_of_job(job, "run.json");
    const Comparison c = compare(side, side, {});
    INFO(scenario.name);
    REQUIRE(c.comparable);
    CHECK(c.detail->same_data);
    CHECK(c.log_ratio == 0.0);
    CHECK(c.outcome == Outcome::no_change);
    CHECK(c.moved.empty());
    CHECK(c.log_ci->lo == 0.0);
    CHECK(c.log_ci->hi == 0.0);
    for (const FactorChange& factor : c.factors) CHECK(factor.log_ratio == 0.0);
    check_sums(c);
  }
}

TEST_CASE("swapping before and after changes the sign and nothing else", "[compare]") {
  for (const Scenario& scenario : scenarios()) {
    const Pair pair = fixed_pair(scenario, 2);
    const Side before = side_of_job(pair.before, "before.json");
    const Side after = side_of_job(pair.after, "after.json");
    const Comparison c = compare(before, after, {});
    const Comparison back = compare(after, before, {});
    INFO(scenario.name);
    REQUIRE(c.comparable);
    REQUIRE(back.comparable);
    CHECK(back.log_ratio == -c.log_ratio);
    check_turned(c.log_ci, back.log_ci);
    CHECK(c.log_ci.has_value() == (std::min(before.steps, after.steps) >= 5));
    CHECK(back.moved == c.moved);
    REQUIRE(back.factors.size() == c.factors.size());
    for (std::size_t k = 0; k < c.factors.size(); ++k) {
      CHECK(back.factors[k].log_ratio == -c.factors[k].log_ratio);
      CHECK(back.factors[k].seconds == -c.factors[k].seconds);
      check_turned(c.factors[k].log_ci, back.factors[k].log_ci);
      CHECK(back.factors[k].significant == c.factors[k].significant);
    }
    const bool turned = (c.outcome == Outcome::better && back.outcome == Outcome::worse) ||
                        (c.outcome == Outcome::worse && back.outcome == Outcome::better) ||
                        c.outcome == back.outcome;
    CHECK(turned);
    if (c.outcome == Outcome::better) CHECK(back.outcome == Outcome::worse);
  }
}

TEST_CASE("a change of both sides' unit of time leaves the comparison alone", "[compare]") {
  const auto slowed = [](RunTimings run, double by) {
    const auto scale = [&](Column& column) {
      for (std::size_t s = 0; s < column.steps(); ++s) {
        for (double& value : column.row(s)) value *= by;
      }
    };
    for (Column* column : {&run.compute, &run.comm, &run.stall, &run.wait, &run.step, &run.forward,
                           &run.backward, &run.overlapped_comm}) {
      scale(*column);
    }
    for (auto& [kind, column] : run.comm_by_group) scale(column);
    return run;
  };
  for (const char* name : {"slow-rank", "input-stall", "slow-dp-group", "heavy-stage", "thermal"}) {
    const Pair pair = fixed_pair(find_scenario(name), 4);
    Pair longer = pair;
    longer.before.run = slowed(pair.before.run, 4.0);
    longer.after.run = slowed(pair.after.run, 4.0);
    const Comparison c = compared(pair);
    const Comparison scaled = compared(longer);
    INFO(name);
    CHECK(scaled.log_ratio == Approx(c.log_ratio).margin(1e-12));
    REQUIRE(c.log_ci);
    REQUIRE(scaled.log_ci);
    CHECK(scaled.log_ci->lo == Approx(c.log_ci->lo).margin(1e-12));
    CHECK(scaled.log_ci->hi == Approx(c.log_ci->hi).margin(1e-12));
    CHECK(scaled.moved == c.moved);
    CHECK(scaled.outcome == c.outcome);
    for (std::size_t k = 0; k < c.factors.size(); ++k) {
      CHECK(scaled.factors[k].log_ratio == Approx(c.factors[k].log_ratio).margin(1e-12));
    }
  }
}
