#include "mfu/error.hpp"

#include <algorithm>
#include <set>

#include "base/note_code.hpp"
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
  notes.add(NoteCode::no_gpu_activity, Severity::info, "first", {"f", 1, 0, -1, ""});
  notes.add(NoteCode::trailing_comma, "other");
  notes.add(NoteCode::no_gpu_activity, "second", {"f", 2, 0, -1, ""}, 3);
  REQUIRE(notes.all().size() == 2);
  CHECK(notes.all()[0].code == NoteCode::no_gpu_activity);
  CHECK(notes.all()[0].code == "no-gpu-activity");
  CHECK(notes.all()[0].count == 4);
  CHECK(notes.all()[0].text == "first");
  CHECK(notes.all()[0].first.line == 1);
  CHECK(notes.all()[0].severity == Severity::loss);
  CHECK(notes.all()[1].severity == Severity::info);
  CHECK(notes.has("trailing-comma"));
  CHECK_FALSE(notes.has("missing-comma"));
}

TEST_CASE("a code is known by its text, and one that is not known keeps it") {
  CHECK(NoteId("long-line") == NoteCode::long_line);
  CHECK(NoteId("long-line") == NoteId(NoteCode::long_line));
  CHECK(NoteId(NoteCode::long_line).str() == "long-line");
  const NoteId foreign("of-a-later-version");
  CHECK(foreign.str() == "of-a-later-version");
  CHECK(foreign == "of-a-later-version");
  CHECK_FALSE(foreign == NoteId("of-another-version"));
  CHECK(NoteId().str().empty());
}

TEST_CASE("every kind of note has a code and a meaning of its own") {
  std::set<std::string_view> texts;
  std::set<std::string_view> meanings;
  for (const NoteKind& kind : note_kinds()) {
    CAPTURE(std::string(kind.text));
    CHECK(texts.insert(kind.text).second);
    CHECK(meanings.insert(kind.meaning).second);
    CHECK(std::all_of(kind.text.begin(), kind.text.end(), [](char c) {
      return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    }));
    CHECK(note_code(kind.text) == kind.code);
    CHECK(to_string(kind.code) == kind.text);
  }
}
