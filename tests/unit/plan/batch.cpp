// Critical batch: the laws, the trade of steps for tokens, the limit of data parallelism.
#include "plan/batch.hpp"

#include <cmath>

#include "catch.hpp"
#include "mfu/plan.hpp"

TEST_CASE("Kaplan's law at a loss, and a measured noise scale") {
  mfu::BatchInput input;
  input.loss = 2.0;
  const auto found = mfu::plan_batch(input);
  REQUIRE(found);
  CHECK(found->critical == Approx(2e8 / std::pow(2.0, 1.0 / 0.21)));
  CHECK_FALSE(found->measured);
  input.noise_scale = 3e6;
  const auto measured = mfu::plan_batch(input);
  CHECK(measured->critical == 3e6);
  CHECK(measured->measured);
}

TEST_CASE("a noise scale at another loss is carried over by the law that is named") {
  mfu::BatchInput input;
  input.noise_scale = 1e6;
  input.noise_scale_loss = 3.0;
  input.loss = 2.0;
  CHECK(mfu::plan_batch(input)->critical == Approx(1e6 * std::pow(1.5, 1.0 / 0.21)));
  input.law = mfu::BatchLaw::inverse_loss;
  CHECK(mfu::plan_batch(input)->critical == Approx(1.5e6));
}

TEST_CASE("1/L is a proportion: alone it gives no batch") {
  mfu::BatchInput input;
  input.loss = 2.0;
  input.law = mfu::BatchLaw::inverse_loss;
  CHECK_FALSE(mfu::plan_batch(input));
  CHECK_FALSE(mfu::plan_batch(mfu::BatchInput{}));
}

TEST_CASE("steps and tokens for the same loss: (S/S_min - 1)(E/E_min - 1) = 1") {
  mfu::BatchInput input;
  input.noise_scale = 4e6;
  input.batch = 4e6;
  input.tokens = 1e12;
  input.mfu = 0.4;
  const auto plan = mfu::plan_batch(input);
  REQUIRE(plan);
  CHECK(*plan->steps == 250000.0);
  CHECK(plan->rows.size() == 6);  // the plan's own is the critical one
  for (const mfu::BatchRow& row : plan->rows) {
    CHECK((row.tokens_over_least - 1.0) * (row.steps_over_least - 1.0) == Approx(1.0));
    REQUIRE(row.tokens);
    CHECK(*row.steps == Approx(*row.tokens / row.batch));
    if (row.own) {
      CHECK(*row.tokens == 1e12);
      CHECK(*row.even_mfu == 0.4);
    }
    if (row.share == 2.0) {
      CHECK(*row.tokens == Approx(1.5e12));  // (1 + 2) / (1 + 1)
      CHECK(*row.steps == Approx(187500.0));
      CHECK(*row.even_mfu == Approx(0.6));  // half as much again, or the batch costs time
    }
  }
}

TEST_CASE("one sequence a replica at the critical batch") {
  mfu::BatchInput input;
  input.noise_scale = 4e6;
  input.seq_len = 8192.0;
  input.gpus = 1024.0;
  const auto plan = mfu::plan_batch(input);
  CHECK(*plan->most_replicas == 488.0);
  CHECK(*plan->least_gpus_each == 3.0);
}
