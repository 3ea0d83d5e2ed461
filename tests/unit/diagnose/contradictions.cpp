// Files that contradict themselves, and places that work and hardware share: the answer must not be
// sure of what it cannot know.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/fit/schedule.hpp"
#include "faults/job/spec.hpp"
#include "faults/scenarios/scenario.hpp"
#include "mfu/diagnose.hpp"

using namespace mfu;

namespace contradictions {

Diagnosis diagnosed(const RunTimings& run, Notes& notes) {
  return diagnose(run, DiagnoseOptions{}, notes);
}

bool says(const Diagnosis& diagnosis, FactKind kind) {
  const auto& facts = diagnosis.detail->verdict_facts;
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) { return f.kind == kind; });
}

faults::JobSpec pipeline(int stages, int replicas, int tensor, int microbatches) {
  faults::JobSpec spec = faults::healthy_spec(11, faults::draw_pipeline(11));
  spec.layout.pp = stages;
  spec.layout.dp = replicas;
  spec.layout.tp = tensor;
  spec.layout.ep = 1;
  spec.pace.microbatches = microbatches;
  spec.pace.stage_spread = 0.0;
  spec.pace.gpipe = false;
  spec.noise.warmup_steps = 0;
  spec.steps = 40;
  spec.recording = {};
  spec.recording.coords_per_rank = true;
  spec.chip = "";
  return spec;
}

// Nodes that hold whole stages.
void place_by_stage(RunTimings& run, std::size_t stages_a_node) {
  for (RankInfo& info : run.ranks) {
    const auto stage = static_cast<std::size_t>(info.coords[Axis::pp]);
    info.node = "n" + std::to_string(stage / stages_a_node);
  }
}

// Slows stages down and lets the job's steps grow as their schedule says; the ranks wait in comm.
void slow_stages(RunTimings& run, const std::vector<double>& factor, int microbatches) {
  const auto stages = static_cast<int>(factor.size());
  auto schedule =
      diagnosis::Schedule::build(PipelineSchedule::one_f_one_b, stages, microbatches, 1);
  REQUIRE(schedule);
  const std::vector<double> share(factor.size(), 1.0 / 3.0);
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    std::vector<double> before(factor.size(), 0.0);
    std::vector<double> wall;
    for (std::size_t r = 0; r < run.ranks.size(); ++r) {
      const auto stage = static_cast<std::size_t>(run.ranks[r].coords[Axis::pp]);
      before[stage] = std::max(before[stage], run.compute.at(s, r));
      wall.push_back(run.compute.at(s, r) + run.comm.at(s, r) + run.stall.at(s, r));
    }
    std::vector<double> after = before;
    for (std::size_t p = 0; p < after.size(); ++p) after[p] *= factor[p];
    const double longer = schedule->replay(after, share, {}) - schedule->replay(before, share, {});
    for (std::size_t r = 0; r < run.ranks.size(); ++r) {
      run.compute.at(s, r) *= factor[static_cast<std::size_t>(run.ranks[r].coords[Axis::pp])];
      run.comm.at(s, r) =
          std::max(0.0, wall[r] + longer - run.compute.at(s, r) - run.stall.at(s, r));
    }
  }
}

TEST_CASE("waits that are in the other bucket than declared are read where they are",
          "[contradictions]") {
  for (const bool in_comm : {true, false}) {
    faults::JobSpec spec = pipeline(4, 4, 1, 4);
    spec.recording.waits_in = in_comm ? WaitsIn::comm : WaitsIn::stall;
    faults::Job job = faults::simulate(spec);
    job.run.waits_in = in_comm ? WaitsIn::stall : WaitsIn::comm;
    Notes notes;
    const Diagnosis diagnosis = diagnosed(job.run, notes);
    INFO("really in comm: " << in_comm);
    CHECK(diagnosis.verdict.family == Family::healthy);
    if (in_comm) CHECK(notes.has("waits-elsewhere"));
  }
}

TEST_CASE("parts that explain more than there is leave no sure answer", "[contradictions]") {
  faults::JobSpec spec = faults::healthy_spec(3, faults::draw_data_parallel(3));
  spec.recording = {};
  faults::Job job = faults::simulate(spec);
  job.run.step = Column(job.run.steps.size(), job.run.ranks.size());
  for (std::size_t s = 0; s < job.run.steps.size(); ++s) {
    for (std::size_t r = 0; r < job.run.ranks.size(); ++r) {
      job.run.step.at(s, r) =
          0.5 * (job.run.compute.at(s, r) + job.run.comm.at(s, r) + job.run.stall.at(s, r));
    }
  }
  Notes notes;
  const Diagnosis diagnosis = diagnosed(job.run, notes);
  CHECK(diagnosis.verdict.family == Family::inconclusive);
  CHECK(says(diagnosis, FactKind::overexplained));
}

TEST_CASE(
    "a stage that is a node is neither work nor hardware for sure, even where the bubble hides it",
    "[contradictions]") {
  faults::Job job = faults::simulate(pipeline(4, 2, 4, 4));
  place_by_stage(job.run, 1);
  slow_stages(job.run, {1.9, 1.0, 1.0, 1.0}, 4);
  Notes notes;
  const Diagnosis diagnosis = diagnosed(job.run, notes);
  CHECK(diagnosis.verdict.family == Family::inconclusive);
  CHECK(diagnosis.verdict.culprits.stages == std::vector<std::int64_t>{0});
  CHECK(diagnosis.verdict.culprits.nodes == std::vector<std::string>{"n0"});
  CHECK(says(diagnosis, FactKind::coincides));
}

TEST_CASE("a node that holds whole stages is confounded with them", "[contradictions]") {
  faults::Job job = faults::simulate(pipeline(8, 2, 1, 32));
  place_by_stage(job.run, 2);
  slow_stages(job.run, {1, 1, 1, 1, 1, 1, 1.7, 1.7}, 32);
  Notes notes;
  const Diagnosis diagnosis = diagnosed(job.run, notes);
  CHECK(diagnosis.verdict.family == Family::inconclusive);
  CHECK(diagnosis.verdict.culprits.nodes == std::vector<std::string>{"n3"});
  CHECK(diagnosis.verdict.culprits.stages == std::vector<std::int64_t>{6, 7});
}

TEST_CASE("one rank's stall that could be everybody's is not told with full confidence",
          "[contradictions]") {
  faults::JobSpec spec = faults::healthy_spec(4, faults::draw_data_parallel(4));
  spec.recording = {};
  spec.recording.waits_in = WaitsIn::stall;
  spec.faults = {{faults::FaultKind::rank_stall, 0.5, 1}};
  const faults::Job job = faults::simulate(spec);
  Notes notes;
  const Diagnosis diagnosis = diagnosed(job.run, notes);
  REQUIRE(diagnosis.verdict.family == Family::stall);
  CHECK(says(diagnosis, FactKind::waits_unsplit));
  CHECK(diagnosis.verdict.confidence < 0.7);
}

}  // namespace contradictions
