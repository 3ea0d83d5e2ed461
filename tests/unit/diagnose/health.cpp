// What telemetry says about a finding, and what it may not say.
#include "diagnose/devices/health.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "mfu/diagnose.hpp"

using namespace mfu;

namespace health_of_devices {

constexpr std::size_t kRanks = 8;
constexpr std::size_t kSteps = 24;

// Data parallel; rank 5 computes `slow` times as long.
RunTimings run_with(double slow) {
  RunTimings run;
  run.compute = Column(kSteps, kRanks);
  run.comm = Column(kSteps, kRanks);
  run.stall = Column(kSteps, kRanks);
  run.parallelism[Axis::dp] = static_cast<int>(kRanks);
  for (std::size_t s = 0; s < kSteps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(s));
    for (std::size_t r = 0; r < kRanks; ++r) {
      const double own = (r == 5 ? slow : 1.0) + 0.001 * static_cast<double>((7 * r + 3 * s) % 5);
      run.compute.at(s, r) = own;
      run.comm.at(s, r) = std::max(1.0, slow) + 0.04 - own;
    }
  }
  for (std::size_t r = 0; r < kRanks; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.coords[Axis::dp] = static_cast<int>(r);
    info.device.emplace();
    info.device->sm_clock_mhz = 1410;
    info.device->temperature_c = 60;
    info.device->hottest_c = 61;
    info.device->power_w = 380;
    info.device->power_limit_w = 400;
    info.device->reasons_known = true;
    info.device->ecc_uncorrected = 0;
    info.device->xid_known = true;
    run.ranks.push_back(info);
  }
  run.recorded_ranks = kRanks;
  return run;
}

Diagnosis diagnosed(const RunTimings& run) {
  Notes notes;
  return diagnose(run, DiagnoseOptions{}, notes);
}

const HealthFact& fact_of(const Diagnosis& diagnosis, HealthCheck check) {
  const auto& facts = diagnosis.detail->verdict_health;
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [check](const HealthFact& fact) { return fact.check == check; });
  REQUIRE(found != facts.end());
  return *found;
}

TEST_CASE("evidence for, against, and none", "[health]") {
  RunTimings run = run_with(1.3);
  const Diagnosis plain = diagnosed(run);
  REQUIRE(plain.verdict.family == Family::straggler);
  CHECK(plain.verdict.cause == Cause::none);
  CHECK(plain.detail->verdict_health.size() == kHealthChecks);
  for (const HealthFact& fact : plain.detail->verdict_health) {
    CHECK(fact.stance == (fact.check == HealthCheck::memory_temperature ? Stance::not_measured
                                                                        : Stance::contradicts));
  }
  // None of the devices says anything: no evidence either way.
  for (RankInfo& info : run.ranks) info.device.reset();
  CHECK(diagnosed(run).detail->verdict_health.empty());
  CHECK(diagnosed(run).detail->health.ranks.empty());
}

TEST_CASE("the cause is what the suspect has and its peers have not", "[health]") {
  const auto cause = [](auto change) {
    RunTimings run = run_with(1.3);
    change(*run.ranks[5].device);
    return diagnosed(run).verdict.cause;
  };
  CHECK(cause([](DeviceHealth& d) { d.sm_clock_mhz = 1085; }) == Cause::clocks);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz = 1085;
          d.reasons = {{ThrottleReason::hw_thermal, 0.9, {}}};
        }) == Cause::thermal);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz = 1085;
          d.temperature_c = d.hottest_c = 80;
        }) == Cause::thermal);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz = 1085;
          d.reasons = {{ThrottleReason::sw_power_cap, 0.9, {}}};
        }) == Cause::power);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz = 1085;
          d.power_limit_w = 250;
        }) == Cause::power);
  CHECK(cause([](DeviceHealth& d) { d.ecc_uncorrected = 1; }) == Cause::ecc);
  CHECK(cause([](DeviceHealth& d) { d.remap_pending = true; }) == Cause::ecc);
  CHECK(cause([](DeviceHealth& d) { d.recovery_action = "Reset"; }) == Cause::hardware);
  CHECK(cause([](DeviceHealth& d) { d.xid = {{74, 1, false, false}}; }) == Cause::xid);
  CHECK(cause([](DeviceHealth& d) { d.power_w = 190; }) == Cause::power);
  // What does not make it slow: heat at the same clock, an application's Xid, one that was there
  // before, one of some other GPU of the node, a flag in a few samples.
  CHECK(cause([](DeviceHealth& d) { d.temperature_c = d.hottest_c = 85; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) {
          d.reasons = {{ThrottleReason::hw_thermal, 0.9, {}}};
        }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) { d.xid = {{31, 9, false, false}}; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) { d.xid = {{79, 1, true, false}}; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) { d.xid = {{79, 1, false, true}}; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz = 1085;
          d.reasons = {{ThrottleReason::hw_thermal, 0.05, {}}};
        }) == Cause::clocks);
  CHECK(cause([](DeviceHealth& d) { d.sm_clock_mhz = 1350; }) == Cause::none);  // explains little
}

