// Timings that people reported in public, told as runs. The numbers are theirs, typed anew; the ids
// are those of the collection that they come from.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "mfu/diagnose.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu;

constexpr double kMillisecond = 1e-3;

// Seconds of one rank in one step.
using Seconds = std::function<double(std::size_t step, std::size_t rank)>;

// A run in which each rank computes, stalls and transfers what it is told, and waits in `comm` for
// the slowest.
RunTimings synchronous(std::size_t ranks, std::size_t steps, const Seconds& compute,
                       const Seconds& stall, double transfer) {
  RunTimings run;
  run.compute = Column(steps, ranks);
  run.comm = Column(steps, ranks);
  run.stall = Column(steps, ranks);
  run.waits_in_given = true;
  for (std::size_t s = 0; s < steps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(s));
    double last = 0.0;
    for (std::size_t r = 0; r < ranks; ++r) {
      run.compute.at(s, r) = compute(s, r);
      run.stall.at(s, r) = stall(s, r);
      last = std::max(last, run.compute.at(s, r) + run.stall.at(s, r));
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      run.comm.at(s, r) = last - run.compute.at(s, r) - run.stall.at(s, r) + transfer;
    }
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.node = "n" + std::to_string(r / 8);
    info.gpu = static_cast<int>(r % 8);
    run.ranks.push_back(info);
  }
  run.recorded_ranks = ranks;
  return run;
}

// A verdict and its evidence.
struct Told : Verdict {
  std::vector<Fact> facts;
  std::vector<HealthFact> health;
};

Told verdict_of(const RunTimings& run) {
  Notes notes;
  const Diagnosis diagnosis = diagnose(run, DiagnoseOptions{}, notes);
  return {diagnosis.verdict, diagnosis.detail->verdict_facts, diagnosis.detail->verdict_health};
}

Seconds always(double value) {
  return [value](std::size_t, std::size_t) { return value; };
}

// A little noise that is the same in every run of the test.
double wobble(std::size_t step, std::size_t rank, double sigma) {
  return std::exp(sigma * Random(step * 1009 + rank * 9176 + 5).normal());
}

Seconds about(double value, double sigma = 0.003) {
  return [=](std::size_t s, std::size_t r) { return value * wobble(s, r, sigma); };
}

bool nobody(const Culprits& culprits) {
  return culprits.ranks.empty() && culprits.nodes.empty() && culprits.stages.empty() &&
         culprits.groups.empty();
}

