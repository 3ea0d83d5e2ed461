#include "timings/builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "unit/readers/reading.hpp"

using namespace mfu;

namespace {

// What a reader would do for one rank.
void put(RunBuilder& builder, std::size_t source, std::int64_t rank,
         const std::vector<std::int64_t>& steps, double compute) {
  RankRecord& record = builder.add(source);
  record.info.rank = rank;
  for (const std::int64_t id : steps) record.steps.push_back(id);
  for (const std::size_t id : {kCompute, kComm, kStall}) {
    record.at(id).values.assign(steps.size(), id == kCompute ? compute : 0.5);
  }
}

}  // namespace

TEST_CASE("columns are step-major and ranks ascend") {
  Notes notes;
  RunBuilder builder;
  const std::size_t source = builder.add_source("f", false);
  for (std::int64_t rank = 20; rank >= 0; --rank) {
    put(builder, source, rank, {1, 2, 3}, static_cast<double>(rank));
    RankRecord& record = builder.record(builder.size() - 1);
    record.series[kCompute].values[2] = 100.0 + static_cast<double>(rank);
  }
  const RunTimings run = builder.build(notes);
  REQUIRE(run.ranks.size() == 21);
  CHECK(run.recorded_ranks == 21);
  for (std::size_t r = 0; r < 21; ++r) {
    CHECK(run.ranks[r].rank == static_cast<std::int64_t>(r));
    CHECK(run.compute.at(0, r) == static_cast<double>(r));
    CHECK(run.compute.row(2)[r] == 100.0 + static_cast<double>(r));
  }
  CHECK(run.column_bytes() == 3 * 21 * 3 * sizeof(double));
  CHECK(notes.all().empty());
}

TEST_CASE("the common steps are used, and what is left out is said") {
  Notes notes;
  RunBuilder builder;
  const std::size_t source = builder.add_source("f", true);
  put(builder, source, 0, {1, 2, 3, 4}, 1.0);
  put(builder, source, 1, {2, 3, 4, 5}, 1.0);
  put(builder, source, 2, {1, 2, 4}, 1.0);
  builder.record(2).series[kCompute].values = {10.0, 20.0, 40.0};
  const RunTimings run = builder.build(notes);
  CHECK(run.steps == std::vector<std::int64_t>{2, 4});
  CHECK(run.compute.at(1, 2) == 40.0);
  REQUIRE(notes.has("steps-not-on-all-ranks"));
  CHECK(notes.all()[0].count == 3);
  CHECK(notes.all()[0].severity == Severity::loss);
  CHECK_THAT(notes.all()[0].text, contains("3 of 5 steps") && contains("rank 2 has the fewest: 3"));
}

TEST_CASE("no common step is an error that names the shortest rank") {
  Notes notes;
  RunBuilder builder;
  const std::size_t source = builder.add_source("f", true);
  put(builder, source, 0, {1, 2}, 1.0);
  put(builder, source, 1, {3}, 1.0);
  CHECK_THROWS_WITH(builder.build(notes),
                    contains("no step is recorded by all 2 ranks") && contains("rank 1"));
}

TEST_CASE("values that cannot be times are refused with rank, series and index") {
  for (const double bad : {-1.0, 2e9, std::numeric_limits<double>::infinity()}) {
    Notes notes;
    RunBuilder builder;
    put(builder, builder.add_source("f", true), 7, {1, 2}, 1.0);
    builder.record(0).series[kStall].values[1] = bad;
    CHECK_THROWS_WITH(builder.build(notes), contains("rank 7, stall, index 1"));
  }
}

TEST_CASE("groups that do not sum to comm are noted, with the worst") {
  Notes notes;
  const RunTimings run =
      read_text(document("", R"({"rank":4,"compute":[1,2],"comm":[10,10],"stall":[0,0],
                       "comm_by_group":{"tp":[5,6],"dp":[5.1,5]}})"),
                notes);
  CHECK(run.comm_by_group.at("dp").at(0, 0) == 5.1);
  REQUIRE(notes.has("comm-by-group-sum"));
  CHECK(notes.all()[0].count == 1);
  CHECK_THAT(notes.all()[0].text, contains("rank 4, step 2"));
}

TEST_CASE("steps of several ranks share one list until they differ") {
  auto shared = std::make_shared<std::vector<std::int64_t>>();
  StepList a = StepList::following(shared);
  StepList b = StepList::following(shared);
  for (const std::int64_t id : {1, 2, 3}) a.push_back(id);
  b.push_back(1);
  b.push_back(5);
  b.push_back(6);
  a.push_back(4);
  CHECK(a.size() == 4);
  CHECK(a[1] == 2);
  CHECK(b[1] == 5);
  CHECK(b.back() == 6);
  CHECK_FALSE(a.same(b));
}
