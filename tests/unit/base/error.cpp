#include "mfu/error.hpp"

#include "catch.hpp"

using namespace mfu;

TEST_CASE("a place shows what is known") {
  CHECK(Place{}.empty());
  CHECK(Place{}.str().empty());
  CHECK(Place{"run.json", 3, 17, 99, "rank 3, compute"}.str() == "run.json:3:17 (rank 3, compute)");
  CHECK(Place{"run.json", 3, 0, -1, ""}.str() == "run.json:3");
  CHECK(Place{"run.gz", 0, 0, 12, ""}.str() == "run.gz: byte 12");
  CHECK(Place{"", 0, 0, -1, "hardware.count"}.str() == "hardware.count");
  CHECK(Place{"-", 1, 2, -1, ""}.str() == "standard input:1:2");
}

TEST_CASE("an error tells place, message and hint") {
  const Error error(ErrorKind::format, "a negative time", {"f", 1, 2, -1, ""}, "write null");
  CHECK(std::string(error.what()) == "f:1:2: a negative time (write null)");
  CHECK(std::string(Error(ErrorKind::io, "no such file").what()) == "no such file");
  CHECK(to_string(ErrorKind::insufficient) == "insufficient");
}

TEST_CASE("notes are counted by code and keep the first place and the gravest severity") {
  Notes notes;
  notes.add("b", Severity::info, "first", {"f", 1, 0, -1, ""});
  notes.add("a", Severity::loss, "other");
  notes.add("b", Severity::loss, "second", {"f", 2, 0, -1, ""}, 3);
  REQUIRE(notes.all().size() == 2);
  CHECK(notes.all()[0].code == "b");
  CHECK(notes.all()[0].count == 4);
  CHECK(notes.all()[0].text == "first");
  CHECK(notes.all()[0].first.line == 1);
  CHECK(notes.all()[0].severity == Severity::loss);
  CHECK(notes.has("a"));
  CHECK_FALSE(notes.has("c"));
}
