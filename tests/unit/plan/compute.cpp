// Three equations, any unknown: published runs forward, random plans backward, what is not
// determined, what contradicts.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"
#include "mfu/plan.hpp"
#include "unit/plan/example.hpp"

namespace {

using mfu::Plan;
using mfu::PlanInput;
using mfu::PlanQuantity;
using enum mfu::PlanQuantity;
using mfu::plan_example::of;
using mfu::plan_example::small;

constexpr double kDay = 86400.0;

bool holds(const std::vector<PlanQuantity>& list, PlanQuantity quantity) {
  return std::find(list.begin(), list.end(), quantity) != list.end();
}

}  // namespace

TEST_CASE("tokens, GPUs and MFU give time, GPU-hours, FLOPs and energy") {
  const Plan plan = mfu::plan_compute(small());
  const double flops = 6.0 * 8e9 * 1e12;
  const double wall = flops / (512.0 * 0.4 * 989.4e12);
  CHECK(*plan.total_flops == flops);
  CHECK(*plan.seconds == Approx(wall));
  CHECK(*plan.gpu_seconds == Approx(512.0 * wall));
  CHECK(*plan.energy_joules == Approx(512.0 * wall * 700.0));
  CHECK(*plan.delivered_flops_per_second == Approx(512.0 * 0.4 * 989.4e12));
  CHECK(*plan.peak_total_flops == Approx(flops / 0.4));
  CHECK(*plan.goodput == 1.0);
  CHECK(*plan.step_seconds == *plan.seconds);
  CHECK_FALSE(plan.cost);
  CHECK(plan.solved.front() == seconds);
  CHECK(plan.open.empty());
  CHECK(plan.contradictions.empty());
}

TEST_CASE("published runs by 6 N D") {
  PlanInput input;
  const auto flops = [&](double params, double count) {
    input.flops_per_token = 6.0 * params;
    input.tokens = count;
    return *mfu::plan_compute(input).total_flops;
  };
  CHECK(flops(405e9, 15.6e12) == Approx(3.8e25).epsilon(0.03));
  CHECK(flops(175e9, 300e9) == Approx(3.14e23).epsilon(0.03));
  CHECK(flops(70e9, 1.4e12) == Approx(5.76e23).epsilon(0.03));
  // 2.664M H800 hours: neither GPUs nor days are needed.
  flops(37e9, 14.8e12);
  input.peak_flops = 989.4e12;
  input.gpu_seconds = 2.664e6 * 3600.0;
  const Plan deepseek = mfu::plan_compute(input);
  CHECK(*deepseek.mfu == Approx(0.346).epsilon(0.003));
  CHECK(holds(deepseek.open, gpus));
  CHECK(holds(deepseek.open, seconds));
  PlanInput palm;
  palm.flops_per_token = 6.0 * 540.35e9;
  palm.tokens = 780e9;
  palm.peak_flops = 275e12;
  palm.gpus = 6144.0;
  palm.mfu = 0.457;
  const double days = *mfu::plan_compute(palm).seconds / kDay;
  CHECK(days > 37.0);
  CHECK(days < 39.0);
}

