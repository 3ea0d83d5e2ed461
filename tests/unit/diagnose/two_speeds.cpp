// Ranks of two speeds, places that are work and device at once, and what came once.
#include <algorithm>
#include <functional>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "mfu/diagnose.hpp"
#include "timings/device_health.hpp"

using namespace mfu;

namespace two_speeds {

constexpr std::size_t kSteps = 24;

// Data parallel, one second of compute: times `slow(rank)`, plus `extra(step, rank)` seconds.
struct Made {
  std::size_t ranks = 16;
  std::function<double(std::size_t)> slow = [](std::size_t) { return 1.0; };
  std::function<double(std::size_t, std::size_t)> computes = [](std::size_t, std::size_t) {
    return 0.0;
  };
  std::function<double(std::size_t, std::size_t)> stalls = [](std::size_t, std::size_t) {
    return 0.0;
  };
  std::size_t per_node = 0;  // ranks of a node; 0: nodes are not known
  int experts = 0;           // ep coordinate is rank modulo this; 0: none
  bool devices = false;
};

RunTimings run_of(const Made& made) {
  RunTimings run;
  run.compute = Column(kSteps, made.ranks);
  run.comm = Column(kSteps, made.ranks);
  run.stall = Column(kSteps, made.ranks);
  const int experts = std::max(1, made.experts);
  run.parallelism[Axis::dp] = static_cast<int>(made.ranks) / experts;
  if (made.experts > 0) run.parallelism[Axis::ep] = experts;
  for (std::size_t s = 0; s < kSteps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(100 + s));
    double longest = 0.0;
    for (std::size_t r = 0; r < made.ranks; ++r) {
      const double noise = 0.002 * static_cast<double>((7 * r + 3 * s) % 5);
      run.compute.at(s, r) = made.slow(r) + noise + made.computes(s, r);
      run.stall.at(s, r) = made.stalls(s, r);
      longest = std::max(longest, run.compute.at(s, r) + run.stall.at(s, r));
    }
    for (std::size_t r = 0; r < made.ranks; ++r) {
      run.comm.at(s, r) = longest + 0.04 - run.compute.at(s, r) - run.stall.at(s, r);
    }
  }
  for (std::size_t r = 0; r < made.ranks; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.coords[Axis::dp] = static_cast<int>(r) / experts;
    if (made.experts > 0) info.coords[Axis::ep] = static_cast<int>(r) % experts;
    if (made.per_node > 0) info.node = "n" + std::to_string(r / made.per_node);
    if (made.devices) {
      info.device.emplace();
      info.device->sm_clock_mhz = 1980;
      info.device->temperature_c = info.device->hottest_c = 60;
    }
    run.ranks.push_back(info);
  }
  run.recorded_ranks = made.ranks;
  return run;
}

Diagnosis diagnosed(const RunTimings& run) {
  Notes notes;
  return diagnose(run, DiagnoseOptions{}, notes);
}

const Fact* fact_of(const Diagnosis& diagnosis, FactKind kind) {
  const auto& facts = diagnosis.detail->verdict_facts;
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.kind == kind; });
  return found == facts.end() ? nullptr : &*found;
}

bool odd_rank(std::size_t r) { return r % 2 == 1; }

void heat(RunTimings& run, const std::function<bool(std::size_t)>& whom) {
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    if (!whom(r)) continue;
    run.ranks[r].device->sm_clock_mhz = 1580;
    run.ranks[r].device->temperature_c = run.ranks[r].device->hottest_c = 88;
    run.ranks[r].device->reasons_known = true;
    run.ranks[r].device->reasons = {{ThrottleReason::hw_thermal, 1.0, {}}};
  }
}

