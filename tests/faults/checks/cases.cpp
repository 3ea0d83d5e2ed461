// The cases that every diagnosis of step times has to get right, each with the way in which a naive
// one fails: one table, and every case in the three ways in which waits are recorded.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "faults/job/spec.hpp"
#include "faults/scoring/score.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

Layout replicas(int dp, int tp = 1) {
  Layout layout;
  layout.dp = dp;
  layout.tp = tp;
  return layout;
}

Layout pipeline(int pp, int dp, int tp = 1) {
  Layout layout = replicas(dp, tp);
  layout.pp = pp;
  return layout;
}

Fault of(FaultKind kind, double size, int place = 0) {
  Fault fault;
  fault.kind = kind;
  fault.size = size;
  fault.place = place;
  return fault;
}

Fault every(Fault fault, int period, int length = 1) {
  fault.when = When::periodic;
  fault.period = period;
  fault.length = length;
  return fault;
}

struct Case {
  std::string name;
  Layout layout;
  int microbatches;
  std::vector<Fault> faults;
  Family family;
  Locality locality;
  Persistence persistence;
  std::string naive;  // how it is missed
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{
      {"one GPU 1.3x",
       replicas(32),
       2,
       {of(FaultKind::slow_rank, 0.3, 5)},
       Family::straggler,
       Locality::rank,
       Persistence::steady,
       "all steps are equally long, and the peers' waiting looks like the network"},
      {"even pipeline, 4 microbatches on 4 stages",
       pipeline(4, 4),
       4,
       {},
       Family::healthy,
       Locality::none,
       Persistence::none,
       "43 % of the step is idle"},
      {"long last stage",
       pipeline(4, 4),
       8,
       {of(FaultKind::heavy_stage, 0.6, 3)},
       Family::imbalance,
       Locality::stage,
       Persistence::steady,
       "every data-parallel index is as loaded as every other"},
      {"sequence lengths",
       replicas(32),
       4,
       {of(FaultKind::sequence_lengths, 0.2)},
       Family::imbalance,
       Locality::all,
       Persistence::moving,
       "the means over time differ by 2 %, the steps by 30 %"},
      {"slow worker in a pipeline",
       pipeline(4, 4),
       32,
       {of(FaultKind::slow_rank, 1.36, 0)},
       Family::straggler,
       Locality::rank,
       Persistence::steady,
       "communication takes most of the step; stage 0 looks heavy"},
      {"slow node",
       replicas(64),
       2,
       {of(FaultKind::slow_node, 0.3, 2)},
       Family::straggler,
       Locality::node,
       Persistence::steady,
       "a list of the two slowest ranks"},
      {"slow link",
       replicas(8, 8),
       2,
       {of(FaultKind::slow_dp_group, 0.3, 3)},
       Family::straggler,
       Locality::link,
       Persistence::steady,
       "the minimum over all ranks hides it"},
      {"flap of one link",
       replicas(8, 8),
       2,
       {every(of(FaultKind::slow_dp_group, 1.2, 3), 9, 2)},
       Family::straggler,
       Locality::link,
       Persistence::bursts,
       "a mean and three deviations"},
      {"flap in the only ring",
       replicas(32),
       2,
       {every(of(FaultKind::slow_dp_group, 1.2), 9, 2)},
       Family::straggler,
       Locality::link,
       Persistence::bursts,
       "every rank is slow alike: communication everywhere"},
      {"checkpoint",
       replicas(32),
       2,
       {every(of(FaultKind::checkpoint, 2.0), 12)},
       Family::stall,
       Locality::all,
       Persistence::bursts,
       "a mean and three deviations"},
      {"garbage collection",
       replicas(32),
       2,
       {of(FaultKind::gc_pauses, 0.35)},
       Family::stall,
       Locality::all,
       Persistence::bursts,
       "the ranks that paused are blamed"},
      {"heat on all",
       replicas(32),
       2,
       {of(FaultKind::thermal, 0.3)},
       Family::single_gpu_efficiency,
       Locality::all,
       Persistence::drift,
       "no rank is slower than its peers"},
      {"input on all",
       replicas(32),
       2,
       {of(FaultKind::input_stall, 0.3)},
       Family::stall,
       Locality::all,
       Persistence::steady,
       "no rank deviates"},
      {"uniform transfer",
       replicas(8, 8),
       2,
       {of(FaultKind::slow_dp_transfer, 0.4)},
       Family::communication,
       Locality::all,
       Persistence::steady,
       "a share of waiting, counted as imbalance"},
  };
  return kCases;
}

Job job_of(const Case& each, WaitsIn waits_in) {
  JobSpec spec;
  spec.name = each.name;
  spec.seed = 77;
  spec.layout = each.layout;
  spec.pace.microbatches = each.microbatches;
  spec.faults = each.faults;
  spec.steps = 60;
  spec.efficiency = 0.65;
  spec.recording.waits_in = waits_in;
  spec.recording.by_group = waits_in == WaitsIn::comm;
  spec.recording.forward_backward = true;
  return simulate(spec);
}

}  // namespace

TEST_CASE("the cases that naive rules miss", "[cases]") {
  for (const Case& each : cases()) {
    for (const WaitsIn waits_in : {WaitsIn::comm, WaitsIn::stall, WaitsIn::separate}) {
      const Job job = job_of(each, waits_in);
      Notes notes;
      const Diagnosis diagnosis = diagnose(job.run, DiagnoseOptions{}, notes);
      const Verdict& verdict = diagnosis.verdict;
      INFO(each.name << ", waits in "
                     << (waits_in == WaitsIn::comm    ? "comm"
                         : waits_in == WaitsIn::stall ? "stall"
                                                      : "separate")
                     << ": " << to_string(verdict.family) << " (naive: " << each.naive << ")");
      CHECK(verdict.family == each.family);
      CHECK(verdict.locality == each.locality);
      // Idle time recorded alike does not show whose turn it was.
      const bool scattered = each.faults.size() == 1 && each.faults[0].kind == FaultKind::gc_pauses;
      if (!scattered) CHECK(verdict.persistence == each.persistence);
      CHECK(score(diagnosis, job).culprit);
    }
  }
}

TEST_CASE("an even pipeline's idle time is the schedule's own", "[cases]") {
  const Job job = job_of(cases()[1], WaitsIn::stall);
  Notes notes;
  const Diagnosis diagnosis = diagnose(job.run, DiagnoseOptions{}, notes);
  const auto bubble =
      std::find_if(diagnosis.parts.begin(), diagnosis.parts.end(),
                   [](const Part& part) { return part.id == PartId::pipeline_bubble; });
  REQUIRE(bubble != diagnosis.parts.end());
  CHECK(bubble->share == Approx(3.0 / 7.0).margin(0.04));
}

TEST_CASE("sequence lengths are named where forward and backward are recorded", "[cases]") {
  const Job job = job_of(cases()[3], WaitsIn::comm);
  Notes notes;
  CHECK(diagnose(job.run, DiagnoseOptions{}, notes).verdict.cause == Cause::data_lengths);
}
