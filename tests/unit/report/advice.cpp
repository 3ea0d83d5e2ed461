// What people are told to do, and what nobody is told who does it already.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare/comparison.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/worth/exchanges.hpp"
#include "mfu/compare.hpp"
#include "mfu/report.hpp"
#include "report/conditions.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/wording.hpp"
#include "unit/report/example.hpp"

using namespace mfu;

namespace {

std::string all_actions(const Advice& advice) {
  std::string text;
  for (const std::string& action : advice.actions) text += action + "\n";
  return text;
}

std::string told(Family family, Cause cause, const Conditions& conditions,
                 Locality locality = Locality::all, Persistence persistence = Persistence::steady) {
  return all_actions(
      advice_for(family, cause, locality, persistence, {"rank 3", false}, conditions));
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

Conditions of_job(std::map<std::string, std::string> job) {
  RunTimings run = example::bare_run();
  run.job = std::move(job);
  return conditions_of(example::stalled_by_input(), run);
}

}  // namespace

TEST_CASE("what the job says of itself is read, and nothing else is taken for it") {
  CHECK(of_job({{"checkpoint", "async, sharded"}}).async_checkpoint);
  CHECK(of_job({{"async_save", "true"}}).async_checkpoint);
  CHECK_FALSE(of_job({{"checkpoint", "every 500 steps"}}).async_checkpoint);
  CHECK_FALSE(of_job({{"async_save", "false"}}).async_checkpoint);
  CHECK_FALSE(of_job({{"name", "async-checkpoint-test"}}).async_checkpoint);
  CHECK(of_job({{"gc", "manual every 100"}}).manual_gc);
  CHECK(of_job({{"manual_gc", "true"}}).manual_gc);
  CHECK_FALSE(of_job({{"gc", "automatic"}}).manual_gc);
  CHECK(of_job({{"torch_compile", "true"}}).compiled);
  CHECK_FALSE(of_job({{"torch_compile", "false"}}).compiled);
  CHECK(of_job({{"attention", "FlashAttention-3"}}).fused_attention);
  CHECK(of_job({{"loader_workers", "4"}}).loader_workers == "4");
  CHECK(of_job({{"loader_workers", "many"}}).loader_workers.empty());
  CHECK(of_job({{"data", "pretokenized shards"}}).tokenised);
}

TEST_CASE("nobody is told to do what the run does already") {
  Conditions none;
  Conditions does;
  does.async_checkpoint = true;
  does.manual_gc = true;
  does.compiled = true;
  does.fused_attention = true;
  does.tokenised = true;
  does.loader_workers = "4";
  does.interleaved = true;
  does.forward_backward = true;
  does.hidden_share = 0.9;
  does.recompute = Recompute::none;
  does.unmeasured.clear();
  does.placement = Placement{};
  struct Case {
    Family family;
    Cause cause;
    const char* advice;
  };
  const Case cases[] = {
      {Family::stall, Cause::checkpoint, "asynchronously"},
      {Family::stall, Cause::gc, "turn automatic garbage collection off"},
      {Family::stall, Cause::input, "pre-tokenised"},
      {Family::stall, Cause::input, "more loader workers or"},
      {Family::single_gpu_efficiency, Cause::kernels, "fused attention"},
      {Family::single_gpu_efficiency, Cause::kernels, "(compile)"},
      {Family::imbalance, Cause::stage_partition, "interleaved stages"},
      {Family::communication, Cause::none, "overlap it"},
      {Family::communication, Cause::none, "heaviest groups stay inside a node"},
      {Family::straggler, Cause::none, "temperature, SM clock, power cap, ECC, Xid"},
  };
  for (const Case& c : cases) {
    INFO(c.advice);
    CHECK(has(told(c.family, c.cause, none), c.advice));
    CHECK_FALSE(has(told(c.family, c.cause, does), c.advice));
    CHECK_FALSE(told(c.family, c.cause, does).empty());
  }
  CHECK(has(told(Family::stall, Cause::input, does), "more than the current 4 loader workers"));
  does.local_data = true;
  does.prefetch = "8";
  CHECK_FALSE(has(told(Family::stall, Cause::input, does), "local disk"));
  CHECK(has(told(Family::stall, Cause::input, does), "deeper prefetch than the current 8"));
  CHECK(has(told(Family::imbalance, Cause::none, none, Locality::all, Persistence::moving),
            "record forward and backward separately"));
  CHECK_FALSE(has(told(Family::imbalance, Cause::none, does, Locality::all, Persistence::moving),
                  "record forward and backward separately"));
}

TEST_CASE("some of the communication is hidden: the advice says how much") {
  Conditions conditions;
  conditions.hidden_share = 0.4;
  CHECK(has(told(Family::communication, Cause::none, conditions), "(40 % is hidden now)"));
}

TEST_CASE("full recomputation is named where kernels are slow") {
  Conditions conditions;
  CHECK_FALSE(has(told(Family::single_gpu_efficiency, Cause::kernels, conditions), "recompute"));
  conditions.recompute = Recompute::full;
  CHECK(has(told(Family::single_gpu_efficiency, Cause::kernels, conditions), "recompute"));
}

TEST_CASE("only checks that neither the run nor the files beside it hold are asked for") {
  Diagnosis diagnosis = example::stalled_by_input();
  auto& measured = diagnosis.detail->health.measured;
  measured[static_cast<std::size_t>(HealthCheck::temperature)] =
      diagnosis.detail->setup.recorded_ranks;
  measured[static_cast<std::size_t>(HealthCheck::clock)] = diagnosis.detail->setup.recorded_ranks;
  measured[static_cast<std::size_t>(HealthCheck::ecc)] = diagnosis.detail->setup.recorded_ranks - 1;
  const Conditions conditions = conditions_of(diagnosis, example::bare_run());
  CHECK(conditions.unmeasured == std::vector<std::string>{"power cap", "ECC", "Xid"});
  CHECK(has(told(Family::straggler, Cause::none, conditions, Locality::rank),
            "look at rank 3 first: power cap, ECC, Xid"));
  // Of the place itself: what its own health says, whatever the others lack.
  HealthFact ecc;
  ecc.check = HealthCheck::ecc;
  ecc.stance = Stance::contradicts;
  HealthFact clock;
  clock.check = HealthCheck::clock;  // not measured
  CHECK(conditions_for(conditions, {}, {ecc, clock}).unmeasured ==
        std::vector<std::string>{"temperature", "SM clock", "power cap", "Xid"});
}

TEST_CASE("a place that stands still is not looked at as a slow GPU") {
  Conditions conditions = conditions_for({}, {{FactKind::stall_excess, 0.3, 0.0, 40, 40, ""}}, {});
  std::string text = told(Family::straggler, Cause::none, conditions, Locality::rank);
  CHECK(has(text, "loader's next() on rank 3"));
  CHECK(has(text, "host of rank 3"));
  CHECK(has(text, "its workers"));
  CHECK_FALSE(has(text, "temperature"));
  conditions.loader_workers = "8";
  CHECK_FALSE(has(told(Family::straggler, Cause::none, conditions, Locality::rank), "its workers"));
  text = told(Family::straggler, Cause::none, conditions, Locality::rank, Persistence::bursts);
  CHECK(has(text, "checkpoint"));
  CHECK(has(text, "Write asynchronously"));
  CHECK(has(text, "garbage"));
  conditions.async_checkpoint = true;
  conditions.manual_gc = true;
  text = told(Family::straggler, Cause::none, conditions, Locality::rank, Persistence::bursts);
  CHECK(has(text, "checkpoint"));
  CHECK_FALSE(has(text, "Write asynchronously"));
  CHECK_FALSE(has(text, "garbage"));
}

TEST_CASE("where ranks lie is advice for transfer alone") {
  Conditions conditions;
  conditions.placement.emplace();
  conditions.placement->needless.push_back(
      {Axis::tp, false, false, 8, 2, {0, 1, 2, 3}, {"n0", "n1"}, 2, 1});
  CHECK_FALSE(has(told(Family::straggler, Cause::none, conditions, Locality::rank), "cross nodes"));
  CHECK_FALSE(has(told(Family::straggler, Cause::none, {}, Locality::rank), "topology"));
  conditions.communication_heavy = true;
  CHECK(has(told(Family::straggler, Cause::none, conditions, Locality::rank), "cross nodes"));
  Diagnosis diagnosis = example::stalled_by_input();
  CHECK_FALSE(conditions_of(diagnosis, example::bare_run()).communication_heavy);
  diagnosis.detail->findings[1].family = Family::communication;
  diagnosis.detail->findings[1].material = true;
  CHECK(conditions_of(diagnosis, example::bare_run()).communication_heavy);
}

TEST_CASE("overlap is advised for what does not overlap yet") {
  Conditions conditions;
  conditions.gradients_overlap = true;
  std::string text = told(Family::communication, Cause::none, conditions);
  CHECK_FALSE(has(text, "gradient reduction"));
  CHECK(has(text, "prefetch of sharded parameters"));
  conditions.sharded = false;
  text = told(Family::communication, Cause::none, conditions);
  CHECK_FALSE(has(text, "parameter gathering"));
  CHECK(has(text, "overlap already"));
  conditions.sharded = true;
  CHECK(has(told(Family::communication, Cause::none, conditions), "parameter gathering"));
  conditions.parameters_overlap = true;
  conditions.bucket = "bucket_cap_mb 100";
  text = told(Family::communication, Cause::none, conditions);
  CHECK(has(text, "overlap already"));
  CHECK(has(text, "now bucket_cap_mb 100"));
  CHECK_FALSE(has(text, "larger buckets"));
}

TEST_CASE("a run in fp8 against a peak of bf16 is told so before its kernels are blamed") {
  CHECK(has(told(Family::single_gpu_efficiency, Cause::kernels, of_job({{"fp8", "hybrid"}})),
            "--precision fp8"));
  CHECK_FALSE(has(told(Family::single_gpu_efficiency, Cause::kernels, of_job({})), "fp8"));
}

TEST_CASE("groups that cross needlessly are named in the advice, with the exchange") {
  Conditions conditions;
  Placement placement;
  placement.nodes_known = true;
  placement.needless.push_back({Axis::tp, false, false, 8, 2, {0, 1, 2, 3}, {"n0", "n1"}, 2, 1});
  placement.exchanges.push_back({{3}, {4}, "n1", "n0"});
  conditions.placement = placement;
  for (const Family family : {Family::communication, Family::straggler}) {
    const std::string text = told(family, Cause::none, conditions, Locality::link);
    CHECK(has(text,
              "2 of 8 tp groups cross nodes needlessly: ranks 0-3 are on n0, n1, 1 node would do"));
    CHECK(has(text, "exchange rank 3 on n1 with rank 4 on n0"));
  }
}

TEST_CASE("after a fix there is a command that tells whether the factor moved") {
  const DiagnoseSection section =
      describe_diagnose(example::stalled_by_input(), example::bare_run());
  CHECK(section.verify == "mfu compare before.json after.json --expect own_stall");
  REQUIRE(section.finding_texts.size() == 2);
  CHECK(section.finding_texts[1].verify == "mfu compare before.json after.json --expect balance");
  Diagnosis healthy = example::stalled_by_input();
  healthy.verdict = {};
  healthy.verdict.family = Family::healthy;
  CHECK(describe_diagnose(healthy, example::bare_run()).verify.empty());
}

TEST_CASE("what the command expects is what compare accepts, and its advice aims at it") {
  const auto known = expectable_factors();
  const auto expected_by = [&](const std::string& verify) {
    const std::string start = "mfu compare before.json after.json --expect ";
    REQUIRE(verify.rfind(start, 0) == 0);
    const std::string factor = verify.substr(start.size());
    CHECK(std::find(known.begin(), known.end(), factor) != known.end());
    return factor;
  };
  for (int id = 0; id <= static_cast<int>(FactorId::dependency_rest); ++id) {
    expected_by(verify_command(static_cast<FactorId>(id)));
  }
  struct Case {
    Family family;
    const char* factor;
  };
  const Case cases[] = {{Family::imbalance, "balance"},
                        {Family::straggler, "balance"},
                        {Family::stall, "own_stall"},
                        {Family::communication, "transfer"},
                        {Family::single_gpu_efficiency, "single_gpu"}};
  for (const Case& c : cases) {
    for (const Locality locality :
         {Locality::rank, Locality::node, Locality::stage, Locality::all, Locality::none}) {
      Diagnosis diagnosis = example::stalled_by_input();
      diagnosis.verdict.family = c.family;
      diagnosis.verdict.locality = locality;
      diagnosis.detail->verdict_facts.clear();
      diagnosis.detail->findings.front().family = c.family;
      diagnosis.detail->findings.front().locality = locality;
      diagnosis.detail->findings.front().facts.clear();
      const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
      CHECK(expected_by(section.verify) == c.factor);
      CHECK(expected_by(section.finding_texts.front().verify) == c.factor);
    }
  }
  for (const Family family : {Family::healthy, Family::mixed, Family::inconclusive}) {
    Diagnosis diagnosis = example::stalled_by_input();
    diagnosis.verdict.family = family;
    CHECK(describe_diagnose(diagnosis, example::bare_run()).verify.empty());
  }
}
