#include "logs/lines.hpp"

#include <concepts>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "logs/needles.hpp"
#include "logs/tables/columns.hpp"
#include "logs/values.hpp"

namespace mfu {
namespace {

// It keeps what it is told by reference.
using Told = std::map<std::string, std::string>;
static_assert(std::constructible_from<ColumnNames, const Told&>);
static_assert(!std::constructible_from<ColumnNames, Told>);

using Lines = std::vector<std::pair<std::int64_t, std::string>>;

Lines lines_of(std::string_view bytes, std::size_t piece = SIZE_MAX, std::size_t most = 64) {
  ByteSource source = ByteSource::from_memory(bytes, "x", piece);
  LineReader reader(source, {}, most);
  Lines all;
  std::string_view text;
  std::int64_t number = 0;
  while (reader.next(text, number)) all.emplace_back(number, std::string(text));
  return all;
}

LogLine stripped(std::string_view text) {
  LogLine line;
  line.text = text;
  strip_prefixes(line);
  return line;
}

}  // namespace

TEST_CASE("lines end at newlines and carriage returns, whatever the pieces", "[logs]") {
  const std::string bytes = "one\n 10%|#  \r 20%|## \r\n\n\x1b[31mred\x1b[0m text\nlast|\n";
  const Lines wanted{{1, "one"}, {2, " 10%|#  "}, {2, " 20%|## "}, {4, "red text"}, {5, "last|"}};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    CAPTURE(piece);
    CHECK(lines_of(bytes, piece) == wanted);
  }
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n\r\n").empty());
}

TEST_CASE("a last line without an end loses what may be half a number", "[logs]") {
  CHECK(lines_of("step 1\ntime 89") == Lines{{1, "step 1"}, {2, "time "}});
  CHECK(lines_of("time 89ms") == Lines{{1, "time 89ms"}});
  CHECK(lines_of("a\n12") == Lines{{1, "a"}});
  ByteSource source = ByteSource::from_memory("time 89", "x");
  LineReader reader(source, {});
  std::string_view text;
  std::int64_t number = 0;
  while (reader.next(text, number)) {
  }
  CHECK(reader.cut_last_line());
}

TEST_CASE("a line without end does not fill the memory", "[logs]") {
  const std::string bytes = "a\n" + std::string(1000, 'x') + "\nb\n" + std::string(5000, '7');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                  std::size_t{900}, SIZE_MAX}) {
    CAPTURE(piece);
    ByteSource source = ByteSource::from_memory(bytes, "x", piece);
    LineReader reader(source, {}, 64);
    Lines all;
    std::string_view text;
    std::int64_t number = 0;
    while (reader.next(text, number)) all.emplace_back(number, std::string(text));
    REQUIRE(all.size() == 3);
    CHECK(all[1] == std::pair<std::int64_t, std::string>{2, std::string(64, 'x')});
    CHECK(all[2] == std::pair<std::int64_t, std::string>{3, "b"});
    CHECK(reader.long_lines() == 2);
    CHECK(reader.first_long_line() == 2);
  }
}

TEST_CASE("the bytes are handed on as they are", "[logs]") {
  const std::string bytes = "a\r\x1b[1mb\n" + std::string(300, 'z') + "\nend";
  ByteSource source = ByteSource::from_memory(bytes, "x", 7);
  std::string passed;
  LineReader reader(
      source, [&passed](std::string_view piece) { passed += piece; }, 64);
  std::string_view text;
  std::int64_t number = 0;
  while (reader.next(text, number)) {
  }
  CHECK(passed == bytes);
}