TEST_CASE("what all ranks have is no cause of one", "[health]") {
  RunTimings run = run_with(1.3);
  for (RankInfo& info : run.ranks) {
    info.device->reasons = {{ThrottleReason::sw_thermal, 0.9, {}}};
    info.device->xid = {{63, 1, false, false}};
    info.device->ecc_uncorrected = 2;
  }
  const Diagnosis diagnosis = diagnosed(run);
  CHECK(diagnosis.verdict.cause == Cause::none);
  CHECK(fact_of(diagnosis, HealthCheck::throttle).stance == Stance::neutral);
  CHECK(fact_of(diagnosis, HealthCheck::xid).stance == Stance::neutral);
  CHECK(fact_of(diagnosis, HealthCheck::ecc).stance == Stance::neutral);
}

TEST_CASE("what peers share that are not slow explains nothing", "[health]") {
  const auto cause = [](auto change) {
    RunTimings run = run_with(1.3);
    change(*run.ranks[5].device);
    change(*run.ranks[2].device);
    const Diagnosis diagnosis = diagnosed(run);
    const auto& facts = diagnosis.detail->verdict_health;
    CHECK(std::any_of(facts.begin(), facts.end(),
                      [](const HealthFact& fact) { return fact.alike_peers == 1; }));
    return diagnosis.verdict.cause;
  };
  CHECK(cause([](DeviceHealth& d) { d.sm_clock_mhz = 1085; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz = 1085;
          d.reasons = {{ThrottleReason::hw_thermal, 0.9, {}}};
        }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz.reset();
          d.reasons = {{ThrottleReason::hw_thermal, 0.9, {}}};
        }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) {
          d.sm_clock_mhz.reset();
          d.power_limit_w = 250;
        }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) { d.remap_pending = true; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) { d.recovery_action = "Reset"; }) == Cause::none);
  CHECK(cause([](DeviceHealth& d) { d.xid = {{74, 1, false, false}}; }) == Cause::none);
}

TEST_CASE("one hot device of a slow node is not the node's heat", "[health]") {
  RunTimings run = run_with(1.0);
  for (std::size_t r = 0; r < kRanks; ++r) {
    run.ranks[r].node = r < 4 ? "n0" : "n1";
    if (r < 4) continue;
    for (std::size_t s = 0; s < kSteps; ++s) {
      run.compute.at(s, r) += 0.3;
    }
  }
  for (std::size_t s = 0; s < kSteps; ++s) {
    for (std::size_t r = 0; r < 4; ++r) run.comm.at(s, r) += 0.3;
  }
  for (RankInfo& info : run.ranks) {
    info.device->sm_clock_mhz.reset();
    info.device->slowdown_c = 87;
  }
  run.ranks[6].device->temperature_c = run.ranks[6].device->hottest_c = 87;
  const Diagnosis one = diagnosed(run);
  REQUIRE(one.verdict.culprits.nodes == std::vector<std::string>{"n1"});
  CHECK(one.verdict.cause == Cause::none);
  for (std::size_t r = 4; r < kRanks; ++r) {
    run.ranks[r].device->temperature_c = run.ranks[r].device->hottest_c = 87;
  }
  CHECK(diagnosed(run).verdict.cause == Cause::thermal);
}

