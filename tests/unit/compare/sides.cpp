// Two sides that differ in what they were measured with, and what can be restated.
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "mfu/compare.hpp"
#include "mfu/report.hpp"
#include "report/compare/compare_section.hpp"

namespace {

using namespace mfu;

// One figure, as a saved report of calc has it.
Side figure(double mfu, double step_seconds = 10.0) {
  Side side;
  side.name = "report.json";
  side.measure = Measure::single;
  side.status = CalcStatus::ok;
  side.fingerprint = parse_fingerprint(
      "convention=palm attention=full peak=989.4T precision=bf16 "
      "clock=datasheet@1830MHz");
  side.peak_flops_per_gpu = 989.4e12;
  side.model = "toy";
  side.gpus = 64;
  side.seq_len = 8192;
  side.global_batch = 512;
  side.tokens_per_step = 8192.0 * 512;
  side.flops_per_step = mfu * 989.4e12 * 64 * step_seconds;
  side.counts = {{"palm", "attention=full", *side.flops_per_step / *side.tokens_per_step}};
  side.mfu = mfu;
  side.step_seconds = step_seconds;
  side.tokens_per_second_per_gpu = *side.tokens_per_step / step_seconds / 64;
  side.steps = 1;
  return side;
}

// The same work in another time.
Side slower(const Side& side, double by) {
  Side out = side;
  out.name = "other.json";
  *out.step_seconds *= by;
  *out.mfu /= by;
  *out.tokens_per_second_per_gpu /= by;
  return out;
}

bool stands(const Comparison& c, Obstacle obstacle) {
  for (const Reason& reason : c.reasons) {
    if (reason.obstacle == obstacle) return true;
  }
  return false;
}

Comparison restated(const Side& before, const Side& after) {
  CompareOptions options;
  options.reconvert = true;
  return compare(before, after, options);
}

}  // namespace

TEST_CASE("what is measured otherwise is refused, with each reason", "[compare]") {
  const Side before = figure(0.4);
  Side after = slower(before, 1.1);
  after.fingerprint = parse_fingerprint("convention=6n peak=1979T precision=fp8 clock=max@1980MHz");
  after.peak_flops_per_gpu = 1979e12;
  after.gpus = 128;
  after.tokens_per_step = 2.0 * *before.tokens_per_step;
  after.flops_per_step = 2.1 * *before.flops_per_step;
  const Comparison c = compare(before, after, {});
  CHECK_FALSE(c.comparable);
  for (const Obstacle obstacle : {Obstacle::convention, Obstacle::peak, Obstacle::precision,
                                  Obstacle::clock, Obstacle::gpus, Obstacle::tokens}) {
    INFO(to_string(obstacle));
    CHECK(stands(c, obstacle));
  }
  CHECK(c.factors.empty());
  const CompareSection section = describe_compare(c, "");
  CHECK(compare_problems(section).size() == c.reasons.size());
  for (const std::string& text : section.reason_texts) CHECK_FALSE(text.empty());
}

TEST_CASE("the work of a step is checked under one name, too", "[compare]") {
  const Side before = figure(0.4);
  Side after = before;
  *after.flops_per_step *= 0.9;
  *after.mfu *= 0.9;
  after.counts.front().flops_per_token *= 0.9;
  const Comparison c = compare(before, after, {});
  CHECK_FALSE(c.comparable);
  REQUIRE(c.reasons.size() == 1);
  CHECK(c.reasons.front().obstacle == Obstacle::formula);
  // The tokens went through as fast as before.
  const Comparison again = restated(before, after);
  REQUIRE(again.comparable);
  CHECK(again.detail->restated == Restatement::tokens);
  CHECK(again.log_ratio == Approx(0.0).margin(1e-12));
  CHECK(again.outcome == Outcome::no_change);
}

TEST_CASE("more work a step is no more speed", "[compare]") {
  Side before = figure(0.4);
  before.tokens_per_step.reset();
  before.tokens_per_second_per_gpu.reset();
  Side after = before;
  *after.flops_per_step *= 2;
  *after.mfu *= 2;
  const Comparison c = restated(before, after);
  // Neither says its tokens: whether batch or formula changed cannot be told.
  CHECK(stands(c, Obstacle::work));
}

TEST_CASE("another peak or another number of GPUs leaves FLOP/s of a GPU", "[compare]") {
  const Side before = figure(0.4);
  Side after = slower(before, 0.8);
  after.peak_flops_per_gpu = 2 * 989.4e12;
  *after.mfu /= 2;
  after.fingerprint = parse_fingerprint(
      "convention=palm attention=full peak=1978.8T precision=bf16 "
      "clock=given-peak");
  CHECK_FALSE(compare(before, after, {}).comparable);
  const Comparison c = restated(before, after);
  REQUIRE(c.comparable);
  CHECK(c.detail->restated == Restatement::flops);
  CHECK(c.log_ratio == Approx(std::log(1.25)));
  CHECK(*c.mfu_before == Approx(0.2));
  CHECK(*c.mfu_after == Approx(0.25));
  CHECK_FALSE(c.detail->per_gpu);
}

TEST_CASE("two conventions are counted anew under one", "[compare]") {
  const Side before = figure(0.4);
  Side after = slower(before, 0.9);
  after.fingerprint =
      parse_fingerprint("convention=6n peak=989.4T precision=bf16 clock=datasheet@1830MHz");
  const double palm = before.counts.front().flops_per_token;
  after.counts = {{"6n", "", 0.8 * palm}, {"palm", "attention=full", palm}};
  *after.flops_per_step *= 0.8;
  *after.mfu *= 0.8;
  const Comparison c = restated(before, after);
  REQUIRE(c.comparable);
  CHECK(c.detail->restated == Restatement::counts);
  CHECK(c.detail->restated_convention == "palm");
  CHECK(c.log_ratio == Approx(-std::log(0.9)));
  CHECK(*c.mfu_before == Approx(0.4));
}

