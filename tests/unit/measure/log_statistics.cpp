// What the steps of a log amount to: hand-made logs with a known truth.
#include <cmath>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "statistics/robust.hpp"

using namespace mfu;

namespace {

TrainingLog log_of(const std::vector<double>& seconds, std::int64_t first = 1, int every = 1) {
  TrainingLog log;
  log.format = "hand-made";
  log.path = "train.log";
  LogSegment segment;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    LoggedStep step;
    step.iteration = first + static_cast<std::int64_t>(i) * every;
    step.line = static_cast<std::int64_t>(i) + 1;
    step.step_s = seconds[i];
    step.steps_averaged = every;
    segment.steps.push_back(step);
  }
  log.segments.push_back(std::move(segment));
  return log;
}

// About one second, with 1 % of noise.
std::vector<double> quiet(std::size_t count, std::uint64_t seed = 3, double level = 1.0) {
  Random random(seed);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) seconds.push_back(level * (1.0 + 0.01 * random.normal()));
  return seconds;
}

LogSummary summary_of(const TrainingLog& log, const LogSummaryOptions& options = {}) {
  Notes notes;
  return summarize(log, options, notes);
}

}  // namespace

TEST_CASE("compilation at the start is left out and counted", "[log]") {
  std::vector<double> seconds = quiet(40);
  seconds[0] = 16.2;
  seconds[1] = 1.6;
  const LogSummary summary = summary_of(log_of(seconds));
  CHECK(summary.left_out.warmup == 2);
  CHECK(summary.left_out.total() == 2);
  CHECK(summary.used == 38);
  CHECK(summary.first_iteration == 3);
  CHECK(summary.median_cost == Approx(1.0).epsilon(0.01));
  CHECK(summary.mean_cost == Approx(1.0).epsilon(0.01));
}

TEST_CASE("a run that changes its pace later is not warm-up", "[log]") {
  std::vector<double> seconds = quiet(40);
  for (std::size_t i = 28; i < 40; ++i) seconds[i] *= 0.5;
  CHECK(summary_of(log_of(seconds)).left_out.warmup == 0);
  for (std::size_t i = 12; i < 40; ++i) seconds[i] = 2.0;
  seconds[0] = 1.5;  // slow against the steps that follow it, quick against most
  CHECK(summary_of(log_of(seconds)).left_out.warmup == 0);
  for (std::size_t i = 12; i < 28; ++i) seconds[i] = 1.0;
  CHECK(summary_of(log_of(seconds)).left_out.warmup == 1);
}

TEST_CASE("--skip takes the place of the rule", "[log]") {
  std::vector<double> seconds = quiet(20);
  seconds[0] = 16.2;
  LogSummaryOptions options;
  options.skip = 5;
  const LogSummary summary = summary_of(log_of(seconds), options);
  CHECK(summary.left_out.skipped == 5);
  CHECK(summary.left_out.warmup == 0);
  CHECK(summary.used == 15);
  options.skip = 20;
  CHECK_THROWS_AS(summary_of(log_of(seconds), options), Error);
}

TEST_CASE("the first of two steps is warm-up at a start, not in an excerpt", "[log]") {
  CHECK(summary_of(log_of({10.31, 7.56})).left_out.warmup == 1);
  CHECK(summary_of(log_of({10.31, 7.56}, 100)).left_out.warmup == 0);
  CHECK(summary_of(log_of({10.31})).used == 1);
  CHECK_FALSE(summary_of(log_of({10.31})).interval_known);
}

TEST_CASE("asynchronous dispatch is refused", "[log]") {
  const std::vector<double> seconds{44.9, 0.319, 0.002, 5.67, 5.66, 5.67, 5.68, 5.67, 5.67, 5.66};
  Notes notes;
  const LogSummary summary = summarize(log_of(seconds, 0), {}, notes);
  CHECK(summary.left_out.too_short == 2);
  CHECK(summary.left_out.warmup == 1);
  CHECK(summary.median_cost == Approx(5.67));
  CHECK(notes.has("steps-refused"));
}

TEST_CASE("a step that prints more than the peak is refused, most steps are not", "[log]") {
  TrainingLog log = log_of(quiet(12));
  for (LoggedStep& step : log.segments[0].steps) step.model_flops_per_s_per_gpu = 200e12;
  log.segments[0].steps[1].step_s = 0.4;  // not short enough by itself
  log.segments[0].steps[1].model_flops_per_s_per_gpu = 500e12;
  LogSummaryOptions options;
  options.peak_flops = 312e12;
  CHECK(summary_of(log, options).left_out.over_peak == 1);
  CHECK(summary_of(log).left_out.over_peak == 0);
  options.peak_flops = 100e12;  // the wrong chip: the answer must be impossible, not empty
  CHECK(summary_of(log, options).left_out.over_peak == 0);
  CHECK(summary_of(log, options).used == 12);
}

TEST_CASE("a step that is quicker than the peak allows is refused", "[log]") {
  std::vector<double> seconds = quiet(20);
  seconds[7] = 0.4;
  LogSummaryOptions options;
  options.least_cost = 0.45;
  CHECK(summary_of(log_of(seconds), options).left_out.over_peak == 1);
  CHECK(summary_of(log_of(seconds)).left_out.over_peak == 0);
}

