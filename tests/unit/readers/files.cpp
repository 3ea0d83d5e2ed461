#include <string>

#include "catch.hpp"
#include "unit/base/temp_file.hpp"
#include "unit/readers/reading.hpp"

using namespace mfu;

namespace {

std::string sample(int rank, int step, double compute) {
  return R"({"rank":)" + std::to_string(rank) + R"(,"step":)" + std::to_string(step) +
         R"(,"compute":)" + std::to_string(compute) +
         R"(,"comm":1,"stall":1})"
         "\n";
}
const std::string kHeader = R"({"schema":"mfu.run/1"})"
                            "\n";

bool same(const RunTimings& a, const RunTimings& b) {
  if (a.steps != b.steps || a.ranks.size() != b.ranks.size()) return false;
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    if (a.ranks[r].rank != b.ranks[r].rank || a.ranks[r].node != b.ranks[r].node) return false;
    for (std::size_t s = 0; s < a.steps.size(); ++s) {
      if (a.compute.at(s, r) != b.compute.at(s, r)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("several files are one run, in any order") {
  const std::string a = kHeader + sample(0, 1, 1) + sample(0, 2, 2);
  const std::string b = kHeader + sample(1, 1, 3) + sample(1, 2, 4) + sample(1, 3, 5);
  const std::string c = document("", R"({"rank":2,"compute":[7,8],"comm":[3,4],"stall":[5,6]})");
  Notes notes;
  const RunTimings run = read_texts({a, b, c}, notes).run;
  CHECK(run.ranks.size() == 3);
  CHECK(run.steps == std::vector<std::int64_t>{1, 2});
  CHECK(run.compute.at(1, 2) == 8.0);
  CHECK(same(run, read_texts({c, b, a}, notes).run));
  CHECK(same(run, read_texts({b, c, a}, notes).run));
}

TEST_CASE("headers that differ are refused by key") {
  CHECK_THAT(
      outcome(
          {document(R"(,"convention":"palm")", kRank0), document(R"(,"convention":"6n")", kRank1)}),
      contains("a:1:36 (convention): 'convention' differs between a and b") && contains("b:1:36"));
  CHECK_THAT(outcome({document(R"(,"convention":"palm")", kRank0), document("", kRank1)}),
             contains("missing in the second"));
  // Spelling, order and defaults are no difference.
  CHECK(outcome({document(R"(,"hardware":{"count":8,"chip":"x"},"time_unit":"s")", kRank0),
                 document(R"(,"hardware": {"chip":"x","count":8.0})", kRank1)}) == "ok");
}

TEST_CASE("the same rank in two objects is a resumed job only when the steps differ") {
  const std::string first = document("", kRank0);
  CHECK_THAT(outcome({first, first}),
             contains("rank 0 is recorded twice for step 1, also at b:1:"));
  const std::string resumed =
      R"({"schema":"mfu.run/1","steps":[5,6],"ranks":[{"rank":0,"node":"n1","compute":[9,8],"comm":[1,1],"stall":[1,1]}]})";
  Notes notes;
  const RunTimings run = read_texts({resumed, first}, notes).run;
  CHECK(run.steps == std::vector<std::int64_t>{1, 2, 5, 6});
  CHECK(run.compute.at(2, 0) == 9.0);
  CHECK(run.ranks[0].node == "n1");
  CHECK(same(run, read_texts({first, resumed}, notes).run));
}

TEST_CASE("samples that two files disagree on have no later one") {
  const std::string a = kHeader + sample(0, 1, 1) + sample(0, 2, 2);
  CHECK_THAT(outcome({a, kHeader + sample(0, 2, 7) + sample(0, 3, 7)}),
             contains("rank 0, step 2 has two values for compute"));
  Notes notes;
  CHECK(read_texts({a, kHeader + sample(0, 2, 2) + sample(0, 3, 7)}, notes).run.steps.size() == 3);
  CHECK(notes.has("repeated-samples"));
}

TEST_CASE("a rank that moved to another node is at its latest place") {
  const std::string a = kHeader +
                        R"({"rank":0,"node":"n0"})"
                        "\n" +
                        sample(0, 1, 1);
  const std::string b = kHeader +
                        R"({"rank":0,"node":"n7"})"
                        "\n" +
                        sample(0, 2, 1);
  Notes notes;
  CHECK(read_texts({a, b}, notes).run.ranks[0].node == "n7");
  CHECK(read_texts({b, a}, notes).run.ranks[0].node == "n7");
  CHECK(notes.has("rank-moved"));
}

TEST_CASE("gzip is read by its first bytes; a cut-off one is tolerated where lines are") {
  const std::string object = gzipped(document("", kRank0));
  Notes notes;
  const ReadResult result = read_texts({object}, notes);
  CHECK(result.inputs.at(0).format == "mfu.run/1 json (gzip)");
  CHECK(result.inputs.at(0).bytes == object.size());
  for (std::size_t length = 2; length < object.size(); ++length) {
    REQUIRE_THAT(outcome(object.substr(0, length)), contains("the gzip data is cut off"));
  }
  std::string lines = kHeader;
  for (int step = 0; step < 500; ++step) lines += sample(0, step, step * 0.37);
  const std::string packed = gzipped(lines);
  Notes tail;
  const RunTimings run = read_text(packed.substr(0, packed.size() / 2), tail);
  CHECK(run.steps.size() > 50);
  CHECK(run.steps.size() < 450);
  CHECK(tail.has("truncated-tail"));
  Notes trailer;
  CHECK(read_text(packed.substr(0, packed.size() - 4), trailer).steps.size() == 500);
  CHECK(trailer.has("truncated-tail"));
}

TEST_CASE("files on disk") {
  const TempDir dir;
  Notes notes;
  const std::string path = dir.write("run.json", document("", kRank0));
  CHECK(read_run({path}, notes).run.ranks.size() == 1);
  CHECK_THROWS_WITH(read_run({}, notes), contains("no input file"));
  CHECK_THROWS_WITH(read_run({"-", "-"}, notes), contains("named twice"));
  CHECK_THROWS_WITH(read_run({dir.path("none")}, notes), contains("none: no such file"));
  // A folder of timing documents is the run; what else it holds is left out, by name.
  (void)dir.write("notes.txt", "to do");
  CHECK(read_run({dir.path("")}, notes).run.ranks.size() == 1);
  REQUIRE(notes.all().size() == 1);
  CHECK(notes.all().front().text.find("notes.txt") != std::string::npos);
}