TEST_CASE("one figure has no spread, so nothing is told from noise", "[compare]") {
  const Side before = figure(0.4);
  const Comparison c = compare(before, slower(before, 1.03), {});
  REQUIRE(c.comparable);
  CHECK(c.outcome == Outcome::unknown);
  CHECK_FALSE(c.log_ci);
  const Regression gate = regression_of(c, 0.02);
  CHECK(gate.beyond_limit);
  CHECK_FALSE(gate.failed());
}

TEST_CASE("saved intervals are combined where there are no steps", "[compare]") {
  Side before = figure(0.4);
  before.relative_ci = Interval{-0.01, 0.01};
  Side after = slower(before, 1.05);
  const Comparison c = compare(before, after, {});
  REQUIRE(c.log_ci);
  CHECK(c.outcome == Outcome::worse);
  CHECK(c.log_ci->hi - c.log_ci->lo == Approx(0.02 * std::sqrt(2.0)).epsilon(0.001));
  CHECK(regression_of(c, 0.03).failed());
  CHECK_FALSE(regression_of(c, 0.06).failed());
  after.relative_ci = Interval{-0.2, 0.2};
  CHECK(compare(before, after, {}).outcome == Outcome::no_change);
}

TEST_CASE("several differences have no single cause", "[compare]") {
  const Side before = figure(0.4);
  Side after = slower(before, 0.9);
  after.layout = {{"tp", 4}, {"dp", 16}};
  Side laid_out = before;
  laid_out.layout = {{"tp", 8}, {"dp", 8}};
  Comparison c = compare(laid_out, after, {});
  CHECK(c.detail->causes == std::vector<std::string>{"layout"});
  CHECK(c.detail->differences.size() == 2);
  after.microbatches = 8;
  laid_out.microbatches = 4;
  c = compare(laid_out, after, {});
  CHECK(c.detail->causes.size() == 2);
  const CompareSection section = describe_compare(c, "");
  CHECK(section.credit.find("cannot be credited") != std::string::npos);
  CHECK(compare(before, before, {}).detail->causes.empty());
}

TEST_CASE("replicas and batch that grow with the GPUs are one change", "[compare]") {
  Side before = figure(0.4);
  before.layout = {{"tp", 8}, {"dp", 8}};
  Side after = before;
  after.gpus = 128;
  after.layout["dp"] = 16;
  *after.global_batch *= 2;
  *after.tokens_per_step *= 2;
  *after.flops_per_step *= 2;
  const Comparison c = restated(before, after);
  REQUIRE(c.comparable);
  CHECK(c.detail->causes == std::vector<std::string>{"scale"});
  CHECK(c.detail->per_gpu);
  CHECK(c.log_ratio == 0.0);
}

TEST_CASE("an impossible or an empty measurement is compared with nothing", "[compare]") {
  const Side before = figure(0.4);
  Side after = figure(1.4);
  after.status = CalcStatus::impossible;
  CHECK_FALSE(restated(before, after).comparable);
  Side empty = before;
  empty.mfu.reset();
  empty.step_seconds.reset();
  empty.tokens_per_second_per_gpu.reset();
  CHECK_FALSE(restated(before, empty).comparable);
  CHECK(stands(compare(before, empty, {}), Obstacle::unmeasured));
}

TEST_CASE("a report and the run that it is of are one measurement", "[compare]") {
  Side run = figure(0.4);
  run.measure = Measure::run;
  run.steps = 3;
  SideFactor single;
  single.id = "single_gpu";
  single.value = 0.4;
  run.factors = {single};
  run.terms = {{1.0, 1.0, 1.0, 1.0, 0.0, 9.0},
               {1.0, 1.0, 1.0, 1.0, 0.0, 10.0},
               {1.0, 1.0, 1.0, 1.0, 0.0, 11.0}};
  Side saved = run;
  saved.terms.clear();
  *saved.factors[0].value *= 1 + 2e-16;
  CHECK(compare(run, saved, {}).detail->same_data);
  CHECK(compare(saved, run, {}).detail->same_data);
  *saved.factors[0].value *= 1 + 1e-9;
  CHECK_FALSE(compare(run, saved, {}).detail->same_data);
}

TEST_CASE("figures that agree against two peaks are not one measurement", "[compare]") {
  const Side before = figure(0.4);
  Side after = before;
  after.fingerprint = parse_fingerprint(
      "convention=palm attention=full peak=1978.8T precision=bf16 "
      "clock=datasheet@1830MHz");
  after.peak_flops_per_gpu = 2 * 989.4e12;
  *after.flops_per_step *= 2;
  *after.tokens_per_step *= 2;
  *after.tokens_per_second_per_gpu *= 2;
  const Comparison c = restated(before, after);
  REQUIRE(c.comparable);
  CHECK_FALSE(c.detail->same_data);
  CHECK(c.log_ratio == Approx(std::log(2.0)));
  CHECK(c.outcome == Outcome::unknown);
}

TEST_CASE("no change is a slowdown of nought, without a sign", "[compare]") {
  const Regression none = regression_of(compare(figure(0.4), figure(0.4), {}), 0.03);
  CHECK_FALSE(std::signbit(none.slowdown));
  REQUIRE(none.interval);
  CHECK_FALSE(std::signbit(none.interval->lo));
  CHECK_FALSE(std::signbit(none.interval->hi));
}
