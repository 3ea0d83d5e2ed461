// Failures: the best interval against a search, the parts of the wall time, and a simulated job.
#include <cmath>
#include <random>

#include "catch.hpp"
#include "mfu/plan.hpp"
#include "plan/parts.hpp"

namespace {

using mfu::FailureRate;
using mfu::Goodput;

double sum_of(const Goodput& found) {
  return found.useful + found.checkpoints + found.redone + found.restarts;
}

}  // namespace

TEST_CASE("Young's interval and Daly's, and parts that sum to the wall time") {
  const FailureRate rate{10800.0, false, 60.0, 300.0, {}};
  const Goodput found = mfu::goodput_of(rate, 1.0);
  CHECK(found.young_s == Approx(std::sqrt(2.0 * 60.0 * 10800.0)));
  CHECK(found.daly_s < found.young_s);
  CHECK(found.interval_s == found.daly_s);
  CHECK(sum_of(found) == Approx(1.0).epsilon(1e-12));
  CHECK(found.useful > 0.85);
  CHECK(found.useful < 0.90);
}

TEST_CASE("no interval does better than Daly's by a thousandth") {
  for (const double mtbf : {600.0, 3600.0, 1e5, 1e7}) {
    for (const double checkpoint : {1.0, 30.0, 300.0}) {
      FailureRate rate{mtbf, false, checkpoint, 120.0, {}};
      const double best = mfu::goodput_of(rate, 1.0).useful;
      for (double interval = 1.0; interval < 20.0 * mtbf; interval *= 1.05) {
        rate.interval_s = interval;
        INFO("mtbf " << mtbf << ", checkpoint " << checkpoint << ", interval " << interval);
        CHECK(mfu::goodput_of(rate, 1.0).useful <= best * 1.001);
      }
    }
  }
}

TEST_CASE("a job that is simulated loses what the formula says") {
  const FailureRate rate{3600.0, false, 60.0, 200.0, 600.0};
  const Goodput found = mfu::goodput_of(rate, 1.0);
  std::mt19937_64 random(7);
  std::exponential_distribution<double> until(1.0 / 3600.0);
  double wall = 0.0;
  double restarts = 0.0;
  constexpr int kSegments = 20000;
  for (int segment = 0; segment < kSegments; ++segment) {
    double fails = until(random);
    while (fails < 660.0) {
      wall += fails;
      // A restart can fail as well.
      double again = until(random);
      while (again < 200.0) {
        wall += again;
        restarts += again;
        again = until(random);
      }
      wall += 200.0;
      restarts += 200.0;
      fails = until(random);
    }
    wall += 660.0;
  }
  CHECK(found.useful == Approx(kSegments * 600.0 / wall).epsilon(0.01));
  CHECK(found.checkpoints == Approx(kSegments * 60.0 / wall).epsilon(0.01));
  CHECK(found.restarts == Approx(restarts / wall).epsilon(0.05));
}

TEST_CASE("of one GPU or of the job: another time between failures") {
  const FailureRate each{50000.0 * 3600.0, true, 60.0, 600.0, {}};
  const FailureRate job{50000.0 * 3600.0 / 16384.0, false, 60.0, 600.0, {}};
  CHECK(mfu::goodput_of(each, 16384.0).useful == mfu::goodput_of(job, 1.0).useful);
  CHECK(mfu::goodput_of(each, 16384.0).job_mtbf_s == Approx(3.05 * 3600.0).epsilon(0.01));
}

TEST_CASE("where failures come too fast nothing is left, and no number of GPUs suffices") {
  const FailureRate rate{1.0, false, 60.0, 1e6, {}};
  const Goodput found = mfu::goodput_of(rate, 1.0);
  CHECK(found.useful == 0.0);
  CHECK(sum_of(found) == 1.0);
  mfu::PlanInput input;
  input.flops_per_token = 6.0 * 1e12;
  input.peak_flops = 1e15;
  input.tokens = 1e14;
  input.mfu = 0.4;
  input.seconds = 86400.0;
  input.failures = FailureRate{1e6, true, 600.0, 1200.0, {}};
  const mfu::Plan plan = mfu::plan_compute(input);
  CHECK(plan.no_gpus_suffice);
  CHECK_FALSE(plan.gpus);
  input.deadline_s = input.seconds;
  input.seconds.reset();
  CHECK_FALSE(mfu::plan_compute(input).no_gpus_suffice);
  // The fewest that do, where some do.
  input.failures->mtbf_s = 1e13;
  const mfu::Plan can = mfu::plan_compute(input);
  REQUIRE(can.gpus);
  const double useful = *can.gpus * mfu::goodput_of(*input.failures, *can.gpus).useful;
  const double needed = 6e12 * 1e14 / (1e15 * 0.4 * 86400.0);
  CHECK(useful == Approx(needed).epsilon(1e-9));
}

TEST_CASE("a deadline that no number of GPUs meets is judged, as a budget is") {
  mfu::PlanInput input;
  input.flops_per_token = 6.0 * 8e9;
  input.peak_flops = 989.4e12;
  input.tokens = 15e12;
  input.mfu = 0.38;
  input.deadline_s = 2 * 86400.0;
  input.failures = FailureRate{500.0 * 3600.0, true, 60.0, 600.0, {}};
  const mfu::Plan plan = mfu::plan_compute(input);
  CHECK_FALSE(plan.no_gpus_suffice);
  CHECK_FALSE(plan.gpus);
  CHECK_FALSE(plan.deadline_taken);
  REQUIRE(plan.least_seconds);
  REQUIRE(plan.fastest_gpus);
  CHECK(*plan.fastest_gpus == std::floor(*plan.fastest_gpus));
  REQUIRE(plan.late);
  CHECK_FALSE(plan.late->gpus);
  // Nothing between one GPU and a million is faster.
  mfu::PlanInput forward = input;
  forward.deadline_s.reset();
  forward.gpus = plan.fastest_gpus;
  CHECK(*mfu::plan_compute(forward).seconds == Approx(*plan.least_seconds).epsilon(1e-12));
  for (double gpus = 1.0; gpus < 1e6; gpus = std::ceil(gpus * 1.07)) {
    forward.gpus = gpus;
    CHECK(*mfu::plan_compute(forward).seconds >= *plan.least_seconds);
  }
  // What is said to hold it does, and a little more does not.
  for (const double more : {1.0, 1.001}) {
    mfu::PlanInput fewer = input;
    fewer.tokens = *plan.late->tokens * more;
    CHECK(mfu::plan_compute(fewer).gpus.has_value() == (more == 1.0));
  }
  // The deadline is not asked for again.
  CHECK(plan.settling == std::vector{mfu::PlanQuantity::gpus, mfu::PlanQuantity::gpu_seconds});
  // Beside a budget that says how many GPUs there are, it is that plan's time that is judged.
  input.price = 2.0 / 3600.0;
  input.budget = 3e6;
  const mfu::Plan paid = mfu::plan_compute(input);
  REQUIRE(paid.gpus);
  CHECK(paid.budget_taken);
  CHECK(paid.late);
  CHECK_FALSE(paid.least_seconds);
  input.budget = 1e5;
  const mfu::Plan neither = mfu::plan_compute(input);
  CHECK(neither.late);
  CHECK(neither.dear);
}
