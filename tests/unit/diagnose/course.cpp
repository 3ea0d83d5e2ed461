// Steady, onset, drift, bursts: how an effect behaves over the steps.
#include "diagnose/explain/course.hpp"

#include <numeric>
#include <vector>

#include "catch.hpp"
#include "statistics/robust.hpp"

using namespace mfu;
using namespace mfu::diagnosis;

namespace {

std::vector<std::int64_t> ids(std::size_t n) {
  std::vector<std::int64_t> result(n);
  std::iota(result.begin(), result.end(), 100);
  return result;
}

std::vector<double> noisy(std::vector<double> series, double sigma, std::uint64_t seed) {
  Random random(seed);
  for (double& value : series) value += sigma * random.normal();
  return series;
}

}  // namespace

TEST_CASE("a level is steady, whatever its noise and a few spikes", "[course]") {
  std::vector<double> level(60, 1.0);
  level[10] = level[40] = 4.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Course course = course_of(noisy(level, 0.1, seed), ids(60));
    CHECK(course.persistence == Persistence::steady);
    CHECK(course.on_count >= 55);
  }
}

TEST_CASE("an onset has a date", "[course]") {
  for (const std::size_t start : {8U, 30U, 50U}) {
    std::vector<double> series(60, 0.0);
    for (std::size_t i = start; i < 60; ++i) series[i] = 1.0;
    const Course course = course_of(noisy(series, 0.1, start), ids(60));
    REQUIRE(course.persistence == Persistence::onset);
    CHECK(*course.onset == start);
    CHECK(course.before == Approx(0.0).margin(0.1));
    CHECK(course.after == Approx(1.0).margin(0.1));
  }
}

TEST_CASE("what came and went before its last coming has no onset", "[course]") {
  std::vector<double> flaps(48, 0.02);
  for (const std::size_t i : {13U, 14U, 32U, 33U, 43U, 44U, 45U, 46U, 47U}) flaps[i] = 1.2;
  CHECK(course_of(flaps, ids(48)).persistence == Persistence::bursts);
  for (const std::size_t i : {13U, 32U, 33U}) flaps[i] = 0.02;
  CHECK(course_of(flaps, ids(48)).onset == 43);
}

TEST_CASE("a steady rise is a drift", "[course]") {
  std::vector<double> series;
  for (int i = 0; i < 60; ++i) series.push_back(i / 60.0);
  CHECK(course_of(noisy(series, 0.05, 3), ids(60)).persistence == Persistence::drift);
}

TEST_CASE("regular bursts have a period, random ones have none", "[course]") {
  std::vector<double> regular(60, 0.0);
  for (std::size_t i = 5; i < 60; i += 8) regular[i] = 1.0;
  const Course periodic = course_of(noisy(regular, 0.02, 1), ids(60));
  CHECK(periodic.persistence == Persistence::bursts);
  CHECK(periodic.on_count == 7);
  REQUIRE(periodic.period_steps);
  CHECK(*periodic.period_steps == Approx(8.0));

  std::vector<double> random(60, 0.0);
  for (const std::size_t i : {3U, 4U, 19U, 41U, 44U, 57U}) random[i] = 1.0;
  const Course scattered = course_of(noisy(random, 0.02, 2), ids(60));
  CHECK(scattered.persistence == Persistence::bursts);
  CHECK_FALSE(scattered.period_steps);
}

TEST_CASE("bursts are cells above median and six robust sigma, in at most 45 % of the steps",
          "[course]") {
  std::vector<double> series(20, 1.0);
  CHECK(split_bursts(series, 0.05).on_count == 0);
  series[3] = series[9] = 3.0;
  const BurstSplit split = split_bursts(series, 0.05);
  CHECK(split.on_count == 2);
  CHECK(split.level == Approx(1.0));
  CHECK(split.excess[3] == Approx(2.0));
  CHECK(split.excess[4] == 0.0);
  // More often than that is the level, not a burst.
  for (std::size_t i = 0; i < 10; ++i) series[i] = 3.0;
  CHECK(split_bursts(series, 0.05).on_count == 0);
  // Smaller than the floor is noise.
  std::vector<double> small(20, 1.0);
  small[3] = 1.04;
  CHECK(split_bursts(small, 0.05).on_count == 0);
}
