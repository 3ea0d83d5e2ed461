// What fixes are worth: the order is fixed, its ratios multiply to the MFU, and no fix costs time.
#include "diagnose/worth/fix_worth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scoring/accuracy.hpp"
#include "faults/scoring/asked.hpp"

namespace fix_worth {

using namespace mfu;
using namespace mfu::faults;

constexpr double kEps = std::numeric_limits<double>::epsilon();

Diagnosis diagnosed(const Job& job, DiagnoseOptions options = {}) {
  options.replicates = 50;
  Notes notes;
  return diagnose(job.run, options, notes);
}

void check_chain(const FixWorth& worth, const Headline& headline) {
  constexpr std::array kOrder{FixStage::actual, FixStage::bursts_and_links, FixStage::balanced,
                              FixStage::gpu_at_target};
  double product = 1.0;
  for (std::size_t k = 0; k < kOrder.size(); ++k) {
    const ChainStep& step = worth.chain[k];
    CHECK(step.stage == kOrder[k]);
    CHECK(step.step_seconds > 0.0);
    CHECK(step.ratio <= 1.0);
    CHECK(step.mfu.has_value() == headline.mfu.has_value());
    if (k > 0) {
      CHECK(step.step_seconds <= worth.chain[k - 1].step_seconds);
      CHECK(step.ratio == step.step_seconds / worth.chain[k - 1].step_seconds);
    }
    product *= step.ratio;
  }
  CHECK(worth.chain[0].step_seconds == headline.step_seconds);
  CHECK(worth.chain[0].families.empty());
  if (!headline.mfu) return;
  product *= *worth.chain.back().mfu;
  CHECK(std::fabs(product - *headline.mfu) <= 16.0 * kEps * *headline.mfu);
}

const FamilyWorth* alone(const FixWorth& worth, Family family) {
  for (const FamilyWorth& entry : worth.alone) {
    if (entry.family == family) return &entry;
  }
  return nullptr;
}

JobSpec two_faults(const Fault& first, const Fault& second) {
  JobSpec spec = healthy_spec(11, draw_data_parallel(11));
  spec.recording.waits_in = WaitsIn::separate;
  spec.faults = {first, second};
  return spec;
}

TEST_CASE("the fixes in their order multiply to the MFU, and none costs time", "[worth]") {
  const auto asked = static_cast<std::uint64_t>(asked_runs(1));
  for (const Scenario& scenario : scenarios()) {
    for (std::uint64_t k = 0; k < asked; ++k) {
      const Job job = simulate(scenario.draw(scenario_seed(scenario.name, 700 + k)));
      const Diagnosis diagnosis = diagnosed(job);
      INFO(job.spec.name << ", seed " << job.spec.seed);
      if (!diagnosis.detail->worth) {
        CHECK(diagnosis.verdict.family == Family::inconclusive);
        continue;
      }
      const FixWorth& worth = *diagnosis.detail->worth;
      check_chain(worth, diagnosis.headline);
      double last = 0.0;
      for (const FamilyWorth& entry : worth.alone) {
        INFO(to_string(entry.family));
        CHECK(entry.step_seconds > 0.0);
        CHECK(entry.step_seconds <= worth.chain[0].step_seconds);
        CHECK(entry.step_seconds >= last);  // largest gain first
        CHECK(entry.in_order_seconds >= 0.0);
        last = entry.step_seconds;
      }
    }
  }
}

TEST_CASE("one fault: its family's fix alone is the verdict's, and the order adds nothing of it",
          "[worth]") {
  const auto asked = static_cast<std::uint64_t>(asked_runs(1));
  for (const Scenario& scenario : scenarios()) {
    for (std::uint64_t k = 0; k < asked; ++k) {
      const Job job = simulate(scenario.draw(scenario_seed(scenario.name, 800 + k)));
      const Diagnosis diagnosis = diagnosed(job);
      const Verdict& verdict = diagnosis.verdict;
      if (!verdict.recoverable || !diagnosis.detail->worth ||
          diagnosis.detail->findings.size() != 1)
        continue;
      INFO(job.spec.name << ", seed " << job.spec.seed);
      const FamilyWorth* entry =
          alone(*diagnosis.detail->worth, diagnosis.detail->findings.front().family);
      REQUIRE(entry != nullptr);
      CHECK(entry->step_seconds == Approx(verdict.recoverable->step_seconds).epsilon(1e-9));
      CHECK(diagnosis.detail->worth->chain.back().step_seconds ==
            Approx(verdict.recoverable->step_seconds).epsilon(0.02));
    }
  }
}

TEST_CASE("balancing the work is worth little while one place drags the job", "[worth]") {
  // A slow rank that costs more than the shards: until it is gone, even shards save next to
  // nothing.
  const Job job =
      simulate(two_faults({FaultKind::slow_rank, 0.6, 2}, {FaultKind::data_shards, 0.15}));
  const Diagnosis diagnosis = diagnosed(job);
  REQUIRE(diagnosis.detail->worth);
  const FamilyWorth* straggler = alone(*diagnosis.detail->worth, Family::straggler);
  const FamilyWorth* imbalance = alone(*diagnosis.detail->worth, Family::imbalance);
  REQUIRE(straggler != nullptr);
  REQUIRE(imbalance != nullptr);
  const double actual = diagnosis.headline.step_seconds;
  CHECK(actual - straggler->step_seconds > 0.2 * actual);
  CHECK(imbalance->in_order_seconds > 0.02 * actual);
  // Alone it moves the slow rank's own work too, and no more than that.
  CHECK(actual - imbalance->step_seconds < straggler->in_order_seconds);
  CHECK(diagnosis.detail->worth->chain[2].step_seconds < straggler->step_seconds);
  // The simulator's own twin without any fault, the same work spread evenly.
  CHECK(diagnosis.detail->worth->chain[2].step_seconds ==
        Approx(job.truth.clean_step_seconds).epsilon(0.1));
}

TEST_CASE("GPUs at their target come last, on even work and without the waits", "[worth]") {
  const Job job =
      simulate(two_faults({FaultKind::slow_kernels, 0.5}, {FaultKind::slow_rank, 0.5, 1}));
  DiagnoseOptions options;
  options.target_efficiency = 0.5;
  const Diagnosis diagnosis = diagnosed(job, options);
  REQUIRE(diagnosis.detail->worth);
  const auto& chain = diagnosis.detail->worth->chain;
  REQUIRE(chain[3].families == std::vector{Family::single_gpu_efficiency});
  // At the target the compute of a rank takes F/(N P target); what is left is transfer and stall.
  const double at_target =
      *diagnosis.detail->setup.flops_per_step /
      (static_cast<double>(diagnosis.detail->setup.gpus) *
       *diagnosis.detail->setup.peak_flops_per_gpu * options.target_efficiency);
  CHECK(chain[3].step_seconds > at_target);
  CHECK(chain[3].step_seconds < 1.15 * at_target);
  // Alone the slow rank keeps its share on top.
  const FamilyWorth* kernels = alone(*diagnosis.detail->worth, Family::single_gpu_efficiency);
  REQUIRE(kernels != nullptr);
  CHECK(kernels->step_seconds > 1.3 * at_target);
}

TEST_CASE("a run that slows down and is below its target is not made faster than the target",
          "[worth]") {
  const Job job = simulate(two_faults({FaultKind::slow_kernels, 0.6}, {FaultKind::thermal, 0.25}));
  DiagnoseOptions options;
  options.target_efficiency = 0.5;
  const Diagnosis diagnosis = diagnosed(job, options);
  REQUIRE(diagnosis.detail->worth);
  const auto count = std::count_if(
      diagnosis.detail->findings.begin(), diagnosis.detail->findings.end(),
      [](const Finding& finding) { return finding.family == Family::single_gpu_efficiency; });
  REQUIRE(count == 2);
  const double at_target =
      *diagnosis.detail->setup.flops_per_step /
      (static_cast<double>(diagnosis.detail->setup.gpus) *
       *diagnosis.detail->setup.peak_flops_per_gpu * options.target_efficiency);
  CHECK(diagnosis.detail->worth->chain[3].step_seconds > at_target);
  CHECK(diagnosis.detail->worth->chain[3].step_seconds < 1.15 * at_target);
}

}  // namespace fix_worth
