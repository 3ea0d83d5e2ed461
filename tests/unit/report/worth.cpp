// What fixes are worth, in GPU-hours, money and words.
#include <cmath>
#include <string>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/worth/fix_worth.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/worth_section.hpp"
#include "unit/report/example.hpp"

using namespace mfu;

namespace {

// 12.9 s: input 2.98 s, then a slow rank 0.9 s; even work nothing; kernels 1.02 s.
FixWorth worth_of_example() {
  FixWorth worth;
  const double mfu = 4.0472 / 12.9;
  const auto at = [&](double step) { return mfu * 12.9 / step; };
  worth.alone = {{Family::stall, 9.92, at(9.92), 2.98, true},
                 {Family::straggler, 12.0, at(12.0), 0.9, true},
                 {Family::imbalance, 12.9, at(12.9), 0.5, false}};
  const double steps[] = {12.9, 9.02, 8.52, 7.5};
  const FixStage stages[] = {FixStage::actual, FixStage::bursts_and_links, FixStage::balanced,
                             FixStage::gpu_at_target};
  for (std::size_t k = 0; k < 4; ++k) {
    worth.chain[k] = {
        stages[k], steps[k], k == 0 ? 1.0 : steps[k] / steps[k - 1], at(steps[k]), {}};
  }
  return worth;
}

std::string screen(const DiagnoseSection& section, int width = 80) {
  Report report;
  report.command = "diagnose";
  report.diagnose = section;
  RenderStyle style;
  style.width = width;
  return find_renderer("text").render(report, style);
}

}  // namespace

TEST_CASE("seconds of a step as GPU-hours and money") {
  CostBasis basis{64, 12.9, std::nullopt, std::nullopt};
  Cost cost = cost_of(2.98, basis);
  CHECK(cost.gpu_hours_a_day == Approx(24.0 * 64.0 * 2.98 / 12.9));
  CHECK_FALSE(cost.money_a_day);
  CHECK_FALSE(cost.gpu_hours_left);
  basis.price_per_gpu_hour = 2.5;
  cost = cost_of(2.98, basis);
  CHECK(*cost.money_a_day == Approx(2.5 * cost.gpu_hours_a_day));
  CHECK_FALSE(cost.money_left);
  basis.steps_left = 50000.0;
  cost = cost_of(2.98, basis);
  CHECK(*cost.seconds_left == Approx(149000.0));
  CHECK(*cost.gpu_hours_left == Approx(149000.0 * 64.0 / 3600.0));
  CHECK(*cost.money_left == Approx(2.5 * *cost.gpu_hours_left));
  CHECK(cost_of(0.0, basis).gpu_hours_a_day == 0.0);
}

TEST_CASE("the table stands on the screen where more than one fix counts, or when asked") {
  Diagnosis diagnosis = example::stalled_by_input();
  CHECK_FALSE(describe_diagnose(diagnosis, example::bare_run()).worth_table);
  diagnosis.detail->worth = worth_of_example();
  const DiagnoseSection both = describe_diagnose(diagnosis, example::bare_run());
  REQUIRE(both.worth_table);
  CHECK(both.worth_table->on_screen);
  CHECK_THAT(screen(both), contains("What a fix is worth"));
  diagnosis.detail->worth->alone[1].material = false;
  CHECK_FALSE(describe_diagnose(diagnosis, example::bare_run()).worth_table->on_screen);
  CHECK(screen(describe_diagnose(diagnosis, example::bare_run())).find("worth  ") !=
        std::string::npos);
  WorthAsk ask;
  ask.show = true;
  CHECK(describe_diagnose(diagnosis, example::bare_run(), ask).worth_table->on_screen);
  ask = {};
  ask.price_per_gpu_hour = 2.5;
  CHECK(describe_diagnose(diagnosis, example::bare_run(), ask).worth_table->on_screen);
  // Open verdicts do not sell their fixes.
  diagnosis.detail->worth->alone[1].material = true;
  diagnosis.verdict.family = Family::inconclusive;
  CHECK_FALSE(describe_diagnose(diagnosis, example::bare_run()).worth_table->on_screen);
}

TEST_CASE("the rows: each family's fix alone, then the order with its factors") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.detail->worth = worth_of_example();
  WorthAsk ask;
  ask.price_per_gpu_hour = 2.5;
  ask.steps_left = 50000.0;
  const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run(), ask);
  const std::string text = screen(section);
  INFO(text);
  CHECK_THAT(text, contains("What a fix is worth (64 GPUs, 2.5 an hour each, 50,000 steps left)"));
  CHECK_THAT(text, contains("Each alone"));
  CHECK_THAT(text, contains("9.92 s  40.8 %  x 0.769"));
  CHECK_THAT(text, contains("3 GPUs at 45 %"));
  CHECK_THAT(text, contains("imbalance: 500.0 ms a step once what comes before it is fixed"));
  CHECK_THAT(text, contains("the job ends 3.12 days earlier"));
  CHECK_THAT(text, contains("2,649"));  // GPU-hours left of the stall
  CHECK_THAT(text, contains("6,622"));  // its money
  // Never wider than the screen; the step always stands. What does not fit goes from the right.
  for (const int width : {50, 60, 72, 80, 120}) {
    std::string narrow = screen(section, width);
    narrow = narrow.substr(narrow.find("What a fix is worth"));
    narrow = narrow.substr(0, narrow.find("How sure"));
    std::size_t begin = 0;
    while (begin < narrow.size()) {
      const std::size_t end = narrow.find('\n', begin);
      CHECK(end - begin <= static_cast<std::size_t>(width));
      begin = end + 1;
    }
    CHECK_THAT(narrow, contains("12.90 s"));
  }
}

TEST_CASE("without an MFU the table has steps and factors alone") {
  Diagnosis diagnosis = example::without_mfu();
  diagnosis.detail->worth = worth_of_example();
  for (FamilyWorth& entry : diagnosis.detail->worth->alone) entry.mfu.reset();
  for (ChainStep& step : diagnosis.detail->worth->chain) step.mfu.reset();
  const DiagnoseSection section = describe_diagnose(diagnosis, example::bare_run());
  REQUIRE(section.worth_table);
  CHECK(section.worth_table->headers.front() == "step");
  CHECK(section.worth_table->headers[1] == "factor");
}
