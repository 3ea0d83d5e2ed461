#include <cmath>
#include <string>

#include "catch.hpp"
#include "unit/readers/reading.hpp"

using namespace mfu;

namespace json_lines {

const std::string kHeader = R"({"schema":"mfu.run/1","time_unit":"ms"})"
                            "\n";

std::string sample(int rank, int step, double compute) {
  return R"({"rank":)" + std::to_string(rank) + R"(,"step":)" + std::to_string(step) +
         R"(,"compute":)" + std::to_string(compute) +
         R"(,"comm":190.5,"stall":20})"
         "\n";
}

const std::string kLines = kHeader +
                           R"({"rank":0,"node":"n0","gpu":0})"
                           "\n" +
                           sample(0, 1, 810) + sample(1, 1, 811) + sample(0, 2, 812) +
                           sample(1, 2, 813);

TEST_CASE("rank lines and sample lines in any mix") {
  Notes notes;
  const ReadResult result = read_texts({kLines + R"({"gpu":1,"rank":1,"node":"n0"})"
                                                 "\n"},
                                       notes);
  CHECK(result.inputs.at(0).format == "mfu.run/1 jsonl");
  CHECK(result.run.steps == std::vector<std::int64_t>{1, 2});
  CHECK(result.run.compute.at(1, 1) == 0.813);
  CHECK(result.run.ranks[1].gpu == 1);
  CHECK(notes.all().empty());
}

TEST_CASE("a last line that is cut off anywhere is dropped with a note") {
  const std::string last = sample(1, 3, 5);
  const std::string before = kLines + sample(0, 3, 5);
  for (std::size_t length = 1; length < last.size() - 1; ++length) {
    Notes notes;
    const RunTimings run = read_text(before + last.substr(0, length), notes);
    INFO(last.substr(0, length));
    REQUIRE(run.steps.size() == 2);
    REQUIRE(notes.has("truncated-tail"));
    REQUIRE(notes.all()[0].first.line == 8);
    // The same where the line's end was written, but not all of the line.
    Notes again;
    REQUIRE(read_text(before + last.substr(0, length) + "\n\n", again).steps.size() == 2);
    REQUIRE(again.has("truncated-tail"));
  }
  Notes whole;
  CHECK(read_text(before + last, whole).steps.size() == 3);
  CHECK(whole.all().empty());
}

TEST_CASE("zero bytes at the end are what a crash leaves behind") {
  for (const std::string& tail :
       {std::string(), std::string(R"({"rank":0,"st)"), std::string(R"({"rank")")}) {
    Notes notes;
    CHECK(read_text(kLines + tail + std::string(5000, '\0'), notes).steps.size() == 2);
    CHECK(notes.has("truncated-tail"));
  }
  CHECK_THAT(outcome(kLines + std::string(5, '\0') + "x"), starts_with("format: a:7:"));
}

TEST_CASE("a broken line in the middle is an error with its line number") {
  CHECK_THAT(outcome(kLines + "{\"rank\":0,\"st\n" + sample(0, 3, 1)), starts_with("format: a:7:"));
  CHECK_THAT(outcome(kLines + "{\"rank\":0,\"step\":3,\"compute\":1\n" + sample(0, 3, 1)),
             contains("a:7:") && contains("the line ends"));
  CHECK_THAT(outcome(kLines + "nonsense\n" + sample(0, 3, 1)),
             starts_with("format: a:7:1: expected"));
  CHECK_THAT(outcome(kLines + "{} {}\n"), contains("a:7:"));
  CHECK_THAT(outcome(kHeader + sample(0, 1, 1).substr(0, 20) + sample(0, 1, 1)),
             starts_with("format: a:2:"));
}

TEST_CASE("what is wrong in a line is said with its number") {
  struct Case {
    std::string line;
    std::string expected;
  };
  const std::vector<Case> cases{
      {R"({"rank":0,"step":3,"compute":1,"comm":1})", "a:7 (rank 0, step 3, stall): is missing"},
      {R"({"rank":0,"step":3,"compute":-1,"comm":1,"stall":1})",
       "a:7:30 (rank 0, step 3, compute): a negative time"},
      {R"({"rank":0,"step":3,"compute":NaN,"comm":1,"stall":1})", "NaN is not a time"},
      {R"({"rank":0,"step":3,"compute":"1","comm":1,"stall":1})",
       "expected a number or null, found a string"},
      {R"({"rank":0,"step":3,"compute":[1],"comm":1,"stall":1})",
       "in JSON Lines each step has a line"},
      {R"({"rank":0,"step":3,"computee":1,"comm":1,"stall":1})", "did you mean 'compute'?"},
      {R"({"rank":0,"step":3,"compute":1,"comm":1,"stall":1e20})", "30 years"},
      {R"({"step":3,"compute":1,"comm":1,"stall":1})", "a:7: rank is missing"},
      {R"({"rank":0,"compute":1,"comm":1,"stall":1})", "a sample without a step"},
      {R"({"rank":0,"step":null,"compute":1,"comm":1,"stall":1})", "expected a step id"},
      {R"({"rank":0,"step":3,"compute":1,"comm":1,"stall":1,"compute":1})",
       "the key is given twice"},
      {R"({"rank":0,"step":3,"compute":1,"comm":1,"stall":1,"comm_by_group":{"dp":1,"dp":1}})",
       "given twice"},
      {R"({"rank":0,"coords":{"dp":0}})"
       "\n"
       R"({"rank":0,"coords":{"dp":1}})",
       "was 0 on an earlier line"},
      {R"({"rank":0,"step":3,"compute":1,"comm":1,"stall":1,"wait":1})", "wait is present"},
      {"{}", "a:7: rank is missing"},
      {R"({"schema":"mfu.run/1"})", "'time_unit' differs"},
  };
  for (const Case& one : cases) {
    INFO(one.line);
    CHECK_THAT(outcome(kLines + one.line + "\n" + sample(0, 9, 1)), contains(one.expected));
  }
  CHECK_THAT(outcome(sample(0, 1, 1) + sample(0, 2, 1)), contains("schema is missing"));
  CHECK_THAT(outcome(document("", kRank0) + "\n" + document("", kRank1)),
             contains("the header of JSON Lines holds no steps"));
}

TEST_CASE("later samples replace earlier ones, and a resumed job may repeat its header") {
  Notes notes;
  const RunTimings run = read_text(kLines + kHeader + sample(0, 2, 900) + sample(0, 1, 901) +
                                       sample(1, 2, 902) + sample(0, 0, 1),
                                   notes);
  CHECK(run.steps == std::vector<std::int64_t>{1, 2});
  CHECK(run.compute.at(0, 0) == 0.901);
  CHECK(run.compute.at(1, 0) == 0.9);
  CHECK(run.compute.at(1, 1) == 0.902);
  REQUIRE(notes.has("repeated-samples"));
  CHECK(notes.all()[0].count == 3);
  CHECK(notes.has("steps-not-on-all-ranks"));  // step 0 is only on rank 0
}

TEST_CASE("optional series may come and go, null is missing") {
  Notes notes;
  const RunTimings run = read_text(
      kHeader + sample(0, 1, 1) +
          R"({"rank":0,"step":2,"compute":null,"comm":1,"stall":1,"forward":0.5,"comm_by_group":{"dp":1},
)" + "",
      notes);
  CHECK(run.steps.size() == 1);  // the second line was cut off
  Notes other;
  const RunTimings full = read_text(
      kHeader + sample(0, 1, 1) +
          R"({"rank":0,"step":2,"compute":null,"comm":1,"stall":1,"forward":0.5,"telemetry":{"power_w":7}})"
          "\n" +
          sample(0, 3, 1),
      other);
  CHECK(std::isnan(full.compute.at(1, 0)));
  CHECK(std::isnan(full.forward.at(0, 0)));
  CHECK(full.forward.at(1, 0) == 0.0005);
  CHECK(std::isnan(full.forward.at(2, 0)));
  CHECK(full.ranks[0].telemetry.power_w.at(1) == 7.0);
}

TEST_CASE("a rank without samples is left out with a note") {
  Notes notes;
  CHECK(read_text(kLines + R"({"rank":9,"node":"n1"})"
                           "\n",
                  notes)
            .ranks.size() == 2);
  CHECK(notes.has("rank-without-samples"));
}

TEST_CASE("Windows line ends, blank lines and a byte order mark") {
  std::string text = "\xEF\xBB\xBF" + kLines;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 4) {
    text.replace(at, 1, "\r\n\r\n");
  }
  Notes notes;
  CHECK(read_text(text, notes).steps.size() == 2);
  CHECK(notes.all().empty());
}

TEST_CASE("the window's size changes nothing in JSON Lines either") {
  const std::string text = kLines + R"({"rank":0,"step":3,"comp)";
  for (std::size_t window = 1; window < 60; ++window) {
    Notes notes;
    const RunTimings run = read_texts({text}, notes, window).run;
    REQUIRE(run.compute.at(1, 0) == 0.812);
    REQUIRE(notes.all().size() == 1);
    REQUIRE(notes.all()[0].first.line == 7);
    REQUIRE(outcome(kLines + "{\"a\": tru }\n{}", window) == outcome(kLines + "{\"a\": tru }\n{}"));
  }
}

}  // namespace json_lines
