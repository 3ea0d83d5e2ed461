#include "catch.hpp"
#include "unit/readers/reading.hpp"

using namespace mfu;

namespace {

std::string ranks(const std::vector<int>& numbers, const std::string& more = "") {
  std::string text;
  for (const int number : numbers) {
    text += (text.empty() ? "" : ",") + std::string(R"({"rank":)") + std::to_string(number) +
            R"(,"compute":[1,2],"comm":[3,4],"stall":[5,6])" + more + "}";
  }
  return text;
}

}  // namespace

TEST_CASE("coordinates follow from the sizes, innermost first") {
  const RunTimings run = read_text(
      document(R"(,"parallelism":{"tp":2,"dp":2,"pp":2})", ranks({0, 1, 2, 3, 4, 5, 6, 7})));
  const Coords& last = run.ranks[6].coords;
  CHECK(last[Axis::tp] == 0);
  CHECK(last[Axis::dp] == 1);
  CHECK(last[Axis::pp] == 1);
  CHECK(last[Axis::cp] == 0);
}

TEST_CASE("the order can be given") {
  const RunTimings run =
      read_text(document(R"(,"parallelism":{"tp":2,"pp":2,"dp":2,"order":"tp-pp-dp"})",
                         ranks({0, 1, 2, 3, 4, 5, 6, 7})));
  CHECK(run.ranks[2].coords[Axis::pp] == 1);
  CHECK(run.ranks[2].coords[Axis::dp] == 0);
}

TEST_CASE("a size of dp that is not given is worked out, and said") {
  Notes notes;
  const RunTimings run = read_text(
      document(R"(,"parallelism":{"tp":2,"pp":2})", ranks({0, 1, 2, 3, 4, 5, 6, 7})), notes);
  CHECK(run.ranks[7].coords[Axis::dp] == 1);
  CHECK(run.ranks[7].coords[Axis::pp] == 1);
  CHECK(notes.has("dp-size-assumed"));
  Notes odd;
  const RunTimings unknown =
      read_text(document(R"(,"parallelism":{"tp":2,"pp":2})", ranks({0, 1, 2})), odd);
  CHECK(unknown.ranks[1].coords[Axis::tp] == 1);
  CHECK(unknown.ranks[1].coords[Axis::pp] == -1);
}

TEST_CASE("no sizes, no coordinates") {
  CHECK(read_text(document("", ranks({0, 1}))).ranks[1].coords == Coords{});
}

TEST_CASE("given coordinates are checked against the sizes") {
  CHECK_THAT(outcome(document(R"(,"parallelism":{"dp":2})", ranks({7}, R"(,"coords":{"dp":2})"))),
             contains("rank 7: coords.dp is 2, but parallelism.dp is 2"));
  CHECK_THAT(outcome(document(R"(,"parallelism":{"tp":2,"dp":2})", ranks({0, 9}))),
             contains("rank 9 does not fit"));
}

TEST_CASE("fewer GPUs than the product is a note") {
  Notes notes;
  const RunTimings run = read_text(
      document(R"(,"parallelism":{"tp":4,"dp":2},"hardware":{"count":2})", ranks({0, 1})), notes);
  CHECK(notes.has("count-below-layout"));
  CHECK(notes.has("one-rank-per-tp-group"));
  CHECK(run.ranks[1].coords[Axis::tp] == -1);
  CHECK(run.ranks[1].coords[Axis::dp] == 1);
}

TEST_CASE("coordinates on some ranks only are not completed") {
  Notes notes;
  const RunTimings run = read_text(document(R"(,"parallelism":{"dp":2})",
                                            ranks({0}, R"(,"coords":{"dp":0})") + "," + ranks({1})),
                                   notes);
  CHECK(run.ranks[1].coords[Axis::dp] == -1);
  CHECK(notes.has("coords-not-on-all-ranks"));
}

TEST_CASE("expert groups inside the data-parallel ones, as Megatron counts them") {
  const std::string eight = ranks({0, 1, 2, 3, 4, 5, 6, 7});
  const std::string sizes = R"(,"parallelism":{"dp":8,"ep":4},"hardware":{"count":8})";
  Notes notes;
  const RunTimings run = read_text(document(sizes, eight), notes);
  CHECK(notes.has("experts-inside-dp"));
  CHECK(run.parallelism[Axis::dp] == 2);
  CHECK(run.ranks[6].coords[Axis::ep] == 2);
  CHECK(run.ranks[6].coords[Axis::dp] == 1);
  // The same with coordinates; where they say otherwise, they stand.
  std::string given;
  std::string other;
  for (int r = 0; r < 8; ++r) {
    const auto coords = [&](int ep) {
      return R"(,"coords":{"dp":)" + std::to_string(r) + R"(,"ep":)" + std::to_string(ep) + "}";
    };
    given += (r > 0 ? "," : "") + ranks({r}, coords(r % 4));
    other += (r > 0 ? "," : "") + ranks({r}, coords(r / 2));
  }
  CHECK(read_text(document(sizes, given)).ranks[6].coords[Axis::dp] == 1);
  CHECK(read_text(document(sizes, given)).ranks[6].coords[Axis::ep] == 2);
  CHECK(read_text(document(sizes, other)).ranks[6].coords[Axis::dp] == 6);
  // The contract's own count needs no such reading.
  Notes none;
  (void)read_text(document(R"(,"parallelism":{"dp":2,"ep":4},"hardware":{"count":8})", eight),
                  none);
  CHECK_FALSE(none.has("experts-inside-dp"));
}