TEST_CASE("another chip than its peers", "[health]") {
  RunTimings run = run_with(1.3);
  for (RankInfo& info : run.ranks) info.device->name = "NVIDIA H100 80GB HBM3";
  CHECK(diagnosed(run).verdict.cause == Cause::none);
  run.ranks[5].device->name = "NVIDIA A100-SXM4-80GB";
  const Diagnosis diagnosis = diagnosed(run);
  CHECK(diagnosis.verdict.cause == Cause::hardware);
  const auto& facts = diagnosis.detail->verdict_facts;
  CHECK(std::any_of(facts.begin(), facts.end(),
                    [](const Fact& fact) { return fact.kind == FactKind::other_chip; }));
  // Devices that nobody asked are no chip of their own.
  run.ranks[2].device->name.clear();
  CHECK(diagnosed(run).verdict.cause == Cause::hardware);
}

TEST_CASE("without clocks heat and power still count", "[health]") {
  RunTimings run = run_with(1.3);
  for (RankInfo& info : run.ranks) info.device->sm_clock_mhz.reset();
  run.ranks[5].device->reasons = {{ThrottleReason::hw_thermal, 0.9, {}}};
  const Diagnosis diagnosis = diagnosed(run);
  CHECK(diagnosis.verdict.cause == Cause::thermal);
  CHECK(fact_of(diagnosis, HealthCheck::clock).stance == Stance::not_measured);
}

TEST_CASE("telemetry makes no verdict", "[health]") {
  RunTimings run = run_with(1.0);
  const Diagnosis before = diagnosed(run);
  REQUIRE(before.verdict.family == Family::healthy);
  CHECK(before.detail->health.remarks.empty());
  DeviceHealth& device = *run.ranks[5].device;
  device.sm_clock_mhz = 700;
  device.reasons = {{ThrottleReason::hw_thermal, 1.0, {}}};
  device.ecc_uncorrected = 9;
  device.xid = {{79, 1, false, false}};
  const Diagnosis after = diagnosed(run);
  CHECK(after.verdict.family == Family::healthy);
  CHECK(after.verdict.culprits.ranks.empty());
  CHECK(after.headline.step_seconds == before.headline.step_seconds);
  CHECK(after.verdict.confidence == before.verdict.confidence);
  REQUIRE(after.detail->health.remarks.size() == 4);
  for (const HealthRemark& remark : after.detail->health.remarks) {
    CHECK(remark.ranks == std::vector<std::int64_t>{5});
  }
}

TEST_CASE("the clock factor times the kernels is single-GPU efficiency", "[health]") {
  RunTimings run = run_with(1.0);
  run.hardware.chip = "a100-sxm4-40gb";
  run.hardware.precision = "bf16";
  run.workload.flops_per_step = 0.5 * 8 * 312e12;
  for (const double clock : {1085.0, 1410.0, 1500.0}) {
    for (RankInfo& info : run.ranks) info.device->sm_clock_mhz = clock;
    const Diagnosis diagnosis = diagnosed(run);
    const Factor& single = diagnosis.factors.front();
    REQUIRE(single.parts.size() == 2);
    CHECK(single.parts[0].id == FactorId::clock);
    CHECK(single.parts[0].value == Approx(clock / 1410).epsilon(1e-14));
    CHECK(std::fabs(single.parts[0].value * single.parts[1].value / single.value - 1) < 1e-15);
    CHECK(diagnosis.verdict.family == Family::healthy);
  }
  // Under half of the ranks: not known.
  for (std::size_t r = 0; r < 5; ++r) run.ranks[r].device->sm_clock_mhz.reset();
  CHECK(diagnosed(run).factors.front().parts.empty());
}

TEST_CASE("what an Xid means", "[health]") {
  CHECK(xid_kind(31) == XidKind::application);
  CHECK(xid_kind(94) == XidKind::memory);
  CHECK(xid_kind(79) == XidKind::bus);
  CHECK(xid_kind(149) == XidKind::nvlink);
  CHECK(xid_kind(119) == XidKind::firmware);
  CHECK(xid_kind(7) == XidKind::other);
}

}  // namespace health_of_devices
