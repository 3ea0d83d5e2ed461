// Learning-rate schedules: corners, means, points; published peak rates.
#include "plan/schedule.hpp"

#include <cmath>

#include "catch.hpp"
#include "mfu/plan.hpp"

namespace {

mfu::ScheduleInput schedule(mfu::ScheduleShape shape) {
  mfu::ScheduleInput input;
  input.shape = shape;
  input.steps = 1000.0;
  input.warmup_steps = 10.0;
  input.decay_steps = 200.0;
  input.final_share = 0.1;
  return input;
}

constexpr mfu::ScheduleShape kShapes[]{mfu::ScheduleShape::cosine, mfu::ScheduleShape::linear,
                                       mfu::ScheduleShape::wsd};

}  // namespace

TEST_CASE("corners of every shape") {
  for (const mfu::ScheduleShape shape : kShapes) {
    const mfu::ScheduleInput input = schedule(shape);
    CHECK(mfu::rate_share(input, 1.0) == Approx(0.1));
    CHECK(mfu::rate_share(input, 10.0) == 1.0);
    CHECK(mfu::rate_share(input, 1000.0) == Approx(0.1));
    double before = 1.0;
    for (double step = 10.0; step <= 1000.0; step += 1.0) {
      const double share = mfu::rate_share(input, step);
      CHECK(share <= before);
      before = share;
    }
  }
  CHECK(mfu::rate_share(schedule(mfu::ScheduleShape::wsd), 800.0) == 1.0);
  CHECK(mfu::rate_share(schedule(mfu::ScheduleShape::wsd), 900.0) == Approx(0.55));
  CHECK(mfu::rate_share(schedule(mfu::ScheduleShape::cosine), 505.0) == Approx(0.55));
  CHECK(mfu::rate_share(schedule(mfu::ScheduleShape::linear), 505.0) == Approx(0.55));
}

TEST_CASE("the mean in closed form is that of all steps") {
  for (const mfu::ScheduleShape shape : kShapes) {
    for (const double warmup : {0.0, 1.0, 10.0, 799.0}) {
      mfu::ScheduleInput input = schedule(shape);
      input.warmup_steps = warmup;
      double sum = 0.0;
      for (double step = 1.0; step <= 1000.0; step += 1.0) sum += mfu::rate_share(input, step);
      CHECK(mfu::mean_share(input) == Approx(sum / 1000.0).epsilon(1e-9));
    }
  }
}

TEST_CASE("points: in order, each once, with the corners") {
  for (const mfu::ScheduleShape shape : kShapes) {
    for (const std::size_t count : {1U, 10U, 999U, 5000U}) {
      const auto points = mfu::schedule_points(schedule(shape), count);
      CHECK(points.front().step == 1.0);
      CHECK(points.front().phase == "warm-up");
      CHECK(points.back().step == 1000.0);
      CHECK(points.back().phase == "end");
      bool peak = false;
      for (std::size_t i = 1; i < points.size(); ++i) {
        CHECK(points[i].step > points[i - 1].step);
        peak = peak || points[i].phase == "peak";
      }
      CHECK(peak);
      if (count == 5000U) CHECK(points.size() == 1000);
    }
  }
  mfu::ScheduleInput tiny;
  tiny.steps = 1.0;
  CHECK(mfu::schedule_points(tiny, 10).size() == 1);
}

TEST_CASE("peak rates that were published, and between the rows of GPT-3's table") {
  CHECK(*mfu::gpt3_rate(125e6) == Approx(6e-4));
  CHECK(*mfu::gpt3_rate(13e9) == Approx(1e-4));
  CHECK(*mfu::gpt3_rate(174.6e9) == Approx(0.6e-4).epsilon(0.01));
  CHECK(*mfu::gpt3_rate(1.8e9) < 2e-4);
  CHECK(*mfu::gpt3_rate(1.8e9) > 1.6e-4);
  CHECK_FALSE(mfu::gpt3_rate(1e12));
  CHECK_FALSE(mfu::gpt3_rate(1e6));
  const auto near = mfu::rates_near(8.03e9, 3);
  REQUIRE(near.size() == 3);
  CHECK(near.front().model == "Llama 3 8B");
  CHECK(mfu::rates_near(1e13, 3).empty());
  for (const mfu::PublishedRate& row : mfu::published_rates()) CHECK_FALSE(row.source.empty());
}
