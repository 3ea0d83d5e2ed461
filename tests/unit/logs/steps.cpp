#include "logs/steps.hpp"

#include <string>

#include "catch.hpp"
#include "unit/logs/reading.hpp"

namespace mfu {
namespace {

LoggedStep step(std::int64_t iteration, double seconds) {
  LoggedStep one;
  one.iteration = iteration;
  one.line = iteration;
  one.step_s = seconds;
  return one;
}

std::string nanogpt(int iteration, const std::string& ms) {
  return "iter " + std::to_string(iteration) + ": loss 3.0, time " + ms + "ms, mfu 20.00%\n";
}

}  // namespace

TEST_CASE("copies of a step by ranks are one step, and their median is taken", "[logs]") {
  Notes notes;
  StepCollector steps(1000);
  // Ranks 1 to 3 lag behind one another.
  steps.add(step(1, 1.00), 1);
  steps.add(step(1, 1.01), 2);
  steps.add(step(2, 2.00), 1);
  steps.add(step(1, 1.05), 3);
  steps.add(step(2, 9.00), 3);
  steps.add(step(2, 2.02), 2);
  CHECK(steps.count() == 2);
  const auto segments = steps.finish("f", notes);
  REQUIRE(segments.size() == 1);
  REQUIRE(segments[0].steps.size() == 2);
  CHECK(*segments[0].steps[0].step_s == 1.01);
  CHECK(*segments[0].steps[1].step_s == 2.02);
  CHECK(segments[0].steps[1].copies == 3);
  REQUIRE(notes.has("ranks-merged"));
  CHECK(notes.all()[0].count == 4);
}

TEST_CASE("a run that starts again is a segment", "[logs]") {
  Notes notes;
  StepCollector steps(1000);
  for (const int i : {1, 2, 3, 4, 5}) steps.add(step(i, 1.0), 7);
  for (const int i : {3, 4, 5, 6}) steps.add(step(i, 1.0), 7);
  const auto segments = steps.finish("f", notes);
  REQUIRE(segments.size() == 2);
  CHECK(segments[0].steps.size() == 5);
  CHECK(segments[1].steps.size() == 4);
  CHECK(segments[1].first_line == 3);
  CHECK(notes.has("resumed-run"));
}

TEST_CASE("lines without names: equal values are copies, others are another run", "[logs]") {
  const std::string copies = nanogpt(1, "500.0") + nanogpt(1, "500.1") + nanogpt(2, "501.0");
  const ReadLog one = read_log_text(copies);
  REQUIRE(one.log.segments.size() == 1);
  CHECK(one.step(0).copies == 2);
  const ReadLog two = read_log_text(nanogpt(1, "500.0") + nanogpt(1, "900.0"));
  CHECK(two.log.segments.size() == 2);
  // Back by more than a copy could be.
  const ReadLog three = read_log_text(nanogpt(10, "500.0") + nanogpt(20, "500.0") +
                                      nanogpt(10, "500.0") + nanogpt(20, "500.0"));
  CHECK(three.log.segments.size() == 2);
}

TEST_CASE("several processes may have one name", "[logs]") {
  // The eighth process of each of two nodes.
  std::string text;
  const auto line = [](int i, const std::string& ms) { return "[default7]:" + nanogpt(i, ms); };
  text += line(1, "500.0") + line(1, "500.1") + line(2, "500.2") + line(2, "500.1");
  text += line(3, "500.0") + line(4, "500.2") + line(3, "500.1") + line(4, "500.3");
  const ReadLog read = read_log_text(text);
  REQUIRE(read.log.segments.size() == 1);
  for (const LoggedStep& step : read.log.segments[0].steps) CHECK(step.copies == 2);
  // A run that starts again has all of its copies already.
  const ReadLog again =
      read_log_text(nanogpt(1, "500.0") + nanogpt(1, "500.1") + nanogpt(2, "500.0") +
                    nanogpt(2, "500.1") + nanogpt(1, "500.0") + nanogpt(1, "500.1"));
  CHECK(again.log.segments.size() == 2);
  text.clear();
  text += line(1, "500.0") + line(2, "500.2") + line(3, "500.0");
  text += line(2, "500.0") + line(3, "500.2");
  CHECK(read_log_text(text).log.segments.size() == 2);
}

TEST_CASE("more steps than are kept become means that keep the totals", "[logs]") {
  for (const int count : {255, 256, 257, 300, 1000, 5003}) {
    CAPTURE(count);
    Notes notes;
    StepCollector steps(256);
    double total = 0.0;
    for (int i = 1; i <= count; ++i) {
      const double seconds = 1.0 + i % 7;
      total += seconds;
      steps.add(step(i, seconds), 0);
    }
    const auto segments = steps.finish("f", notes);
    REQUIRE(segments.size() == 1);
    CHECK(segments[0].steps.size() <= 256);
    double sum = 0.0;
    int averaged = 0;
    for (const LoggedStep& one : segments[0].steps) {
      sum += *one.step_s * one.steps_averaged;
      averaged += one.steps_averaged;
    }
    CHECK(averaged == count);
    CHECK(sum == Approx(total).epsilon(1e-12));
    CHECK(segments[0].steps.back().iteration == count);
    CHECK(notes.has("steps-merged") == (count > 255));
  }
}

TEST_CASE("a log that starts again and again stays bounded", "[logs]") {
  Notes notes;
  StepCollector steps(256);
  for (int i = 0; i < 60'000; ++i) steps.add(step(1000 - i % 2 * 500, 1.0 + i % 2), 0);
  const auto segments = steps.finish("f", notes);
  CHECK(segments.size() <= 20'000);
  CHECK(notes.has("too-many-restarts"));
}

}  // namespace mfu