TEST_CASE("prefixes of launchers come off and say who speaks", "[logs]") {
  struct Row {
    const char* text;
    const char* rest;
    std::int64_t rank;
    bool origin;
  };
  const Row rows[] = {
      {"0: hello", "hello", 0, true},
      {"  12: hello", "hello", 12, true},
      {"[rank3]:hello", "hello", 3, true},
      {"[default7]: iteration 1", " iteration 1", 7, true},
      {"my-job/0 [default5]:hello", "hello", 5, true},
      {"worker-0: hello", "hello", -1, true},
      {"10.0.0.7: hello", "hello", -1, true},
      {"node0017: 3: hello", "hello", 3, true},
      {"[worker :3] hello", " hello", 3, true},
      {"[1,3]<stdout>:hello", "hello", 3, true},
      {"[pod/train-0/main] hello", " hello", -1, true},
      {"worker-1  | hello", "hello", -1, true},
      {"(TaskRunner pid=77, ip=10.0.0.1) hello", " hello", -1, false},
      {"I0512 12:00:00.123456 1234 run.py:12] hello", "hello", -1, false},
      {"INFO:megatron.core.timers:hello", "hello", -1, false},
      {"2025-02-01 12:00:00,250 - root - INFO - hello", "hello", -1, false},
      {"[rank1]:[titan] 2025-02-01 12:00:00,250 - root - INFO - hello", "hello", 1, true},
      {"[2025-02-01 12:00:00,250] [INFO] [timer.py:215:stop] [Rank 2] hello", " hello", 2, true},
      {"[INFO 2025-02-01 12:00:00] hello", " hello", -1, false},
      {"01/17/2024 13:47:27 [INFO|DP=0|PP=1|TP=0|ip-1]: hello", " hello", -1, true},
      {"2025-02-01T12:00:00.250000000Z hello", " hello", -1, false},
      {"[NeMo I 2025-03-07 22:43:58 callback:144] hello", " hello", -1, false},
      {"03:22:14 [INFO] [TRAIN] [Rank 4] hello", " hello", 4, true},
      // These are no prefixes.
      {"iteration: 991 / 1000", "iteration: 991 / 1000", -1, false},
      {"step2: loss", "step2: loss", -1, false},
      {"iter 10: loss 3", "iter 10: loss 3", -1, false},
      {"0/2650, x", "0/2650, x", -1, false},
      {"12/345 [00:07<06:50]", "12/345 [00:07<06:50]", -1, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const LogLine line = stripped(row.text);
    CHECK(line.text == row.rest);
    CHECK(line.rank == row.rank);
    CHECK((line.origin != 0) == row.origin);
  }
  CHECK(stripped("node1: 3: x").origin != stripped("node2: 3: x").origin);
  CHECK(stripped("node1: 3: x").origin == stripped("node1: 3: y").origin);
  CHECK(stripped(" [2025-12-18 22:03:52] x").timestamp_s == 1766095432.0);
  CHECK(stripped("2025-02-01 12:00:00,250 - root - INFO - x").timestamp_s == 1738411200.25);
  // A thousand prefixes end somewhere.
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "0: ";
  CHECK(stripped(many).rank == 0);
}

TEST_CASE("numbers as logs print them", "[logs]") {
  const auto number = [](std::string_view text) { return LogText(text).number(); };
  CHECK(number("7,282") == 7282.0);
  CHECK(number("1,068,941 |") == 1068941.0);
  CHECK(number("12,34") == 12.0);  // no thousands
  CHECK(number("1,2345") == 1.0);  // nor these
  CHECK(number("  -0.50") == -0.5);
  CHECK(number("+3") == 3.0);
  CHECK(number("007") == 7.0);
  CHECK(number(".5") == 0.5);
  CHECK(number("12.") == 12.0);
  CHECK(number("9e+3") == 9000.0);
  CHECK(number("1.63e+6,") == 1630000.0);
  CHECK(number("5e") == 5.0);
  CHECK(number("112.9TFLOPS") == 112.9);
  CHECK_FALSE(number("nan"));
  CHECK_FALSE(number("nan.0"));
  CHECK_FALSE(number("-inf"));
  CHECK_FALSE(number("x1"));
  CHECK_FALSE(number(""));
  CHECK_FALSE(number("-"));
  CHECK_FALSE(number("1e999"));
  CHECK(LogText("893.76ms").number(-3) == 0.89376);
  CHECK(LogText("11.5K |").si_number(-3) == 11.5);
  CHECK(LogText("634K").si_number() == 634000.0);
  CHECK(LogText("441.0T").si_number() == 441e12);
  CHECK(LogText("45 |").si_number() == 45.0);
  const std::string nines(300, '9');
  CHECK(LogText(nines).number().has_value());
  CHECK_FALSE(timestamp_at("2025-13-01 00:00:00"));
  CHECK_FALSE(timestamp_at("2025-12-01"));
  CHECK(timestamp_at("1970-01-02 00:00:01")->seconds == 86401.0);
  CHECK(json_value(R"({"a": {"key": 1}, "key" : "v, }", "n": [1, 2]})", "n") == "[1, 2]");
  CHECK(json_value(R"({"xkey": 1, "key" : "v, }"})", "key") == R"("v, }")");
  CHECK(json_value("{}", "key").empty());
}

TEST_CASE("every literal in a line is found, also one inside another", "[logs]") {
  Needles needles;
  const std::size_t he = needles.add("he", 1);
  needles.add("she", 2);
  needles.add("hers", 4);
  const std::size_t his = needles.add("his", 8);
  needles.build();
  CHECK(needles.scan("ushers") == 7);
  CHECK(needles.scan("xyz") == 0);
  CHECK(needles.scan("hhis") == 8);
  CHECK(needles.seen(he));
  CHECK(needles.seen(his));
}

}  // namespace mfu
