#include "readers/user_chips.hpp"

#include <string>

#include "catch.hpp"
#include "unit/base/temp_file.hpp"

using namespace mfu;

namespace user_chips {

const std::string kRate = R"({"precision":"bf16","flop_per_clock_per_unit":4096,"mhz":1500})";

std::string file_of(const std::string& chips) {
  return R"({"schema":"mfu.chips/1","chips":[)" + chips + "]}";
}
// One chip of 64 units with further keys: ",..." or nothing.
std::string chip(const std::string& more = "", const std::string& rates = kRate) {
  return R"({"id":"acme-x1","units":64,"rates":[)" + rates + "]" + more + "}";
}

// "kind: place: message (hint)", or "ok" with the codes of the notes.
std::string outcome(const std::string& text) {
  Notes notes;
  try {
    (void)parse_user_chips(text, "c.json", notes);
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  std::string codes = "ok";
  for (const Note& note : notes.all()) codes += " " + note.code.str();
  return codes;
}

// Of the one rate that is given.
PrecisionRate rate_of_file(const std::string& chips) {
  Notes notes;
  const UserChips table = parse_user_chips(file_of(chips), "c.json", notes);
  return table.rows().front().rates.front();
}

TEST_CASE("a row of the user's own has all that a built-in one has") {
  Notes notes;
  const UserChips table = parse_user_chips(
      file_of(chip(R"(,"name":"Acme X1","unit_kind":"core","base_mhz":1000,"max_mhz":1600,)"
                   R"("memory_gib":96,"bandwidth_gb_per_s":4000,"power_w":500,)"
                   R"("aliases":["X1 Ultra","ACME X1"],"sparse_figures":true,"source":"ours")")),
      "c.json", notes);
  REQUIRE(table.rows().size() == 1);
  const Chip& row = table.rows().front();
  CHECK(row.user_defined);
  CHECK(row.id == "acme-x1");
  CHECK(row.name == "Acme X1");
  CHECK(row.unit_kind == "core");
  CHECK(row.units == 64);
  CHECK(row.base_mhz == 1000);
  CHECK(row.max_mhz == 1600);
  CHECK(row.memory_bytes == 96.0 * 1024 * 1024 * 1024);
  CHECK(row.bandwidth_bytes_per_s == 4e12);
  CHECK(row.power_w == 500);
  CHECK(row.sparse_figures);
  CHECK(row.source == "ours");
  REQUIRE(row.aliases.size() == 2);
  CHECK(row.aliases[0] == "X1 Ultra");
  REQUIRE(row.rates.size() == 1);
  CHECK(row.rates[0].datasheet_flops == Approx(64 * 4096 * 1500e6).epsilon(1e-15));
  CHECK(notes.all().empty());
}

TEST_CASE("what is not given is not there, and the source is the file") {
  Notes notes;
  const UserChips table = parse_user_chips(
      file_of(R"({"id":"bare","rates":[{"precision":"fp8","tflops":800}]})"), "dir/c.json", notes);
  const Chip& row = table.rows().front();
  CHECK(row.name == "bare");
  CHECK(row.source == "dir/c.json");
  CHECK(row.units == 0);
  CHECK(row.max_mhz == 0);
  CHECK(row.memory_bytes == 0);
  CHECK_FALSE(row.sparse_figures);
  CHECK(row.rates[0].datasheet_flops == 800e12);
  CHECK(row.rates[0].flop_per_clock_per_unit == 0);
  CHECK(row.rates[0].basis == ClockBasis::unknown);
}

TEST_CASE("rows stay where they are when the table is moved") {
  Notes notes;
  UserChips first = parse_user_chips(file_of(chip(R"(,"aliases":["X1 Ultra"])")), "c.json", notes);
  const Chip* row = first.rows().data();
  const UserChips second = std::move(first);
  CHECK(second.rows().data() == row);
  CHECK(second.rows().front().aliases.front() == "X1 Ultra");
  CHECK(match_chip("x1_ultra", {}, second.rows()).chip == row);
}

TEST_CASE("a part of a user's chip does not need the table that it was made of") {
  const std::string more =
      R"(,"unit_kind":"a kind of unit of a name of its own","source":"the datasheet of the maker")";
  const auto half_of = [](const std::string& text) {
    Notes notes;
    const UserChips table = parse_user_chips(file_of(text), "c.json", notes);
    return &with_units(table.rows().front(), 32, "half");
  };
  const Chip* const half = half_of(chip(more));
  CHECK(half->id == "acme-x1-half");
  CHECK(half->unit_kind == "a kind of unit of a name of its own");
  CHECK(half->source == "the datasheet of the maker");
  CHECK(half->rates.front().datasheet_flops == 4096 * 32 * 1500e6);
  CHECK(half_of(chip(more)) == half);
  // Another table, with the same id for another chip.
  const Chip* const other =
      half_of(chip(more, R"({"precision":"bf16","flop_per_clock_per_unit":1024,"mhz":1500})"));
  CHECK(other->rates.front().datasheet_flops == 1024 * 32 * 1500e6);
  CHECK(half->rates.front().datasheet_flops == 4096 * 32 * 1500e6);
}

TEST_CASE("a clock is documented where it proves the figure, implied where it comes from it") {
  CHECK(rate_of_file(chip()).basis == ClockBasis::documented);
  CHECK(rate_of_file(chip("", R"({"precision":"bf16","flop_per_clock_per_unit":4096,"mhz":1500,)"
                              R"("tflops":394.5})"))
            .datasheet_flops == 394.5e12);
  const PrecisionRate implied = rate_of_file(
      chip("", R"({"precision":"bf16","flop_per_clock_per_unit":4096,"tflops":393.216})"));
  CHECK(implied.basis == ClockBasis::implied);
  CHECK(implied.datasheet_mhz == Approx(1500).epsilon(1e-12));
}

TEST_CASE("the order of the keys does not matter") {
  const PrecisionRate late =
      rate_of_file(R"({"rates":[)" + kRate + R"(],"units":64,"id":"acme-x1"})");
  CHECK(late.datasheet_flops == rate_of_file(chip()).datasheet_flops);
}

TEST_CASE("figures that contradict each other are refused with both") {
  const std::string half_percent = "396";  // of 393.2: 0.7 % off
  CHECK_THAT(outcome(file_of(chip("", R"({"precision":"bf16","flop_per_clock_per_unit":4096,)"
                                      R"("mhz":1500,"tflops":)" +
                                          half_percent + "}"))),
             contains("396 TFLOP/s are given, units x rate x clock is 393.22"));
  CHECK_THAT(outcome(file_of(chip(R"(,"base_mhz":1800,"max_mhz":1500)"))), contains("swapped"));
}

TEST_CASE("a peak has all that it is worked out from") {
  for (const char* rate : {R"({"precision":"bf16"})", R"({"precision":"bf16","mhz":1500})",
                           R"({"precision":"bf16","flop_per_clock_per_unit":4096})"}) {
    CHECK_THAT(outcome(file_of(chip("", rate))), contains("has no peak"));
  }
  // FLOP of a unit say nothing without the number of units: not dropped in silence.
  CHECK_THAT(outcome(file_of(R"({"id":"a","rates":[{"precision":"bf16","tflops":1,)"
                             R"("flop_per_clock_per_unit":4096}]})")),
             contains("the chip has no 'units'"));
  CHECK_THAT(outcome(file_of(R"({"id":"a","rates":[]})")), contains("no rates"));
  CHECK_THAT(outcome(file_of(R"({"id":"a"})")), contains("no rates"));
  CHECK_THAT(outcome(file_of(R"({"rates":[)" + kRate + "]}")), contains("without 'id'"));
  CHECK_THAT(outcome(file_of(chip("", kRate + "," + kRate))), contains("bf16 is given twice"));
}

TEST_CASE("figures out of this world are a wrong unit") {
  for (const char* more :
       {R"(,"max_mhz":1.5)", R"(,"max_mhz":1500000)", R"(,"base_mhz":-1000)", R"(,"memory_gib":0)",
        R"(,"power_w":-1)", R"(,"bandwidth_gb_per_s":4e12)"}) {
    CHECK_THAT(outcome(file_of(chip(more))),
               starts_with("format: c.json:1:") && contains("not between"));
  }
  for (const char* rate :
       {R"({"precision":"bf16","tflops":0})", R"({"precision":"bf16","tflops":-1})",
        R"({"precision":"bf16","tflops":393216000000000})", R"({"precision":"bf16","tflops":1e-4})",
        // Worked out: in kHz, or all units counted into one.
        R"({"precision":"bf16","flop_per_clock_per_unit":4096,"mhz":1500000})",
        R"({"precision":"bf16","flop_per_clock_per_unit":1e7,"mhz":10000})"}) {
    CHECK_THAT(outcome(file_of(chip("", rate))), contains("not between"));
  }
  CHECK_THAT(outcome(file_of(chip("", R"({"precision":"bf16","tflops":NaN})"))),
             starts_with("format"));
  CHECK_THAT(outcome(file_of(chip("", R"({"precision":"bf16","tflops":1e999})"))),
             starts_with("format"));
  CHECK_THAT(outcome(file_of(R"({"id":"a","units":1.5,"rates":[]})")), contains("whole"));
}

TEST_CASE("unknown keys are refused with the nearest, at their place") {
  CHECK_THAT(outcome("{\"schema\":\"mfu.chips/1\",\n \"chips\":[{\"memroy_gib\":1}]}"),
             starts_with("format: c.json:2:") && contains("did you mean 'memory_gib'"));
  CHECK_THAT(outcome(file_of(chip("", R"({"precison":"bf16"})"))), contains("'precision'"));
  CHECK_THAT(outcome(R"({"schema":"mfu.chips/1","chip":[]})"), contains("'chips'"));
  CHECK_THAT(outcome(file_of(R"({"id":"a","id":"b"})")), contains("given twice"));
  CHECK_THAT(outcome(file_of(chip("", R"({"precision":"bf17","tflops":1})"))), contains("bf17"));
}

TEST_CASE("an id is lower-case words joined by one dash") {
  for (const char* id :
       {"Acme-X1", "acme x1", "acme_x1", "-acme", "acme-", "acme--x1", ".", "a/b", ""}) {
    CHECK_THAT(outcome(file_of(R"({"id":")" + std::string(id) + R"(","rates":[)" + kRate + "]}")),
               starts_with("format: c.json:1:"));
  }
  for (const char* id : {"a", "acme-x1", "acme-x1-1g.10gb"}) {
    CHECK(outcome(file_of(R"({"id":")" + std::string(id) + R"(","units":64,"rates":[)" + kRate +
                          "]}")) == "ok");
  }
}

TEST_CASE("no name is that of two chips, however it is written") {
  const auto two = [](const std::string& a, const std::string& b) {
    const std::string rest = R"(,"units":64,"rates":[)" + kRate + "]}";
    return outcome(file_of("{" + a + rest + ",{" + b + rest));
  };
  CHECK_THAT(two(R"("id":"a")", R"("id":"a")"), contains("'a' is given to two chips"));
  CHECK_THAT(two(R"("id":"a","aliases":["X1 Ultra"])", R"("id":"b","aliases":["x1-ULTRA"])"),
             contains("given to two chips"));
  CHECK_THAT(two(R"("id":"acme-x1")", R"("id":"b","aliases":["Acme X1"])"),
             contains("given to two chips"));
  CHECK(two(R"("id":"acme-x1")", R"("id":"acme-x1-32gb")") == "ok");
  CHECK(outcome(file_of(chip(R"(,"aliases":["ACME X1"])"))) == "ok");
  CHECK_THAT(outcome(file_of(chip(R"(,"aliases":["--"])"))), contains("names nothing"));
}

TEST_CASE("a built-in row that is shadowed is said") {
  const std::string rest = R"(,"units":64,"rates":[)" + kRate + "]}";
  CHECK(outcome(file_of(R"({"id":"b100")" + rest)) == "ok user-chip-shadows");
  CHECK(outcome(file_of(chip(R"(,"aliases":["NVIDIA H100 PCIe"])"))) == "ok user-chip-shadows");
  CHECK(outcome(file_of(chip())) == "ok");
  Notes notes;
  const UserChips table = parse_user_chips(file_of(R"({"id":"b100")" + rest), "c.json", notes);
  CHECK(match_chip("b100", {}, table.rows()).chip == table.rows().data());
  CHECK(notes.all().front().severity == Severity::info);
}

TEST_CASE("files that are no list of chips have a place and a hint") {
  for (
      const char* text :
      {"", "[]", "{}", "7", "null", "{\"schema\":1}", R"({"schema":"mfu.chips/1"})",
       R"({"schema":"mfu.chips/1","chips":{}})", R"({"schema":"mfu.chips/1","chips":[]})",
       R"({"schema":"mfu.chips/1","chips":[7]})", R"({"schema":"mfu.chips/1","chips":[)",
       R"({"chips":[{"id":"a","rates":[{"precision":"bf16","tflops":1}]}]})",
       R"({"schema":"mfu.chips/1","chips":[{"id":"a","rates":[{"precision":"bf16","tflops":1}]}]} x)"}) {
    CHECK_THAT(outcome(text), starts_with("format: c.json:"));
  }
  CHECK_THAT(outcome(R"({"schema":"mfu.chips/2","chips":[]})"),
             starts_with("unsupported: c.json:") && contains("this version reads mfu.chips/1"));
}

TEST_CASE("a list without an end is refused before it costs much") {
  std::string many;
  for (int i = 0; i < 1100; ++i) {
    many += (i ? "," : "") + (R"({"id":"c)" + std::to_string(i)) +
            R"(","rates":[{"precision":"bf16","tflops":1}]})";
  }
  CHECK_THAT(outcome(file_of(many)), contains("1024 ids and aliases at most"));
  CHECK_THAT(outcome(std::string(5 * 1024 * 1024, ' ')), contains("4 MiB at most"));
}

TEST_CASE("a file may be gzip; one that is not there is an io error") {
  const TempDir folder;
  Notes notes;
  const std::string text = file_of(chip());
  const std::string packed = gzipped(text);
  const UserChips unpacked = read_user_chips(folder.write("c.json.gz", packed), notes);
  CHECK(unpacked.rows().size() == 1);
  const std::string cut = folder.write("cut.gz", packed.substr(0, packed.size() / 2));
  CHECK_THROWS_AS(read_user_chips(cut, notes), Error);
  try {
    (void)read_user_chips(folder.path("none.json"), notes);
    FAIL("read a file that is not there");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
  }
}

}  // namespace user_chips
