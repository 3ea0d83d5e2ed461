// The replayed schedules against what the papers and hand-drawn diagrams say.
#include "diagnose/fit/schedule.hpp"

#include <vector>

#include "catch.hpp"

using namespace mfu;
using diagnosis::Schedule;

namespace {

double replay(PipelineSchedule kind, int microbatches, int chunks, std::vector<double> compute,
              std::vector<double> weights = {}) {
  auto schedule = Schedule::build(kind, static_cast<int>(compute.size()), microbatches, chunks);
  REQUIRE(schedule);
  const std::vector<double> share(compute.size(), 1.0 / 3.0);
  return schedule->replay(compute, share, weights);
}

}  // namespace

TEST_CASE("even stages have the bubble of the papers", "[schedule]") {
  for (const int stages : {2, 4, 8}) {
    for (const int microbatches : {8, 16, 32}) {
      const std::vector<double> even(static_cast<std::size_t>(stages), 1.0);
      const double bubble = static_cast<double>(stages - 1) / microbatches;
      CHECK(replay(PipelineSchedule::one_f_one_b, microbatches, 1, even) == Approx(1.0 + bubble));
      CHECK(replay(PipelineSchedule::gpipe, microbatches, 1, even) == Approx(1.0 + bubble));
      // Interleaving divides the bubble by the chunks a stage.
      CHECK(replay(PipelineSchedule::interleaved, microbatches, 2, even) ==
            Approx(1.0 + bubble / 2.0));
    }
  }
}

TEST_CASE("one stage has no bubble", "[schedule]") {
  CHECK(replay(PipelineSchedule::one_f_one_b, 4, 1, {3.0}) == Approx(3.0));
}

TEST_CASE("a heavy last stage sets the pace", "[schedule]") {
  // Fill: a forward on each earlier stage; drain: a backward; between them the last stage never
  // idles.
  CHECK(replay(PipelineSchedule::one_f_one_b, 4, 1, {1.0, 1.0, 1.0, 2.0}) ==
        Approx(2.0 + 3.0 * 0.25));
}

TEST_CASE("a heavy first stage hides part of its forwards in the bubble", "[schedule]") {
  const double slow_first = replay(PipelineSchedule::one_f_one_b, 4, 1, {2.0, 1.0, 1.0, 1.0});
  const double slow_last = replay(PipelineSchedule::one_f_one_b, 4, 1, {1.0, 1.0, 1.0, 2.0});
  CHECK(slow_first < slow_last);
  CHECK(slow_first >= 2.0);
  // GPipe cannot: the closed form is exact there.
  CHECK(replay(PipelineSchedule::gpipe, 4, 1, {2.0, 1.0, 1.0, 1.0}) == Approx(2.0 + 3.0 * 0.25));
}

TEST_CASE("uneven microbatches stretch a pipeline, not a single stage", "[schedule]") {
  const std::vector<double> weights{0.5, 1.5, 0.5, 1.5};
  CHECK(replay(PipelineSchedule::one_f_one_b, 4, 1, {1.0}, weights) == Approx(1.0));
  CHECK(replay(PipelineSchedule::one_f_one_b, 4, 1, {1.0, 1.0}, weights) >
        replay(PipelineSchedule::one_f_one_b, 4, 1, {1.0, 1.0}));
}

TEST_CASE("what cannot be replayed is said", "[schedule]") {
  CHECK_FALSE(Schedule::build(PipelineSchedule::interleaved, 4, 6, 2));  // 6 is no multiple of 4
  CHECK_FALSE(Schedule::build(PipelineSchedule::one_f_one_b, 64, 100000, 1));
  CHECK_FALSE(Schedule::build(PipelineSchedule::one_f_one_b, 2, 0, 1));
}
