// The account of a job: where its transfer, its waits and its stalls are, and what the model makes
// of the steps once something is put right.
#include <algorithm>
#include <functional>
#include <vector>

#include "catch.hpp"
#include "diagnose/fit/attribution.hpp"
#include "diagnose/fit/job.hpp"
#include "diagnose/fit/model.hpp"
#include "diagnose/fit/pipeline.hpp"
#include "diagnose/places/split.hpp"

using namespace mfu;
using namespace mfu::diagnosis;

namespace job_account {

constexpr std::size_t kSteps = 20;

using Seconds = std::function<double(std::size_t, std::size_t)>;  // (step, rank)

RunTimings run_of(std::size_t ranks, const Seconds& compute, const Seconds& comm,
                  const Seconds& stall) {
  RunTimings run;
  run.compute = Column(kSteps, ranks);
  run.comm = Column(kSteps, ranks);
  run.stall = Column(kSteps, ranks);
  run.parallelism[Axis::dp] = static_cast<int>(ranks);
  for (std::size_t s = 0; s < kSteps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(s));
    for (std::size_t r = 0; r < ranks; ++r) {
      run.compute.at(s, r) = compute(s, r);
      run.comm.at(s, r) = comm(s, r);
      run.stall.at(s, r) = stall(s, r);
    }
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.coords[Axis::dp] = static_cast<int>(r);
    run.ranks.push_back(info);
  }
  run.recorded_ranks = ranks;
  return run;
}

Seconds always(double seconds) {
  return [seconds](std::size_t, std::size_t) { return seconds; };
}

// Two stages of `replicas` ranks, four microbatches: the pipeline takes 1.25 s for stages of 1 s.
RunTimings two_stages(std::size_t replicas, double stall_s, double transfer_s) {
  RunTimings run = run_of(
      2 * replicas, always(1.0), [=](std::size_t, std::size_t) { return 0.25 + transfer_s; },
      always(stall_s));
  run.parallelism[Axis::pp] = 2;
  run.parallelism[Axis::dp] = static_cast<int>(replicas);
  run.workload.microbatches = 4;
  for (std::size_t r = 0; r < 2 * replicas; ++r) {
    run.ranks[r].coords[Axis::pp] = static_cast<int>(r / replicas);
    run.ranks[r].coords[Axis::dp] = static_cast<int>(r % replicas);
  }
  return run;
}

// A run's account; `run` must outlive it.
struct Account {
  explicit Account(const RunTimings& run) : job(run, notes), form(job) {}

  Notes notes;
  Job job;
  PipelineForm form;
  Attribution attribution = attribute(job, form);
};

TEST_CASE("transfer that the slowest rank hides shows when it is slow no longer", "[account]") {
  // Gathers of 0.2 s are asked for ahead: rank 3 computes 0.3 s longer, and they are there.
  const auto compute = [](std::size_t, std::size_t r) { return r == 3 ? 1.3 : 1.0; };
  const auto comm = [](std::size_t, std::size_t r) { return r == 3 ? 0.0 : 0.2; };
  RunTimings run = run_of(8, compute, comm, always(0.0));
  run.waits_in = WaitsIn::separate;
  run.wait = Column(kSteps, 8);
  for (std::size_t s = 0; s < kSteps; ++s) {
    for (std::size_t r = 0; r < 8; ++r) run.wait.at(s, r) = r == 3 ? 0.0 : 0.1;
  }
  Account account(run);
  const Attribution& attribution = account.attribution;
  CHECK(attribution.hidden.front() == Approx(0.2));
  CHECK(attribution.transfer.front() == Approx(0.0).margin(1e-12));
  StepModel model(account.job, attribution, account.form);
  CHECK(model.overshoot().front() == Approx(0.0).margin(1e-12));
  CHECK(model.unexplained().front() == Approx(0.0).margin(1e-12));
  Scenario mended = model.measured();
  mended.compute.push_back([](std::size_t, std::span<double> row) { row[3] = 1.0; });
  CHECK(model.steps_under(mended).front() == Approx(1.2));
}

TEST_CASE("a stall that all ranks have is no transfer of a pipeline", "[account]") {
  const RunTimings run = two_stages(4, 0.1, 0.05);
  Account account(run);
  const Attribution& attribution = account.attribution;
  REQUIRE(attribution.method == SplitMethod::pipeline_model);
  CHECK(attribution.transfer.front() == Approx(0.05));
  CHECK(attribution.common_stall.front() == Approx(0.1));
}

TEST_CASE("uneven microbatches lengthen a pipeline's step by what they add", "[account]") {
  const RunTimings run = two_stages(4, 0.0, 0.05);
  Account account(run);
  const Attribution& attribution = account.attribution;
  StepModel model(account.job, attribution, account.form);
  Scenario uneven = model.measured();
  uneven.spread.assign(kSteps, 0.5);
  CHECK(model.steps_under(uneven).front() - model.steps_under(model.measured()).front() ==
        Approx(0.5));
}

TEST_CASE("transfer inside the microbatches is that of all groups but the data-parallel one",
          "[account]") {
  RunTimings run = two_stages(4, 0.0, 0.1);
  for (const auto& [kind, seconds] : {std::pair{"dp", 0.05}, std::pair{"cp", 0.03}}) {
    Column column(kSteps, run.ranks.size());
    for (std::size_t s = 0; s < kSteps; ++s) {
      for (std::size_t r = 0; r < run.ranks.size(); ++r) column.at(s, r) = seconds;
    }
    run.comm_by_group.emplace(kind, std::move(column));
  }
  Account account(run);
  const Attribution& attribution = account.attribution;
  CHECK(attribution.transfer.front() == Approx(0.08));
  CHECK(attribution.inner.front() == Approx(0.03));
}

TEST_CASE(
    "a step that its slowest rank does not make is bound by something else, where all ranks "
    "are seen",
    "[account]") {
  const auto compute = [](std::size_t s, std::size_t) {
    return 1.0 + 0.05 * static_cast<double>(s % 5);
  };
  const auto idle = [=](std::size_t s, std::size_t r) { return 1.28 - compute(s, r); };
  RunTimings run = run_of(4, compute, always(0.02), idle);
  for (const std::int64_t count : {4, 8}) {
    run.hardware.count = count;
    CHECK(Account(run).attribution.host_bound == (count == 4));
  }
}

TEST_CASE("units that differ by less than chance makes of them are not apart", "[account]") {
  std::vector<UnitLevel> units(8, UnitLevel{0.0, 1.0});
  units.back().mean = 0.9;
  CHECK_FALSE(slow_units(units, 10, 0.1));
  for (UnitLevel& unit : units) unit.variance = 0.01;
  CHECK(slow_units(units, 10, 0.1) == std::vector<std::size_t>{7});
}

}  // namespace job_account
