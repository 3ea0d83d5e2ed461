// What hides: a place behind a slower one, a late fault behind the steps before it, evaluations
// among the steps.
#include <algorithm>
#include <functional>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "mfu/diagnose.hpp"

using namespace mfu;

namespace hidden_communication {

constexpr std::size_t kRanks = 16;
constexpr std::size_t kSteps = 60;

using Seconds = std::function<double(std::size_t, std::size_t)>;  // (step, rank)

double nothing(std::size_t, std::size_t) { return 0.0; }

// Data parallel over two nodes, a second of compute at 55 % of the peak, and what is given on top.
Diagnosis diagnosed(const Seconds& computes, const Seconds& stalls = nothing) {
  RunTimings run;
  run.compute = Column(kSteps, kRanks);
  run.comm = Column(kSteps, kRanks);
  run.stall = Column(kSteps, kRanks);
  run.parallelism[Axis::dp] = static_cast<int>(kRanks);
  run.hardware.count = static_cast<std::int64_t>(kRanks);
  run.hardware.peak_tflops = 1000.0;
  run.workload.flops_per_step = 0.55e15 * static_cast<double>(kRanks);
  for (std::size_t s = 0; s < kSteps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(100 + s));
    double longest = 0.0;
    for (std::size_t r = 0; r < kRanks; ++r) {
      run.compute.at(s, r) =
          1.0 + 0.001 * static_cast<double>((7 * r + 3 * s) % 5) + computes(s, r);
      run.stall.at(s, r) = stalls(s, r);
      longest = std::max(longest, run.compute.at(s, r) + run.stall.at(s, r));
    }
    for (std::size_t r = 0; r < kRanks; ++r) {
      run.comm.at(s, r) = longest + 0.04 - run.compute.at(s, r) - run.stall.at(s, r);
    }
  }
  for (std::size_t r = 0; r < kRanks; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.coords[Axis::dp] = static_cast<int>(r);
    info.node = "n" + std::to_string(r / 8);
    run.ranks.push_back(info);
  }
  run.recorded_ranks = kRanks;
  Notes notes;
  return diagnose(run, DiagnoseOptions{}, notes);
}

Seconds of_rank(std::size_t rank, double seconds, std::size_t from = 0) {
  return [=](std::size_t s, std::size_t r) { return r == rank && s >= from ? seconds : 0.0; };
}

TEST_CASE("a place that hides behind a slower one is not what the verdict promises", "[hidden]") {
  // Mending rank 2 alone would save nothing: rank 5 is longer still.
  const Diagnosis diagnosis = diagnosed(of_rank(5, 0.4), of_rank(2, 0.3));
  REQUIRE(diagnosis.verdict.family == Family::straggler);
  CHECK(diagnosis.verdict.culprits.ranks == std::vector<std::int64_t>{5});
  REQUIRE(diagnosis.verdict.recoverable);
  CHECK(diagnosis.verdict.recoverable->step_seconds == Approx(1.34).epsilon(0.01));
  REQUIRE(diagnosis.detail->findings.size() >= 2);
  CHECK(diagnosis.detail->findings[0].culprits.ranks == std::vector<std::int64_t>{5});
  CHECK(diagnosis.detail->findings[1].culprits.ranks == std::vector<std::int64_t>{2});
  CHECK(diagnosis.detail->findings[1].loss_seconds > diagnosis.detail->findings[0].loss_seconds);

  // As long as each other: neither is worth anything alone, and both are told.
  const Diagnosis equal = diagnosed(of_rank(5, 0.3), of_rank(2, 0.3));
  CHECK(equal.verdict.culprits.ranks == std::vector<std::int64_t>{5});
  CHECK(equal.verdict.recoverable->step_seconds == Approx(1.34).epsilon(0.01));
  REQUIRE(equal.detail->findings.size() >= 2);
  CHECK(equal.detail->findings[0].material);
  CHECK(equal.detail->findings[1].culprits.ranks == std::vector<std::int64_t>{2});

  // The longer one was found last.
  const Diagnosis stall = diagnosed(of_rank(5, 0.2), of_rank(2, 0.4));
  CHECK(stall.verdict.culprits.ranks == std::vector<std::int64_t>{2});
  CHECK(stall.verdict.recoverable->step_seconds == Approx(1.24).epsilon(0.01));
}

TEST_CASE("what began at the end counts by what it costs since", "[hidden]") {
  const Diagnosis late = diagnosed(of_rank(5, 0.4, 54));
  CHECK(late.verdict.family == Family::straggler);
  CHECK(late.verdict.onset_step == 154);
  CHECK(late.verdict.culprits.ranks == std::vector<std::int64_t>{5});
  // Two steps are no state, and 2 % of a step no fault.
  CHECK(diagnosed(of_rank(5, 0.4, 58)).verdict.family == Family::healthy);
  CHECK(diagnosed(of_rank(5, 0.02, 30)).verdict.family == Family::healthy);
  const Diagnosis all = diagnosed([](std::size_t s, std::size_t) { return s >= 54 ? 0.3 : 0.0; });
  CHECK(all.verdict.family == Family::single_gpu_efficiency);
  CHECK(all.verdict.onset_step == 154);
}