TEST_CASE("batches of two sizes are no nonsense", "[log]") {
  std::vector<double> seconds = quiet(40);
  for (std::size_t i = 0; i < 40; i += 4) seconds[i] *= 0.2;
  CHECK(summary_of(log_of(seconds)).left_out.too_short == 0);
}

TEST_CASE("the mean is total time over total work, not the mean of rates", "[log]") {
  TrainingLog log = log_of({1, 1, 1, 1});
  const double rates[] = {100.0, 100.0, 100.0, 25.0};
  for (std::size_t i = 0; i < 4; ++i) {
    log.segments[0].steps[i].step_s.reset();
    log.segments[0].steps[i].tokens_per_s = rates[i];
    log.segments[0].steps[i].iteration += 10;
  }
  const LogSummary summary = summary_of(log);
  CHECK(summary.basis == StepBasis::token);
  CHECK(1.0 / summary.mean_cost == Approx(4.0 / (3.0 / 100 + 1.0 / 25)));
  CHECK(1.0 / summary.median_cost == Approx(100.0));
}

TEST_CASE("averaged lines weigh as many steps as they stand for", "[log]") {
  TrainingLog log = log_of({1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0}, 100);
  for (std::size_t i = 0; i < 3; ++i) log.segments[0].steps[i].steps_averaged = 10;
  const LogSummary summary = summary_of(log);
  CHECK(summary.used == 34);
  CHECK(summary.lines == 7);
  CHECK(summary.median_cost == 1.0);
  CHECK(summary.mean_cost == Approx((30 * 1.0 + 4 * 3.0) / 34));
}

TEST_CASE("steps of a ramping batch are left out", "[log]") {
  TrainingLog log = log_of(quiet(20));
  for (std::size_t i = 0; i < 20; ++i) {
    log.segments[0].steps[i].global_batch = i < 6 ? 16.0 : 32.0;
    if (i < 6) log.segments[0].steps[i].step_s = 0.5;
  }
  Notes notes;
  const LogSummary summary = summarize(log, {}, notes);
  CHECK(summary.left_out.other_batch == 6);
  CHECK(summary.global_batch == 32.0);
  CHECK(notes.has("batch-changes"));
}

TEST_CASE("outliers: their share of the time, and every fifth step", "[log]") {
  std::vector<double> seconds = quiet(200);
  for (std::size_t i = 3; i < 200; i += 5) seconds[i] = 1.5;
  const LogSummary summary = summary_of(log_of(seconds));
  CHECK(summary.outliers.count == 40);
  CHECK(summary.outliers.time_share == Approx(60.0 / 220.0).epsilon(0.01));
  CHECK(summary.outliers.excess_share == Approx(20.0 / 220.0).epsilon(0.02));
  REQUIRE(summary.outliers.period_steps);
  CHECK(*summary.outliers.period_steps == 5);
  CHECK_FALSE(summary.outliers.period_seconds);
  CHECK(summary.median_cost == Approx(1.0).epsilon(0.01));
}

TEST_CASE("lines every tenth step: a period is one of steps", "[log]") {
  std::vector<double> seconds = quiet(120);
  for (std::size_t i = 4; i < 120; i += 6) seconds[i] = 2.0;
  const LogSummary summary = summary_of(log_of(seconds, 10, 10));
  REQUIRE(summary.outliers.period_steps);
  CHECK(*summary.outliers.period_steps == 60);
}

TEST_CASE("outliers at random places have no period", "[log]") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<double> seconds = quiet(300, seed);
    Random random(1000 + seed);
    const std::size_t count = 4 + random.below(40);
    for (std::size_t i = 0; i < count; ++i) seconds[random.below(300)] = 1.5;
    const LogSummary summary = summary_of(log_of(seconds));
    if (summary.outliers.period_steps || summary.outliers.period_seconds) ++found;
  }
  CHECK(found <= 4);
}

TEST_CASE("a stall every 30 seconds in steps of uneven length", "[log]") {
  Random random(5);
  std::vector<double> seconds;
  double clock = 0.0;
  double next = 30.0;
  while (seconds.size() < 600) {
    double step = 0.5 * (1.0 + 0.02 * random.normal());
    if (clock + step > next) {
      step += 0.6;
      next += 30.0;
    }
    clock += step;
    seconds.push_back(step);
  }
  // The length of a step changes half-way, so that no number of steps fits.
  std::vector<double> uneven;
  clock = 0.0;
  next = 30.0;
  for (std::size_t i = 0; i < 900; ++i) {
    double step = (i / 150 % 2 == 0 ? 0.5 : 0.37) * (1.0 + 0.02 * random.normal());
    if (clock + step > next) {
      step += 0.6;
      next += 30.0;
    }
    clock += step;
    uneven.push_back(step);
  }
  const LogSummary summary = summary_of(log_of(uneven));
  CHECK_FALSE(summary.outliers.period_steps);
  REQUIRE(summary.outliers.period_seconds);
  CHECK(*summary.outliers.period_seconds == Approx(30.0).epsilon(0.05));
}

