#include <cmath>
#include <string>

#include "base/time_scale.hpp"
#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/wording.hpp"
#include "unit/report/example.hpp"

using namespace mfu;

TEST_CASE("a verdict is said with place, time and confidence") {
  const DiagnoseSection section =
      describe_diagnose(example::stalled_by_input(), example::bare_run());
  CHECK(section.verdict_line == "stall (input), all ranks, steady; confidence 0.98");
  REQUIRE(section.why.size() == 1);
  CHECK(section.why[0] == "all 64 ranks stop together, in 471 of 480 steps (2.700 s to 3.300 s)");
  CHECK(section.worth == "9.4 MFU points (31.4 -> 40.8 %), 12.90 -> 9.92 s a step (9.8..10.1)");
  CHECK(section.owner == "data");
  CHECK_THAT(section.refuted_by, contains("one rank alone"));
  CHECK(to_text(section.fingerprint) ==
        "convention=palm peak=989.4T precision=bf16 clock=datasheet@1830MHz");
  CHECK(section.steps_line == "steps 21..500 (480 after 2 of warm-up)");
  CHECK(section.status == CalcStatus::ok);
  REQUIRE(section.also.size() == 1);
  CHECK_THAT(section.also[0], contains("rank 13 on node n1"));
}

TEST_CASE("without work and peak it says what is missing") {
  const DiagnoseSection section = describe_diagnose(example::without_mfu(), example::bare_run());
  CHECK_THAT(section.mfu_missing, contains("workload.flops_per_step"));
  CHECK_THAT(section.mfu_missing, contains("hardware.chip"));
  CHECK_THAT(section.worth, starts_with("23.1 % of the step, 12.90 -> 9.92 s"));
  CHECK(to_text(section.fingerprint) == "convention=palm peak=unknown precision=bf16 clock=none");
}

TEST_CASE("the factors of the rows multiply to the MFU, and the blamed row is marked") {
  for (const Diagnosis& diagnosis : {example::stalled_by_input(), example::without_mfu()}) {
    const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
    REQUIRE(section.part_texts.size() == diagnosis.parts.size());
    double product = 1.0;
    int blamed = 0;
    for (std::size_t i = 0; i < section.part_texts.size(); ++i) {
      product *= section.part_texts[i].factor.value_or(1.0);
      if (section.part_texts[i].blamed) {
        ++blamed;
        CHECK(diagnosis.parts[i].id == PartId::own_stall);
      }
    }
    CHECK(blamed == 1);
    CHECK(product == Approx(diagnosis.headline.mfu.value_or(diagnosis.headline.parallel_efficiency))
                         .epsilon(1e-12));
  }
}

TEST_CASE("healthy names nobody") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.verdict = {};
  diagnosis.verdict.family = Family::healthy;
  diagnosis.verdict.confidence = 0.97;
  diagnosis.detail->verdict_facts = {{FactKind::below_materiality, 0.3, 0.023, 0, 0, ""}};
  const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
  CHECK(section.verdict_line ==
        "healthy: no loss above 5 % of the step (15 % for steady transfer); confidence 0.97");
  CHECK(section.owner.empty());
  CHECK(section.also.empty());
  CHECK(section.actions.empty());
  for (const PartText& part : section.part_texts) CHECK_FALSE(part.blamed);
}

TEST_CASE("inconclusive says which measurement decides") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.verdict = {};
  diagnosis.verdict.families = {Family::straggler, Family::communication};
  diagnosis.detail->verdict_facts = {{FactKind::slow_everywhere, 0, 0, 0, 0, ""},
                                     {FactKind::few_steps, 0, 0, 5, 8, ""}};
  const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
  CHECK(section.verdict_line == "inconclusive: straggler or communication");
  REQUIRE(section.actions.size() == 2);
  CHECK_THAT(section.actions[0], contains("comm_by_group"));
  CHECK_THAT(section.actions[1], contains("at least 8 steps"));
  CHECK_FALSE(section.recoverable_missing.empty());
}

TEST_CASE("mixed says both families with their places, evidence and owners") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.verdict.family = Family::mixed;
  diagnosis.verdict.families = {Family::stall, Family::straggler};
  const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
  CHECK(section.verdict_line ==
        "mixed: stall (input), all ranks, steady; and straggler, rank 13 on node n1, steady; "
        "confidence 0.98");
  CHECK(section.why.size() == 2);
  CHECK(section.owner == "data; infrastructure");
}