const Fact* fact(const Told& verdict, FactKind kind) {
  const auto found = std::find_if(verdict.facts.begin(), verdict.facts.end(),
                                  [&](const Fact& each) { return each.kind == kind; });
  return found == verdict.facts.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("D051: 129.44 against 129.54 TFLOP/s is no straggler", "[reported]") {
  const auto compute = [](std::size_t, std::size_t r) {
    return 0.4 / (r == 0 ? 129.44 : r == 2 ? 129.54 : 129.5) * 129.5;
  };
  const Told verdict = verdict_of(synchronous(8, 20, compute, always(1e-3), 5e-3));
  CHECK(verdict.family == Family::healthy);
  CHECK(nobody(verdict.culprits));
}

TEST_CASE("D191: balanced, one rank's input, one rank's compute", "[reported]") {
  const double fifth = 124.6 * kMillisecond;
  const Told balanced =
      verdict_of(synchronous(2, 30, about(fifth), always(1.4 * kMillisecond), 2e-3));
  CHECK(balanced.family == Family::healthy);
  CHECK(nobody(balanced.culprits));

  const auto input = [](std::size_t, std::size_t r) {
    return (r == 0 ? 201.6 : 1.4) * kMillisecond;
  };
  const Told starved = verdict_of(synchronous(2, 30, about(fifth), input, 2e-3));
  CHECK(starved.family == Family::straggler);
  CHECK(starved.culprits.ranks == std::vector<std::int64_t>{0});
  REQUIRE(fact(starved, FactKind::stall_excess));
  CHECK(fact(starved, FactKind::stall_excess)->a == Approx(0.2016).epsilon(0.01));
  REQUIRE(starved.recoverable);
  CHECK(starved.recoverable->step_seconds == Approx(fifth + 3.4e-3).epsilon(0.02));

  const auto optimizer = [=](std::size_t s, std::size_t r) {
    return (110.0 + (r == 0 ? 33.1 : 14.5)) * kMillisecond * wobble(s, r, 0.003);
  };
  const Told slow = verdict_of(synchronous(2, 30, optimizer, always(1.4e-3), 2e-3));
  CHECK(slow.family == Family::straggler);
  CHECK(slow.culprits.ranks == std::vector<std::int64_t>{0});
  REQUIRE(fact(slow, FactKind::compute_excess));
  const Fact& excess = *fact(slow, FactKind::compute_excess);
  CHECK(excess.a - excess.b == Approx(18.6e-3).epsilon(0.05));
}

TEST_CASE("D193: last in 86.1 % of the steps, and the least waiting: that rank", "[reported]") {
  const auto compute = [](std::size_t s, std::size_t r) {
    const bool late = r == 4 && (s * 139 + 7) % 1000 < 861;
    return 0.2 * wobble(s, r, 0.01) * (late ? 1.12 : 1.0);
  };
  const RunTimings run = synchronous(8, 72, compute, always(1e-3), 4e-3);
  std::vector<double> waits(8, 0.0);
  for (std::size_t s = 0; s < 72; ++s) {
    for (std::size_t r = 0; r < 8; ++r) waits[r] += run.comm.at(s, r);
  }
  CHECK(std::min_element(waits.begin(), waits.end()) - waits.begin() == 4);
  const Told verdict = verdict_of(run);
  CHECK(verdict.family == Family::straggler);
  CHECK(verdict.culprits.ranks == std::vector<std::int64_t>{4});
}

TEST_CASE("D197: 4 ms for 228 bytes is arrival skew, not bandwidth", "[reported]") {
  // 160 GPUs arrive up to some milliseconds apart; the transfer itself is microseconds.
  const auto compute = [](std::size_t s, std::size_t r) {
    return 40e-3 + 1.6e-3 * Random(s * 31 + r * 7919 + 3).normal();
  };
  const RunTimings run = synchronous(160, 40, compute, always(0.2e-3), 20e-6);
  std::vector<double> durations;
  for (std::size_t s = 0; s < 40; ++s) {
    const auto row = run.comm.row(s);
    durations.push_back(median(row));
  }
  CHECK(median(durations) == Approx(4e-3).epsilon(0.2));
  Notes notes;
  const Diagnosis diagnosis = diagnose(run, DiagnoseOptions{}, notes);
  CHECK(diagnosis.verdict.family == Family::imbalance);
  CHECK(nobody(diagnosis.verdict.culprits));
  for (const Finding& finding : diagnosis.detail->findings) {
    if (finding.family == Family::communication) CHECK(finding.loss_seconds < 0.1e-3);
  }
}

TEST_CASE("D205: 10.12 against 9.17 is no straggler among six", "[reported]") {
  constexpr double kSeconds[] = {9.98, 10.12, 9.46, 9.40, 9.17, 9.58};
  const auto compute = [&](std::size_t s, std::size_t r) {
    return kSeconds[r] * wobble(s, r, 0.001);
  };
  const RunTimings run = synchronous(6, 24, compute, always(0.01), 0.05);
  CHECK(10.12 / 9.17 == Approx(1.104).epsilon(0.001));
  CHECK(10.12 / median(kSeconds) == Approx(1.063).epsilon(0.001));
  const Told verdict = verdict_of(run);
  CHECK(verdict.family == Family::healthy);
  CHECK(nobody(verdict.culprits));
}

TEST_CASE("D211: a GPU that flips between two speeds at one clock drags its peers", "[reported]") {
  for (const double share : {0.3, 0.5, 0.7}) {
    const auto compute = [&](std::size_t s, std::size_t r) {
      const bool slow = r == 2 && Random(s * 77 + 1).uniform() < share;
      return (slow ? 94e-3 : 63e-3) * wobble(s, r, 0.004);
    };
    RunTimings run = synchronous(4, 60, compute, always(0.5e-3), 1e-3);
    for (RankInfo& info : run.ranks) info.telemetry.sm_clock_mhz = {2400.0};
    const Told verdict = verdict_of(run);
    INFO("slow in " << share << " of the steps");
    CHECK(verdict.family == Family::straggler);
    CHECK(verdict.culprits.ranks == std::vector<std::int64_t>{2});
    if (share < 0.45) {
      REQUIRE(fact(verdict, FactKind::compute_excess));
      const Fact& excess = *fact(verdict, FactKind::compute_excess);
      CHECK(excess.a / excess.b == Approx(1.492).epsilon(0.01));
    }
    // Its clock is its peers': that speaks against the clock as the cause.
    const auto clock =
        std::find_if(verdict.health.begin(), verdict.health.end(),
                     [](const HealthFact& seen) { return seen.check == HealthCheck::clock; });
    REQUIRE(clock != verdict.health.end());
    CHECK(clock->stance == Stance::contradicts);
    CHECK(verdict.cause != Cause::thermal);
  }
}

TEST_CASE("D211: two speeds of all GPUs alike are not healthy", "[reported]") {
  for (const double share : {0.3, 0.5, 0.7}) {
    const auto compute = [&](std::size_t s, std::size_t r) {
      const bool slow = Random(s * 77 + 1).uniform() < share;
      return (slow ? 94e-3 : 63e-3) * wobble(s, r, 0.004);
    };
    const Told verdict = verdict_of(synchronous(4, 60, compute, always(0.5e-3), 1e-3));
    INFO("slow in " << share << " of the steps");
    CHECK(verdict.family == Family::single_gpu_efficiency);
    CHECK(nobody(verdict.culprits));
    REQUIRE(verdict.recoverable);
    CHECK(verdict.recoverable->step_seconds == Approx(65e-3).epsilon(0.05));
  }
}

TEST_CASE("D213: 210 of 212 seconds in one step are input", "[reported]") {
  const auto stall = [](std::size_t s, std::size_t) { return s == 14 ? 210.16 : 0.1; };
  const Told verdict = verdict_of(synchronous(4, 30, about(1.8), stall, 0.02));
  CHECK(verdict.family == Family::stall);
  CHECK(verdict.persistence == Persistence::once);
  REQUIRE(fact(verdict, FactKind::once));
  CHECK(fact(verdict, FactKind::once)->a == Approx(210.06).epsilon(0.01));
  CHECK(fact(verdict, FactKind::once)->of == 30);
}

TEST_CASE("relative scores of 0.97 to 1.00 are healthy", "[reported]") {
  for (const std::size_t ranks : {8U, 80U}) {
    const auto compute = [&](std::size_t s, std::size_t r) {
      const double score =
          1.0 - 0.03 * static_cast<double>((r * 37) % ranks) / static_cast<double>(ranks - 1);
      return 0.3 / score * wobble(s, r, 0.002);
    };
    const Told verdict = verdict_of(synchronous(ranks, 30, compute, always(1e-3), 5e-3));
    INFO(ranks << " ranks");
    CHECK(verdict.family == Family::healthy);
    CHECK(nobody(verdict.culprits));
  }
}