TEST_CASE("every unknown agrees with the forward plan to 1e-9") {
  std::mt19937_64 random(9);
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (int round = 0; round < 500; ++round) {
    PlanInput forward;
    forward.flops_per_token = between(1e6, 1e14);
    forward.peak_flops = between(1e12, 1e17);
    forward.tokens = between(1e3, 1e16);
    forward.gpus = std::round(between(1.0, 1e6));
    forward.mfu = between(0.001, 1.0);
    forward.price = between(1e-6, 1.0);
    if (round % 4 == 1) forward.goodput = between(0.1, 1.0);
    const Plan plan = mfu::plan_compute(forward);
    REQUIRE(plan.contradictions.empty());
    if (round % 4 >= 2) {
      // Failures that leave something: the mean time between those of the job, over minutes of
      // cost.
      mfu::FailureRate rate;
      rate.per_gpu = round % 4 == 3;
      rate.checkpoint_s = between(1.0, 600.0);
      rate.restart_s = between(0.0 + 1.0, 1200.0);
      const double job = (rate.checkpoint_s + rate.restart_s) * between(20.0, 1e4);
      rate.mtbf_s = rate.per_gpu ? job * *forward.gpus : job;
      forward.failures = rate;
    }
    const Plan whole = mfu::plan_compute(forward);
    REQUIRE(whole.seconds);
    // Each input, left out, comes back from the others and the time.
    for (const PlanQuantity unknown : {tokens, gpus, mfu::PlanQuantity::mfu}) {
      PlanInput inverse = forward;
      inverse.seconds = whole.seconds;
      of(inverse, unknown).reset();
      const Plan back = mfu::plan_compute(inverse);
      INFO("round " << round << ", unknown " << mfu::to_string(unknown));
      REQUIRE(of(back, unknown));
      CHECK(std::fabs(*of(back, unknown) / *of(whole, unknown) - 1.0) < 1e-9);
      CHECK(std::fabs(*back.cost / *whole.cost - 1.0) < 1e-9);
      CHECK(back.open.empty());
      CHECK(back.contradictions.empty());
      CHECK(back.solved.front() == unknown);
    }
    // And from the money: the price, the tokens, the MFU.
    for (const PlanQuantity unknown : {price, tokens, mfu::PlanQuantity::mfu}) {
      PlanInput inverse = forward;
      inverse.cost = whole.cost;
      of(inverse, unknown).reset();
      const Plan back = mfu::plan_compute(inverse);
      INFO("round " << round << ", by cost, unknown " << mfu::to_string(unknown));
      REQUIRE(of(back, unknown));
      CHECK(std::fabs(*of(back, unknown) / *of(whole, unknown) - 1.0) < 1e-9);
      CHECK(std::fabs(*back.seconds / *whole.seconds - 1.0) < 1e-9);
    }
    // GPUs that fail: their number out of the GPU-hours, or the money.
    if (round % 4 == 3) {
      for (const PlanQuantity given : {gpu_seconds, cost}) {
        PlanInput inverse = forward;
        inverse.gpus.reset();
        of(inverse, given) = of(whole, given);
        const Plan back = mfu::plan_compute(inverse);
        INFO("round " << round << ", GPUs by " << mfu::to_string(given));
        REQUIRE(back.gpus);
        CHECK(std::fabs(*back.gpus / *whole.gpus - 1.0) < 1e-9);
        CHECK(std::fabs(*back.seconds / *whole.seconds - 1.0) < 1e-9);
        CHECK(back.open.empty());
      }
    }
    // The deadline and the budget stand in for time and cost.
    PlanInput limited = forward;
    limited.gpus.reset();
    limited.deadline_s = whole.seconds;
    const Plan by_deadline = mfu::plan_compute(limited);
    CHECK(by_deadline.deadline_taken);
    CHECK(std::fabs(*by_deadline.gpus / *whole.gpus - 1.0) < 1e-9);
  }
}

TEST_CASE("what the inputs do not determine is named, with what would settle it") {
  PlanInput input = small();
  input.gpus.reset();
  Plan plan = mfu::plan_compute(input);
  CHECK(plan.open == std::vector{gpus, seconds});
  CHECK(*plan.gpu_seconds > 0.0);  // this much is determined
  CHECK(plan.needed == 1);
  CHECK(plan.settling == std::vector{gpus, seconds});
  input.mfu.reset();
  plan = mfu::plan_compute(input);
  CHECK(plan.open == std::vector{gpus, seconds, mfu::PlanQuantity::mfu});
  CHECK(plan.needed == 2);  // one more is not enough
  CHECK(plan.settling.empty());
  CHECK_FALSE(plan.gpu_seconds);
  input = small();
  input.tokens.reset();
  plan = mfu::plan_compute(input);
  CHECK(plan.open == std::vector{tokens, seconds});
  // Without the model the tokens are open, and nothing but the model is needed.
  PlanInput unsized = small();
  unsized.flops_per_token.reset();
  unsized.tokens.reset();
  unsized.deadline_s = 30.0 * kDay;
  plan = mfu::plan_compute(unsized);
  CHECK(plan.open == std::vector{tokens});
  CHECK(plan.needed == 0);
  CHECK(*plan.total_flops == Approx(512.0 * 0.4 * 989.4e12 * 30.0 * kDay));
  // Money is open only where it is spoken of.
  input.price = 0.001;
  CHECK(holds(mfu::plan_compute(input).open, cost));
  input.price.reset();
  input.budget = 1e6;
  CHECK(holds(mfu::plan_compute(input).open, price));
}

TEST_CASE("GPU-hours alone determine the MFU, not the GPUs of failing GPUs") {
  PlanInput input = small();
  input.gpus.reset();
  input.mfu.reset();
  input.gpu_seconds = 1e9;
  CHECK(mfu::plan_compute(input).mfu);
  input.failures = mfu::FailureRate{1e8, true, 60.0, 60.0, {}};
  const Plan plan = mfu::plan_compute(input);
  CHECK_FALSE(plan.mfu);
  CHECK(plan.settling == std::vector{gpus, seconds, mfu::PlanQuantity::mfu});
}

