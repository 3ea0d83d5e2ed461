#include "catch.hpp"
#include "mfu/timings.hpp"
#include "unit/readers/reading.hpp"

using namespace mfu;

namespace {

RunTimings three_by_two() {
  return read_text(
      R"({"schema":"mfu.run/1","hardware":{"count":8},"steps":[10,20,30],"ranks":[
        {"rank":3,"compute":[1,2,3],"comm":[0,0,0],"stall":[0,0,0],"comm_by_group":{"dp":[0,0,0]},
         "telemetry":{"sm_clock_mhz":[100,200,300],"power_w":700}},
        {"rank":5,"compute":[4,5,6],"comm":[0,0,0],"stall":[0,0,0],"comm_by_group":{"dp":[0,0,0]}}]})");
}

}  // namespace

TEST_CASE("a selection narrows every column and keeps the declared counts") {
  Notes notes;
  const RunTimings run =
      select(three_by_two(), {.first_step = 20, .last_step = {}, .skip = 0, .ranks = {3}}, notes);
  CHECK(run.steps == std::vector<std::int64_t>{20, 30});
  REQUIRE(run.ranks.size() == 1);
  CHECK(run.ranks[0].rank == 3);
  CHECK(run.compute.at(1, 0) == 3.0);
  CHECK(run.comm_by_group.at("dp").steps() == 2);
  CHECK(run.ranks[0].telemetry.sm_clock_mhz == std::vector<double>{200.0, 300.0});
  CHECK(run.ranks[0].telemetry.power_w == std::vector<double>{700.0});
  CHECK(run.recorded_ranks == 2);
  CHECK(run.hardware.count == 8);
  CHECK(notes.has("steps-selected"));
  CHECK(notes.has("ranks-selected"));
}

TEST_CASE("skip counts after the range") {
  Notes notes;
  const RunTimings run =
      select(three_by_two(), {.first_step = {}, .last_step = 20, .skip = 1, .ranks = {}}, notes);
  CHECK(run.steps == std::vector<std::int64_t>{20});
}

TEST_CASE("no selection changes nothing") {
  Notes notes;
  const RunTimings run = select(three_by_two(), {}, notes);
  CHECK(run.steps.size() == 3);
  CHECK(notes.all().empty());
}

TEST_CASE("a selection that names nothing is a usage error") {
  Notes notes;
  CHECK_THROWS_WITH(select(three_by_two(), {{}, {}, 0, {4}}, notes),
                    contains("rank 4 is not in the run"));
  CHECK_THROWS_WITH(select(three_by_two(), {31, {}, 0, {}}, notes), contains("steps 10 to 30"));
  CHECK_THROWS_WITH(select(three_by_two(), {{}, {}, 3, {}}, notes), contains("leaves none"));
}