TEST_CASE("drift is found, noise is not drift", "[log]") {
  std::vector<double> seconds = quiet(400);
  CHECK_FALSE(summary_of(log_of(seconds)).drift);
  for (std::size_t i = 0; i < 400; ++i) seconds[i] *= 1.0 + 0.15 * static_cast<double>(i) / 400;
  const LogSummary summary = summary_of(log_of(seconds));
  REQUIRE(summary.drift);
  CHECK(summary.drift->change == Approx(0.12).epsilon(0.15));
  CHECK(summary.outliers.count == 0);
}

TEST_CASE("a resumed run: segments, the change, and one of them alone", "[log]") {
  TrainingLog log = log_of(quiet(40));
  const TrainingLog again = log_of(quiet(40, 9, 1.12), 21);
  log.segments.push_back(again.segments.front());
  const LogSummary all = summary_of(log);
  REQUIRE(all.segments.size() == 2);
  CHECK_FALSE(all.segments[0].change);
  REQUIRE(all.segments[1].change);
  CHECK(*all.segments[1].change == Approx(0.12).epsilon(0.1));
  CHECK_FALSE(all.drift);
  LogSummaryOptions options;
  options.last_segment = true;
  CHECK(summary_of(log, options).median_cost == Approx(1.12).epsilon(0.01));
  options = {};
  options.segment = 1;
  CHECK(summary_of(log, options).median_cost == Approx(1.0).epsilon(0.01));
  options.segment = 3;
  CHECK_THROWS_AS(summary_of(log, options), Error);
  const TrainingLog same = log_of(quiet(40, 11), 21);
  log.segments[1] = same.segments.front();
  CHECK_FALSE(summary_of(log).segments[1].change);
}

TEST_CASE("pauses stand apart from steps", "[log]") {
  TrainingLog log = log_of(quiet(40));
  log.pauses = {
      {"checkpoint", 5, 24.9, 10}, {"evaluation", 9, 3.0, 20}, {"checkpoint", 12, 0.0, 30}};
  log.segments[0].steps[10].step_s = 2.0;  // iteration 11
  const LogSummary summary = summary_of(log);
  REQUIRE(summary.pauses.size() == 2);
  CHECK(summary.pauses[0].kind == "checkpoint");
  CHECK(summary.pauses[0].count == 2);
  CHECK(summary.pauses[0].timed == 1);
  CHECK(summary.pauses[0].seconds == 24.9);
  CHECK(summary.outliers.count == 1);
  CHECK(summary.outliers.beside_pauses == 1);
}

TEST_CASE("the interval of the median holds it, and narrows", "[log]") {
  int covered = 0;
  double width = 0.0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const LogSummary summary = summary_of(log_of(quiet(100, seed)));
    REQUIRE(summary.interval_known);
    if (summary.median_ci.lo <= 1.0 && 1.0 <= summary.median_ci.hi) ++covered;
    width += summary.median_ci.hi - summary.median_ci.lo;
  }
  CHECK(covered >= 88);
  CHECK(width / 100 < 0.01);
  const LogSummary large = summary_of(log_of(quiet(20000)));  // beyond what is resampled
  CHECK(large.median_ci.lo < large.median_cost);
  CHECK(large.median_ci.hi > large.median_cost);
  CHECK(large.median_ci.hi - large.median_ci.lo < 0.002);
}

TEST_CASE("what the log prints is brought to the median step", "[log]") {
  TrainingLog log = log_of(quiet(30));
  for (LoggedStep& step : log.segments[0].steps) {
    step.model_flops_per_s_per_gpu = std::round(235.0 / *step.step_s) * 1e11;  // 23.5 TFLOP/s
    step.mfu = std::round(7532.0 / *step.step_s) / 100000.0;
  }
  const LogSummary summary = summary_of(log);
  REQUIRE(summary.model_flops_per_s_per_gpu);
  CHECK(*summary.model_flops_per_s_per_gpu * summary.cost == Approx(23.5e12).epsilon(0.001));
  CHECK(summary.flops_rounding == Approx(0.05 / 23.5).epsilon(0.05));
  REQUIRE(summary.mfu);
  CHECK(*summary.mfu * summary.median_cost == Approx(0.07532).epsilon(0.001));
}

TEST_CASE("steps without a time are counted, none at all is refused", "[log]") {
  TrainingLog log = log_of(quiet(10));
  log.segments[0].steps[4].step_s.reset();
  CHECK(summary_of(log).left_out.without == 1);
  for (LoggedStep& step : log.segments[0].steps) step.step_s.reset();
  CHECK_THROWS_AS(summary_of(log), Error);
  log.segments.clear();
  CHECK_THROWS_AS(summary_of(log), Error);
}

TEST_CASE("the same log gives the same bits", "[log]") {
  const TrainingLog log = log_of(quiet(500));
  const LogSummary a = summary_of(log);
  const LogSummary b = summary_of(log);
  CHECK(a.median_ci.lo == b.median_ci.lo);
  CHECK(a.median_ci.hi == b.median_ci.hi);
}