TEST_CASE("what is said twice must agree within 1 %") {
  PlanInput input = small();
  const Plan plan = mfu::plan_compute(input);
  input.seconds = *plan.seconds * 1.005;
  CHECK(mfu::plan_compute(input).contradictions.empty());
  input.seconds = *plan.seconds * 1.5;
  const Plan wrong = mfu::plan_compute(input);
  REQUIRE(wrong.contradictions.size() == 1);
  CHECK(wrong.contradictions[0].quantity == seconds);
  CHECK(wrong.contradictions[0].given == *input.seconds);
  CHECK(wrong.contradictions[0].follows == Approx(*plan.seconds));
  CHECK(wrong.contradictions[0].from == std::vector{tokens, gpus, mfu::PlanQuantity::mfu});
  input = small();
  input.price = 0.001;
  input.cost = *plan.gpu_seconds * 0.002;
  REQUIRE(mfu::plan_compute(input).contradictions.size() == 1);
  CHECK(mfu::plan_compute(input).contradictions[0].quantity == cost);
  // Three statements about GPU-seconds, without any work.
  PlanInput idle;
  idle.gpus = 8.0;
  idle.seconds = 100.0;
  idle.gpu_seconds = 900.0;
  CHECK(mfu::plan_compute(idle).contradictions.size() == 1);
}

TEST_CASE("limits: what is over-determined by them is judged, not refused") {
  PlanInput input = small();
  const double wall = *mfu::plan_compute(input).seconds;
  input.deadline_s = wall / 2.0;
  const Plan late = mfu::plan_compute(input);
  CHECK(late.contradictions.empty());
  CHECK_FALSE(late.deadline_taken);
  REQUIRE(late.late);
  CHECK(*late.late->gpus == Approx(1024.0));
  CHECK(late.late->mfu.value() == Approx(0.8));
  CHECK(late.late->tokens.value() == Approx(0.5e12));
  input.deadline_s = wall * 2.0;
  CHECK_FALSE(mfu::plan_compute(input).late);
  // The tighter of two limits decides how many tokens there can be.
  input.tokens.reset();
  input.price = 0.001;
  const double whole = 512.0 * wall * 0.001;
  input.budget = whole;
  const Plan tight = mfu::plan_compute(input);
  CHECK(tight.budget_taken);
  CHECK_FALSE(tight.deadline_taken);
  CHECK(*tight.tokens == Approx(1e12));
  input.budget = 10.0 * whole;
  const Plan timed = mfu::plan_compute(input);
  CHECK(timed.deadline_taken);
  CHECK(*timed.tokens == Approx(2e12));
  // Each of them says something: GPUs and MFU out of deadline and budget.
  PlanInput both = small();
  both.gpus.reset();
  both.mfu.reset();
  both.price = 0.001;
  both.budget = whole;
  both.deadline_s = wall;
  const Plan out = mfu::plan_compute(both);
  CHECK(*out.gpus == Approx(512.0));
  CHECK(*out.mfu == Approx(0.4));
}

TEST_CASE("the efficiency is worth as much as hardware") {
  PlanInput input = small();
  input.mfu = 0.3;
  input.target_mfu = 0.6;
  input.price = 0.001;
  const Plan plan = mfu::plan_compute(input);
  using Change = mfu::PlanVariant::Change;
  const auto find = [&](Change change) {
    const auto found = std::find_if(plan.variants.begin(), plan.variants.end(),
                                    [&](const auto& one) { return one.change == change; });
    REQUIRE(found != plan.variants.end());
    return *found;
  };
  CHECK(find(Change::none).seconds == Approx(*plan.seconds));
  CHECK(find(Change::target_mfu).seconds == Approx(*plan.seconds / 2.0));
  CHECK(*find(Change::target_mfu).cost == Approx(*plan.cost / 2.0));
  CHECK(find(Change::target_by_gpus).gpus == Approx(1024.0));
  CHECK(find(Change::twice_the_gpus).seconds == Approx(*plan.seconds / 2.0));
  CHECK(*find(Change::twice_the_gpus).cost == Approx(*plan.cost));
  CHECK(find(Change::twice_the_mfu).seconds == Approx(*plan.seconds / 2.0));
}

TEST_CASE("a plan that needs more than the peak is impossible, and what runs over is no answer") {
  PlanInput input = small();
  input.mfu.reset();
  input.seconds = 1000.0;
  const Plan plan = mfu::plan_compute(input);
  CHECK(plan.impossible);
  CHECK(*plan.mfu > 1.0);
  CHECK(plan.variants.empty());
  input = small();
  input.tokens = 1e300;
  CHECK(mfu::plan_compute(input).overflow);
  input.tokens = 1e30;
  CHECK_FALSE(mfu::plan_compute(input).overflow);
}
