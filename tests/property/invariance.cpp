// What a diagnosis must not depend on: the clock's unit, the numbers of ranks, the names of nodes,
// the way in which waits were written down.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "faults/job/reshape.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scoring/accuracy.hpp"
#include "faults/scoring/score.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

Diagnosis diagnosed(const RunTimings& run) {
  DiagnoseOptions options;
  options.replicates = 200;
  Notes notes;
  return diagnose(run, options, notes);
}

Job drawn(std::string_view scenario, std::uint64_t k) {
  return simulate(find_scenario(scenario).draw(scenario_seed(scenario, k)));
}

std::set<std::int64_t> as_set(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

void check_same_verdict(const Verdict& got, const Verdict& wanted) {
  CHECK(to_string(got.family) == to_string(wanted.family));
  CHECK(to_string(got.locality) == to_string(wanted.locality));
  CHECK(to_string(got.persistence) == to_string(wanted.persistence));
  CHECK(to_string(got.cause) == to_string(wanted.cause));
}

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  Random random(seed);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

TEST_CASE("all times x k: parts x k, MFU / k, the same verdict", "[invariance]") {
  for (const Scenario& scenario : scenarios()) {
    const Job job = drawn(scenario.name, 600);
    const Diagnosis before = diagnosed(job.run);
    for (const double factor : {2.0, 3.7, 1e-3}) {
      INFO(job.spec.name << ", seed " << job.spec.seed << ", times x " << factor);
      RunTimings slower = scaled(job.run, factor);
      const Diagnosis same_work = diagnosed(slower);
      if (before.headline.mfu) {
        CHECK(*same_work.headline.mfu * factor == Approx(*before.headline.mfu).epsilon(1e-9));
      }
      CHECK(same_work.headline.parallel_efficiency ==
            Approx(before.headline.parallel_efficiency).epsilon(1e-9));
      // With the work grown alike nothing but the unit has changed.
      if (slower.workload.flops_per_step) *slower.workload.flops_per_step *= factor;
      const Diagnosis after = diagnosed(slower);
      REQUIRE(after.parts.size() == before.parts.size());
      for (std::size_t i = 0; i < after.parts.size(); ++i) {
        INFO(to_string(after.parts[i].id));
        CHECK(after.parts[i].seconds == Approx(before.parts[i].seconds * factor)
                                            .epsilon(1e-9)
                                            .margin(1e-9 * before.headline.step_seconds * factor));
      }
      check_same_verdict(after.verdict, before.verdict);
      CHECK(after.verdict.culprits.ranks == before.verdict.culprits.ranks);
      CHECK(after.verdict.confidence == Approx(before.verdict.confidence).margin(0.011));
      if (before.verdict.recoverable) {
        REQUIRE(after.verdict.recoverable);
        CHECK(after.verdict.recoverable->step_seconds ==
              Approx(before.verdict.recoverable->step_seconds * factor).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("ranks under other numbers and nodes under other names", "[invariance]") {
  for (const Scenario& scenario : scenarios()) {
    const Job job = drawn(scenario.name, 700);
    if (job.run.ranks.size() > 256) continue;
    INFO(job.spec.name << ", seed " << job.spec.seed);
    const Diagnosis before = diagnosed(job.run);

    const std::vector<std::size_t> order = shuffled(job.run.ranks.size(), 5);
    RunTimings other = renumbered(job.run, order);
    for (RankInfo& info : other.ranks)
      info.node = "zz-" + std::string(info.node.rbegin(), info.node.rend());
    const Diagnosis after = diagnosed(other);

    check_same_verdict(after.verdict, before.verdict);
    CHECK(after.headline.step_seconds == Approx(before.headline.step_seconds).epsilon(1e-12));
    std::set<std::int64_t> named;
    for (const std::int64_t rank : after.verdict.culprits.ranks) {
      named.insert(job.run.ranks[order[static_cast<std::size_t>(rank)]].rank);
    }
    CHECK(named == as_set(before.verdict.culprits.ranks));
    CHECK(after.verdict.culprits.nodes.size() == before.verdict.culprits.nodes.size());
    CHECK(after.verdict.culprits.stages == before.verdict.culprits.stages);
    CHECK(after.verdict.culprits.groups == before.verdict.culprits.groups);
    if (before.verdict.recoverable) {
      REQUIRE(after.verdict.recoverable);
      CHECK(after.verdict.recoverable->step_seconds ==
            Approx(before.verdict.recoverable->step_seconds).epsilon(1e-9));
    }
  }
}

TEST_CASE("the same run twice gives the same answer", "[invariance]") {
  for (const std::string_view name : {"slow-rank", "sequence-lengths", "gc-pauses", "healthy-pp"}) {
    const Job job = drawn(name, 800);
    const Diagnosis once = diagnosed(job.run);
    const Diagnosis again = diagnosed(job.run);
    check_same_verdict(again.verdict, once.verdict);
    CHECK(again.verdict.confidence == once.verdict.confidence);
    CHECK(again.headline.step_seconds == once.headline.step_seconds);
  }
}

TEST_CASE("the way in which waits were recorded does not change the verdict", "[invariance]") {
  for (const std::string_view name :
       {"healthy-dp", "healthy-tp", "healthy-pp", "slow-rank", "slow-node", "heavy-stage",
        "data-shards", "sequence-lengths", "input-stall", "checkpoint", "slow-rank-bursts"}) {
    for (std::uint64_t k = 900; k < 903; ++k) {
      JobSpec spec = find_scenario(name).draw(scenario_seed(name, k));
      spec.recording.step_series = false;
      for (const WaitsIn waits_in : {WaitsIn::comm, WaitsIn::stall, WaitsIn::separate}) {
        for (const bool bubbles : {false, true}) {
          for (const bool by_group : {false, true}) {
            if (bubbles && (spec.layout.pp == 1 || waits_in == WaitsIn::stall)) continue;
            spec.recording.waits_in = waits_in;
            spec.recording.bubbles_in_stall = bubbles;
            spec.recording.by_group = by_group;
            const Job job = simulate(spec);
            const Diagnosis diagnosis = diagnosed(job.run);
            INFO(name << ", seed " << spec.seed << ", waits in "
                      << (waits_in == WaitsIn::comm    ? "comm"
                          : waits_in == WaitsIn::stall ? "stall"
                                                       : "separate")
                      << (bubbles ? ", bubbles in stall" : "") << (by_group ? ", by group" : ""));
            const Score result = score(diagnosis, job);
            CHECK(result.family);
            CHECK(result.culprit);
          }
        }
      }
    }
  }
}

TEST_CASE("one typical rank more names nobody", "[invariance]") {
  for (std::uint64_t k = 1000; k < 1010; ++k) {
    JobSpec spec = find_scenario("healthy-dp").draw(scenario_seed("healthy-dp", k));
    spec.recording.missing_samples = 0.0;
    const Job job = simulate(spec);
    const Verdict verdict = diagnosed(with_typical_rank(job.run)).verdict;
    INFO("seed " << spec.seed);
    CHECK(verdict.culprits.ranks.empty());
    CHECK(verdict.culprits.nodes.empty());
    const bool calm = verdict.family == Family::healthy || verdict.family == Family::inconclusive;
    CHECK(calm);
  }
}

TEST_CASE("one healthy rank that was not recorded names nobody", "[invariance]") {
  for (const std::string_view name : {"healthy-dp", "healthy-tp", "slow-rank", "slow-node"}) {
    for (std::uint64_t k = 1100; k < 1104; ++k) {
      JobSpec spec = find_scenario(name).draw(scenario_seed(name, k));
      if (spec.layout.ranks() < 32) continue;
      spec.recording.one_per_lockstep_group = false;
      const Job job = simulate(spec);
      // A rank that no fault is tied to.
      std::size_t missing = 1;
      const auto guilty = [&](std::size_t i) {
        const auto& ranks = job.truth.culprits.ranks;
        return std::find(ranks.begin(), ranks.end(), job.run.ranks[i].rank) != ranks.end();
      };
      while (guilty(missing)) ++missing;
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < job.run.ranks.size(); ++i) {
        if (i != missing) kept.push_back(i);
      }
      const RunTimings partial = with_ranks(job.run, kept);
      const Diagnosis diagnosis = diagnosed(partial);
      INFO(name << ", seed " << spec.seed);
      const Score result = score(diagnosis, job);
      CHECK(result.family);
      CHECK(result.culprit);
    }
  }
}

TEST_CASE("a steady fault is the same in whichever order the steps are told", "[invariance]") {
  for (const std::string_view name : {"slow-rank", "slow-node", "heavy-stage", "input-stall"}) {
    for (std::uint64_t k = 1200; k < 1204; ++k) {
      JobSpec spec = find_scenario(name).draw(scenario_seed(name, k));
      spec.noise.warmup_steps = 0;
      const Job job = simulate(spec);
      const RunTimings mixed_up = with_steps(job.run, shuffled(job.run.steps.size(), k));
      INFO(name << ", seed " << spec.seed);
      const Score result = score(diagnosed(mixed_up), job);
      CHECK(result.family);
      CHECK(result.culprit);
    }
  }
}