TEST_CASE("every further culprit of the verdict's family stands on the screen, with its number") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.detail->findings.clear();
  const auto add = [&](std::int64_t rank, double loss, bool material) {
    Finding finding;
    finding.family = Family::straggler;
    finding.locality = Locality::rank;
    finding.culprits.ranks = {rank};
    finding.persistence = Persistence::steady;
    finding.loss_seconds = loss;
    finding.material = material;
    finding.facts = {{FactKind::compute_excess, 7.0, 6.0, 40, 40, ""}};
    diagnosis.detail->findings.push_back(finding);
  };
  add(3, 2.0, true);
  add(11, 1.0, true);
  add(14, 0.2, false);   // small, but a culprit
  add(15, 0.01, false);  // noise
  diagnosis.verdict = {};
  diagnosis.verdict.family = Family::straggler;
  diagnosis.verdict.locality = Locality::rank;
  diagnosis.verdict.culprits.ranks = {3};
  std::vector<std::string> also = describe_diagnose(diagnosis, example::bare_run()).also;
  REQUIRE(also.size() == 2);
  CHECK(also[0] ==
        "straggler, rank 11, steady: 1.000 s a step; it computes 7.000 s, its peers 6.000 s");
  CHECK_THAT(also[1], starts_with("straggler, rank 14, steady: 200.0 ms a step"));
  for (std::int64_t rank = 20; rank < 28; ++rank) add(rank, 0.7, true);
  also = describe_diagnose(diagnosis, example::bare_run()).also;
  REQUIRE(also.size() == 7);
  CHECK(also.back() == "and 4 more: 2.800 s a step together");
  // Mixed: the further places of both families.
  diagnosis.verdict.family = Family::mixed;
  diagnosis.verdict.families = {Family::straggler, Family::stall};
  CHECK(describe_diagnose(diagnosis, example::bare_run()).also.size() == 7);
}

TEST_CASE("an MFU over 1 is explained, likeliest first") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.headline.mfu = 1.4;
  diagnosis.headline.impossible = true;
  const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
  CHECK(section.status == CalcStatus::impossible);
  REQUIRE(section.impossible_because.size() >= 3);
  CHECK_THAT(section.impossible_because[0], contains("128 GPUs would give 70.0 %"));
  for (const double mfu : {1.0001, 3.0, 1e5, 1e300, HUGE_VAL}) {
    diagnosis.headline.mfu = mfu;
    CHECK_FALSE(describe_diagnose(diagnosis, example::bare_run()).impossible_because.empty());
  }
}

TEST_CASE("every kind of fact, family, cause and place has words") {
  const WordingContext context{{"rank 3", false}, Locality::rank, 64, 0.05};
  const auto last = static_cast<int>(FactKind::lost_activities);
  for (int kind = 0; kind <= last; ++kind) {
    const Fact fact{static_cast<FactKind>(kind), 2.0, 1.0, 3, 4, "the node node-a"};
    const std::string text = fact_sentence(fact, context);
    INFO(kind);
    CHECK(text.size() > 10);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("  ") == std::string::npos);
  }
  for (int family = 0; family <= static_cast<int>(Family::communication); ++family) {
    for (int cause = 0; cause <= static_cast<int>(Cause::jitter); ++cause) {
      for (int locality = 0; locality <= static_cast<int>(Locality::none); ++locality) {
        const Advice advice =
            advice_for(static_cast<Family>(family), static_cast<Cause>(cause),
                       static_cast<Locality>(locality), Persistence::steady, {"rank 3", false});
        CHECK_FALSE(advice.actions.empty());
        CHECK_FALSE(advice.owner.empty());
        CHECK_FALSE(advice.refuted_by.empty());
      }
    }
  }
}

TEST_CASE("lists of ranks are folded and cut") {
  CHECK(number_list({3}) == "3");
  CHECK(number_list({4, 3}) == "3, 4");
  CHECK(number_list({8, 9, 10, 11, 2}) == "2, 8-11");
  CHECK(number_list({1, 3, 5, 7, 9, 11, 13}) == "1, 3, 5, 7, 9, ... (7 in all)");
}

TEST_CASE("times that are compared share one unit") {
  CHECK(time_scale(12.9).unit == "s");
  CHECK(time_scale(12.9).decimals == 2);
  CHECK(time_scale(0.81).unit == "ms");
  CHECK(time_scale(0.81).decimals == 1);
  CHECK(time_scale(35e-6).unit == "us");
  CHECK(time_scale(0.0).unit == "ns");
}