TEST_CASE("half of the ranks slow: work or devices, until somebody looks", "[two-speeds]") {
  Made made;
  made.slow = [](std::size_t r) { return odd_rank(r) ? 1.25 : 1.0; };
  Diagnosis unseen = diagnosed(run_of(made));
  CHECK(unseen.verdict.family == Family::inconclusive);
  CHECK(unseen.verdict.families == std::vector{Family::straggler, Family::imbalance});
  CHECK(unseen.verdict.culprits.ranks == std::vector<std::int64_t>{1, 3, 5, 7, 9, 11, 13, 15});
  REQUIRE(fact_of(unseen, FactKind::many_slow) != nullptr);
  CHECK(fact_of(unseen, FactKind::many_slow)->count == 8);
  CHECK(fact_of(unseen, FactKind::compute_excess)->a == Approx(1.25).epsilon(0.01));
  CHECK(fact_of(unseen, FactKind::graded_shards) == nullptr);

  made.devices = true;
  const Diagnosis sound = diagnosed(run_of(made));
  CHECK(sound.verdict.family == Family::imbalance);
  CHECK(sound.verdict.cause == Cause::data_shard);
  CHECK(fact_of(sound, FactKind::two_speeds) != nullptr);

  RunTimings hot = run_of(made);
  heat(hot, odd_rank);
  const Diagnosis heated = diagnosed(hot);
  CHECK(heated.verdict.family == Family::straggler);
  CHECK(heated.verdict.cause == Cause::thermal);
  CHECK(heated.verdict.culprits.ranks.size() == 8);
  REQUIRE(heated.verdict.recoverable);
  CHECK(heated.verdict.recoverable->step_seconds == Approx(1.046).epsilon(0.01));
}

TEST_CASE("graded shards are not two speeds", "[two-speeds]") {
  Made made;
  made.slow = [](std::size_t r) { return 1.0 + 0.02 * static_cast<double>(r); };
  const Diagnosis diagnosis = diagnosed(run_of(made));
  CHECK(diagnosis.verdict.family == Family::imbalance);
  CHECK(fact_of(diagnosis, FactKind::two_speeds) == nullptr);
  CHECK(fact_of(diagnosis, FactKind::graded_shards) != nullptr);
}

TEST_CASE("fewer than half of the nodes are places, half of them or more are not known",
          "[two-speeds]") {
  Made made;
  made.ranks = 32;
  made.per_node = 4;
  const auto slow_nodes = [&](std::size_t count) {
    made.slow = [count](std::size_t r) { return r / 4 < count ? 1.25 : 1.0; };
    return diagnosed(run_of(made));
  };
  for (const std::size_t count : {1U, 2U, 3U}) {
    const Diagnosis diagnosis = slow_nodes(count);
    INFO(count);
    CHECK(diagnosis.verdict.family == Family::straggler);
    CHECK(diagnosis.verdict.locality == Locality::node);
    CHECK(diagnosis.verdict.culprits.nodes.size() == count);
    // The last one before it is read otherwise is not a sure one.
    CHECK((diagnosis.verdict.confidence >= 0.9) == (count < 3));
  }
  for (const std::size_t count : {4U, 5U, 6U, 7U}) {
    const Diagnosis diagnosis = slow_nodes(count);
    INFO(count);
    CHECK(diagnosis.verdict.family == Family::inconclusive);
    CHECK(diagnosis.verdict.families == std::vector{Family::straggler, Family::imbalance});
    CHECK(diagnosis.verdict.culprits.nodes.size() == count);
  }
}

