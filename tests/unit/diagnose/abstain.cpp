// When the data cannot carry a verdict: no error, no culprit, and the reason.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "faults/job/reshape.hpp"
#include "faults/job/spec.hpp"
#include "faults/scenarios/scenario.hpp"
#include "mfu/diagnose.hpp"

using namespace mfu;

namespace {

faults::Job slow_rank_job() {
  faults::JobSpec spec = faults::healthy_spec(3, faults::draw_data_parallel(3));
  spec.steps = 40;
  spec.faults = {{faults::FaultKind::slow_rank, 0.5, 2}};
  spec.recording = {};
  return faults::simulate(spec);
}

Diagnosis diagnosed(const RunTimings& run) {
  Notes notes;
  return diagnose(run, DiagnoseOptions{}, notes);
}

bool says(const Diagnosis& diagnosis, FactKind kind) {
  const auto& facts = diagnosis.detail->verdict_facts;
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) { return f.kind == kind; });
}

std::vector<std::size_t> first(std::size_t n) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < n; ++i) indices.push_back(i);
  return indices;
}

RunTimings first_steps(const RunTimings& run, std::size_t n) {
  Selection selection;
  selection.first_step = run.steps.front();
  selection.last_step = run.steps[n - 1];
  Notes notes;
  return select(run, selection, notes);
}

}  // namespace

TEST_CASE("the whole job is a straggler, so that what follows means something", "[abstain]") {
  const faults::Job job = slow_rank_job();
  CHECK(diagnosed(job.run).verdict.family == Family::straggler);
}

TEST_CASE("fewer than eight steps are inconclusive", "[abstain]") {
  const faults::Job job = slow_rank_job();
  const Diagnosis seven = diagnosed(first_steps(job.run, 7));
  CHECK(seven.verdict.family == Family::inconclusive);
  CHECK(says(seven, FactKind::few_steps));
  CHECK(seven.verdict.culprits.ranks.empty());
  CHECK(diagnosed(first_steps(job.run, 8)).verdict.family == Family::straggler);
}

TEST_CASE("one rank of many is inconclusive", "[abstain]") {
  const faults::Job job = slow_rank_job();
  const Diagnosis one = diagnosed(faults::with_ranks(job.run, {0}));
  CHECK(one.verdict.family == Family::inconclusive);
  CHECK(says(one, FactKind::one_rank));
  CHECK(one.headline.step_seconds > 0.0);
}

TEST_CASE("a tenth of the ranks may be missing, no more", "[abstain]") {
  faults::JobSpec spec = faults::healthy_spec(5, faults::draw_data_parallel(5));
  spec.layout.dp = 32;
  spec.steps = 30;
  spec.recording = {};
  spec.faults = {{faults::FaultKind::slow_rank, 0.5, 2}};
  const faults::Job job = faults::simulate(spec);
  REQUIRE(job.run.ranks.size() == 32);
  RunTimings enough = faults::with_ranks(job.run, first(31));
  RunTimings few = faults::with_ranks(job.run, first(28));
  enough.recorded_ranks = 31;
  few.recorded_ranks = 28;
  CHECK(diagnosed(enough).verdict.family == Family::straggler);
  const Diagnosis abstained = diagnosed(few);
  CHECK(abstained.verdict.family == Family::inconclusive);
  CHECK(says(abstained, FactKind::few_ranks));
}

TEST_CASE("the answer does not depend on how often it is asked", "[abstain]") {
  const faults::Job job = slow_rank_job();
  const Diagnosis a = diagnosed(job.run);
  const Diagnosis b = diagnosed(job.run);
  REQUIRE(a.verdict.recoverable);
  CHECK(a.verdict.recoverable->step_seconds_ci.lo == b.verdict.recoverable->step_seconds_ci.lo);
  CHECK(a.verdict.confidence == b.verdict.confidence);
}