TEST_CASE("short evaluations among the steps do not make training slow", "[hidden]") {
  const Diagnosis evaluated =
      diagnosed([](std::size_t s, std::size_t) { return s % 10 == 9 ? -0.65 : 0.0; });
  CHECK(evaluated.verdict.family == Family::healthy);
  // Two speeds of all GPUs alike still count where the slow ones are no more than half.
  const Diagnosis flipping =
      diagnosed([](std::size_t s, std::size_t) { return s % 2 == 1 ? 0.3 : 0.0; });
  CHECK(flipping.verdict.family == Family::single_gpu_efficiency);
}

TEST_CASE("places that were slow in turn are told apart, and the last one is the verdict's",
          "[hidden]") {
  const Diagnosis diagnosis = diagnosed([](std::size_t s, std::size_t r) {
    return (r == 3 && s < 30) || (r == 9 && s >= 30) ? 0.4 : 0.0;
  });
  CHECK(diagnosis.verdict.family == Family::straggler);
  CHECK(diagnosis.verdict.culprits.ranks == std::vector<std::int64_t>{9});
  CHECK(diagnosis.verdict.onset_step == 130);
  REQUIRE(diagnosis.detail->findings.size() >= 2);
  CHECK(diagnosis.detail->findings[1].culprits.ranks == std::vector<std::int64_t>{3});
  CHECK(diagnosis.detail->findings[1].gone_since_step == 130);
  // Slow at the same time they are one finding.
  const Diagnosis together = diagnosed(
      [](std::size_t s, std::size_t r) { return (r == 3 || r == 9) && s >= 30 ? 0.4 : 0.0; });
  CHECK(together.verdict.culprits.ranks == std::vector<std::int64_t>{3, 9});
}

TEST_CASE("stages that get heavier from some step on are no slowdown of all ranks", "[hidden]") {
  constexpr std::size_t kStages = 4;
  constexpr std::size_t kReplicas = 16;
  constexpr double kMicrobatches = 16.0;
  RunTimings run;
  run.compute = Column(kSteps, kStages * kReplicas);
  run.comm = Column(kSteps, kStages * kReplicas);
  run.stall = Column(kSteps, kStages * kReplicas);
  run.parallelism[Axis::pp] = static_cast<int>(kStages);
  run.parallelism[Axis::dp] = static_cast<int>(kReplicas);
  run.workload.microbatches = static_cast<int>(kMicrobatches);
  for (std::size_t s = 0; s < kSteps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(100 + s));
    double total = 0.0;
    double longest = 0.0;
    for (std::size_t p = 0; p < kStages; ++p) {
      const double level = (p == 1 || p == 2) && s >= 30 ? 1.25 : 1.0;
      total += level;
      longest = std::max(longest, level);
      for (std::size_t d = 0; d < kReplicas; ++d) {
        run.compute.at(s, p * kReplicas + d) =
            level + 0.0005 * static_cast<double>((7 * (p + d) + 3 * s) % 5);
      }
    }
    // Filling and draining beside the longest stage.
    const double step = longest + (total - longest) / kMicrobatches + 0.02;
    for (std::size_t r = 0; r < kStages * kReplicas; ++r) {
      run.comm.at(s, r) = step - run.compute.at(s, r);
    }
  }
  for (std::size_t r = 0; r < kStages * kReplicas; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.coords[Axis::pp] = static_cast<int>(r / kReplicas);
    info.coords[Axis::dp] = static_cast<int>(r % kReplicas);
    info.node = "n" + std::to_string(r / 8);
    run.ranks.push_back(info);
  }
  run.recorded_ranks = run.ranks.size();
  Notes notes;
  const Diagnosis diagnosis = diagnose(run, DiagnoseOptions{}, notes);
  // Each stage is two nodes: work or hardware.
  CHECK(diagnosis.verdict.family == Family::inconclusive);
  CHECK(diagnosis.verdict.families == std::vector{Family::straggler, Family::imbalance});
  CHECK(diagnosis.verdict.culprits.stages == std::vector<std::int64_t>{1, 2});
  CHECK(diagnosis.verdict.culprits.nodes == std::vector<std::string>{"n2", "n3", "n4", "n5"});
  CHECK(diagnosis.verdict.onset_step == 130);
  // Stages that share their nodes are work.
  for (RankInfo& info : run.ranks) info.node = "n" + std::to_string(info.rank % 4);
  const Diagnosis apart = diagnose(run, DiagnoseOptions{}, notes);
  CHECK(apart.verdict.family == Family::imbalance);
  CHECK(apart.verdict.cause == Cause::stage_partition);
  CHECK(apart.verdict.onset_step == 130);
}

}  // namespace hidden_communication