TEST_CASE("experts that fill a node, or a rank, are that node or rank", "[two-speeds]") {
  Made made;
  made.ranks = 32;
  made.per_node = 8;
  made.experts = 32;
  const auto node = [](std::size_t r) { return r / 8 == 1 ? 1.3 : 1.0; };
  made.slow = node;
  const Diagnosis both = diagnosed(run_of(made));
  CHECK(both.verdict.family == Family::inconclusive);
  CHECK(both.verdict.families == std::vector{Family::straggler, Family::imbalance});
  CHECK(both.verdict.culprits.nodes == std::vector<std::string>{"n1"});
  CHECK(both.verdict.culprits.groups.size() == 8);
  REQUIRE(fact_of(both, FactKind::coincides) != nullptr);

  made.slow = [](std::size_t r) { return r == 5 ? 1.3 : 1.0; };
  const Diagnosis one = diagnosed(run_of(made));
  CHECK(one.verdict.family == Family::inconclusive);
  CHECK(one.verdict.culprits.groups == std::vector<std::string>{"ep=5"});

  // Four expert groups: the other replicas of the experts tell the device from the work.
  made.experts = 8;
  CHECK(diagnosed(run_of(made)).verdict.family == Family::straggler);
  made.slow = [](std::size_t r) { return r % 8 == 5 ? 1.3 : 1.0; };
  const Diagnosis work = diagnosed(run_of(made));
  CHECK(work.verdict.family == Family::imbalance);
  CHECK(work.verdict.cause == Cause::expert_load);

  // Telemetry decides.
  made.experts = 32;
  made.devices = true;
  made.slow = node;
  RunTimings run = run_of(made);
  heat(run, [](std::size_t r) { return r / 8 == 1; });
  const Diagnosis hot = diagnosed(run);
  CHECK(hot.verdict.family == Family::straggler);
  CHECK(hot.verdict.cause == Cause::thermal);
  CHECK(hot.verdict.culprits.nodes == std::vector<std::string>{"n1"});
}

TEST_CASE("what came once is no pattern", "[once]") {
  Made made;
  made.stalls = [](std::size_t s, std::size_t r) { return s == 12 && r == 3 ? 8.0 : 0.0; };
  const Diagnosis stopped = diagnosed(run_of(made));
  CHECK(stopped.verdict.family == Family::straggler);
  CHECK(stopped.verdict.cause == Cause::none);
  CHECK(stopped.verdict.culprits.ranks == std::vector<std::int64_t>{3});
  CHECK(stopped.verdict.confidence < 0.8);
  REQUIRE(fact_of(stopped, FactKind::once) != nullptr);
  CHECK(fact_of(stopped, FactKind::once)->count == 112);
  CHECK(fact_of(stopped, FactKind::once)->name == "rank 3");

  Made computed;
  computed.computes = made.stalls;
  const Diagnosis longer = diagnosed(run_of(computed));
  CHECK(longer.verdict.family == Family::straggler);
  CHECK(longer.verdict.culprits.ranks == std::vector<std::int64_t>{3});
  CHECK(longer.verdict.confidence < 0.8);
  CHECK(fact_of(longer, FactKind::once) != nullptr);

  // All at once: the job's, and no less rare.
  made.stalls = [](std::size_t s, std::size_t) { return s == 12 ? 8.0 : 0.0; };
  const Diagnosis together = diagnosed(run_of(made));
  CHECK(together.verdict.family == Family::stall);
  CHECK(together.verdict.culprits.ranks.empty());
  CHECK(together.verdict.confidence < 0.8);

  // Two ranks once each are not everybody's garbage collector; eight are.
  made.stalls = [](std::size_t s, std::size_t r) {
    return s == 5 * r && r < 3 && r > 0 ? 4.0 : 0.0;
  };
  CHECK(diagnosed(run_of(made)).verdict.cause == Cause::none);
  made.stalls = [](std::size_t s, std::size_t r) { return s == 3 * r && r < 8 ? 4.0 : 0.0; };
  const Diagnosis collected = diagnosed(run_of(made));
  CHECK(collected.verdict.family == Family::stall);
  CHECK(collected.verdict.cause == Cause::gc);
}

