// The synthetic jobs themselves: what they say about waits, bubbles and losses must be true before
// anything is judged by them.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scenarios/showcase.hpp"
#include "faults/scoring/accuracy.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

JobSpec quiet(Layout layout, int microbatches) {
  JobSpec spec;
  spec.layout = layout;
  spec.steps = 4;
  spec.pace.microbatches = microbatches;
  spec.pace.optimizer_share = 0.0;
  spec.pace.lockstep_share = 0.0;
  spec.pace.p2p_share = 0.0;
  spec.pace.dp_share = 0.0;
  spec.pace.world_share = 0.0;
  spec.pace.host_gap_share = 0.0;
  spec.noise = NoiseLevel{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 1.0};
  spec.recording.waits_in = WaitsIn::separate;
  spec.flops_per_step = 0.0;
  return spec;
}

}  // namespace

TEST_CASE("an even pipeline takes m + p - 1 microbatches of time", "[jobs]") {
  for (const int stages : {1, 2, 4, 8}) {
    for (const int microbatches : {1, 3, 4, 8, 20}) {
      for (const bool gpipe : {false, true}) {
        Layout layout;
        layout.pp = stages;
        layout.dp = 2;
        JobSpec spec = quiet(layout, microbatches);
        spec.pace.gpipe = gpipe;
        const Job job = simulate(spec);
        const double microbatch = spec.pace.forward_seconds * (1.0 + spec.pace.backward_ratio);
        INFO(stages << " stages, " << microbatches << " microbatches");
        CHECK(job.truth.step_seconds == Approx(microbatch * (microbatches + stages - 1)));
        // Every rank waits for the rest of it.
        for (std::size_t r = 0; r < job.run.ranks.size(); ++r) {
          CHECK(job.run.wait.at(1, r) == Approx(microbatch * (stages - 1)).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("the buckets of every rank add up to its step", "[jobs]") {
  for (const Scenario& scenario : scenarios()) {
    JobSpec spec = scenario.draw(scenario_seed(scenario.name, 3));
    spec.recording.step_series = true;
    spec.recording.by_group = true;
    const RunTimings run = simulate(spec).run;
    INFO(scenario.name);
    double worst = 0.0;
    double worst_group = 0.0;
    for (std::size_t s = 0; s < run.steps.size(); ++s) {
      for (std::size_t r = 0; r < run.ranks.size(); ++r) {
        const double step = run.step.at(s, r);
        if (std::isnan(step)) continue;
        double total = run.compute.at(s, r) + run.comm.at(s, r) + run.stall.at(s, r);
        if (!run.wait.empty()) total += run.wait.at(s, r);
        worst = std::max(worst, std::fabs(total / step - 1.0));
        double groups = 0.0;
        for (const auto& [name, column] : run.comm_by_group) groups += column.at(s, r);
        worst_group = std::max(worst_group, std::fabs(groups - run.comm.at(s, r)) / step);
      }
    }
    CHECK(worst < 1e-9);
    CHECK(worst_group < 1e-12);
  }
}

TEST_CASE("a fault costs what was asked for", "[jobs]") {
  for (const double loss : {0.06, 0.2, 0.4}) {
    JobSpec spec = healthy_spec(5, draw_data_parallel(5));
    spec.faults = {Fault{FaultKind::slow_rank, 0.3, 2}};
    const Job job = simulate(calibrated(spec, loss));
    CHECK(job.truth.loss_share == Approx(loss).epsilon(0.1));
    CHECK(job.truth.fixed_step_seconds < job.truth.step_seconds);
  }
}

TEST_CASE("spreading work evenly keeps the amount of work", "[jobs]") {
  for (const FaultKind kind : {FaultKind::sequence_lengths, FaultKind::microbatch_lengths,
                               FaultKind::data_shards, FaultKind::expert_drift}) {
    Layout layout;
    layout.dp = 8;
    if (kind == FaultKind::expert_drift) layout.ep = 4;
    JobSpec spec = quiet(layout, 4);
    spec.steps = 6;
    spec.faults = {Fault{kind, 0.2}};
    const Job job = simulate(spec);
    // Without noise and waits an even step is the mean compute of the uneven one.
    double compute = 0.0;
    for (std::size_t s = 0; s < job.run.steps.size(); ++s) {
      for (std::size_t r = 0; r < job.run.ranks.size(); ++r) compute += job.run.compute.at(s, r);
    }
    compute /= static_cast<double>(job.run.steps.size() * job.run.ranks.size());
    CHECK(job.truth.fixed_step_seconds == Approx(compute));
    CHECK(job.truth.step_seconds > 1.05 * compute);
  }
}

TEST_CASE("the shipped examples are what they are called", "[jobs]") {
  for (const Showcase& showcase : showcases()) {
    const Job job = simulate(showcase.spec());
    DiagnoseOptions options;
    Notes notes;
    const Diagnosis diagnosis = diagnose(job.run, options, notes);
    INFO(showcase.name << " -> " << to_string(diagnosis.verdict.family));
    CHECK(to_string(diagnosis.verdict.family) == to_string(job.truth.family));
    CHECK(score(diagnosis, job).culprit);
    REQUIRE(diagnosis.headline.mfu);
    CHECK(*diagnosis.headline.mfu >
          (showcase.name == std::string_view("single-gpu") ? 0.15 : 0.25));
    CHECK(*diagnosis.headline.mfu < 0.55);
  }
}