TEST_CASE("two speeds from some step on are no slowdown of all ranks", "[two-speeds]") {
  Made made;
  made.computes = [](std::size_t s, std::size_t r) { return odd_rank(r) && s >= 14 ? 0.25 : 0.0; };
  const Diagnosis halves = diagnosed(run_of(made));
  CHECK(halves.verdict.family == Family::inconclusive);
  CHECK(halves.verdict.families == std::vector{Family::straggler, Family::imbalance});
  CHECK(halves.verdict.onset_step == 114);
  REQUIRE(fact_of(halves, FactKind::many_slow) != nullptr);
  CHECK(fact_of(halves, FactKind::compute_excess)->a == Approx(1.25).epsilon(0.01));

  // Two ranks are devices, also where they are half of the job; one more would not be.
  made.ranks = 4;
  const Diagnosis few = diagnosed(run_of(made));
  CHECK(few.verdict.family == Family::straggler);
  CHECK(few.verdict.culprits.ranks == std::vector<std::int64_t>{1, 3});
  CHECK(few.verdict.confidence < 0.9);

  made.ranks = 24;
  made.per_node = 4;
  made.computes = [](std::size_t s, std::size_t r) {
    return (r / 4 == 1 || r / 4 == 2) && s >= 14 ? 0.25 : 0.0;
  };
  const Diagnosis nodes = diagnosed(run_of(made));
  CHECK(nodes.verdict.family == Family::straggler);
  CHECK(nodes.verdict.culprits.nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(nodes.verdict.onset_step == 114);

  // In bursts: work that moves from rank to rank has no sides.
  made.computes = [](std::size_t s, std::size_t r) {
    return (r / 4 == 1 || r / 4 == 2) && s % 4 == 1 ? 0.4 : 0.0;
  };
  const Diagnosis bursts = diagnosed(run_of(made));
  CHECK(bursts.verdict.family == Family::straggler);
  CHECK(bursts.verdict.culprits.nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(bursts.verdict.persistence == Persistence::bursts);
  made.computes = [](std::size_t s, std::size_t r) { return (r + s) % 2 == 0 ? 0.25 : 0.0; };
  CHECK(diagnosed(run_of(made)).verdict.persistence == Persistence::moving);

  // Half of the experts, all their replicas: work, since a step.
  made = {};
  made.ranks = 32;
  made.experts = 8;
  made.computes = [](std::size_t s, std::size_t r) { return r % 8 < 4 && s >= 14 ? 0.3 : 0.0; };
  const Diagnosis experts = diagnosed(run_of(made));
  CHECK(experts.verdict.family == Family::imbalance);
  CHECK(experts.verdict.cause == Cause::expert_load);
  CHECK(experts.verdict.onset_step == 114);
}

TEST_CASE("devices of a few of the slow ranks say nothing of the others", "[two-speeds]") {
  Made made;
  made.slow = [](std::size_t r) { return odd_rank(r) ? 1.25 : 1.0; };
  made.devices = true;
  RunTimings run = run_of(made);
  heat(run, odd_rank);
  for (std::size_t r = 4; r < made.ranks; ++r) run.ranks[r].device.reset();
  CHECK(diagnosed(run).verdict.family == Family::inconclusive);
}

TEST_CASE("one tensor-parallel index in all groups is work or a slot, not eight bad ranks") {
  Made made;
  made.ranks = 32;
  made.per_node = 8;
  made.slow = [](std::size_t r) { return r % 4 == 3 ? 1.3 : 1.0; };
  RunTimings run = run_of(made);
  run.parallelism[Axis::dp] = 8;
  run.parallelism[Axis::tp] = 4;
  for (std::size_t r = 0; r < made.ranks; ++r) {
    run.ranks[r].coords[Axis::dp] = static_cast<int>(r) / 4;
    run.ranks[r].coords[Axis::tp] = static_cast<int>(r) % 4;
  }
  const Diagnosis all = diagnosed(run);
  CHECK(all.verdict.family == Family::inconclusive);
  CHECK(all.verdict.families == std::vector{Family::straggler, Family::imbalance});
  CHECK(all.verdict.culprits.groups == std::vector<std::string>{"tp=3"});
}

}  // namespace two_speeds
