#include "base/json_scanner.hpp"

#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "catch.hpp"

using namespace mfu;

namespace {

const std::vector<std::string_view> kWanted{"meta", "after"};

// Events and wanted fields, one a line; then the notes.
std::string scanned(const std::string& text, std::size_t window = 256 * 1024) {
  std::string out;
  Notes notes;
  try {
    ByteSource source = ByteSource::from_memory(text, "t");
    JsonScanner::Limits limits;
    limits.window = window;
    JsonScanner scanner(source, kWanted, limits);
    for (;;) {
      const JsonScanner::Part part = scanner.next();
      if (part == JsonScanner::Part::end) break;
      if (part == JsonScanner::Part::field) out += scanner.key() + "=";
      CHECK(text.substr(static_cast<std::size_t>(scanner.offset()), scanner.text().size()) ==
            scanner.text());
      out += std::string(scanner.text()) + "\n";
    }
    scanner.report(notes);
  } catch (const Error& error) {
    return error.what();
  }
  for (const Note& note : notes.all()) {
    out += note.code.str() + " x" + std::to_string(note.count) + " @" +
           std::to_string(note.first.byte_offset) + "\n";
  }
  return out;
}

std::string events(const std::string& list, std::size_t window = 256 * 1024) {
  return scanned("{\"traceEvents\":[" + list + "]}", window);
}

}  // namespace

TEST_CASE("events and wanted metadata are found, before and behind the events") {
  const std::string text =
      "\xef\xbb\xbf {\"meta\": {\"a\": [1, \"]}\"]}, \"skipped\": [[{}], \"traceEvents\"],\n"
      "\"traceEvents\": [ {\"ph\":\"X\",\"name\":\"f{\\\"}\"} ,\n{\"ph\":\"M\",\"args\":{\"x\":{}}}"
      " ], \"after\": 12 }\n";
  const std::string expected =
      "meta={\"a\": [1, \"]}\"]}\n{\"ph\":\"X\",\"name\":\"f{\\\"}\"}\n"
      "{\"ph\":\"M\",\"args\":{\"x\":{}}}\nafter=12\n";
  for (const std::size_t window : {1U, 2U, 3U, 7U, 64U, 100U, 4096U}) {
    CAPTURE(window);
    CHECK(scanned(text, window) == expected);
  }
  CHECK(scanned("[{\"ph\":\"X\"}]") == "{\"ph\":\"X\"}\n");
}

TEST_CASE("braces in strings end no event, wherever blocks of 64 bytes begin") {
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string name = std::string(length, 'x') + R"(}\"}\\)";
    const std::string event = "{\"name\":\"" + name + "\",\"args\":{\"a\":\"" + name + "\"}}";
    CHECK(events(event + "," + event) == event + "\n" + event + "\n");
  }
}

TEST_CASE("what is odd is counted with the place of the first") {
  CHECK(events("{\"a\":1},") == "{\"a\":1}\ntrailing-comma x1 @24\n");
  CHECK(events("{\"a\":1} {\"b\":1}") == "{\"a\":1}\n{\"b\":1}\nmissing-comma x1 @24\n");
  CHECK(events("{\"a\":\"\x01\"},{\"a\":\"\x02\"}") ==
        "{\"a\":\"\x01\"}\n{\"a\":\"\x02\"}\ncontrol-character x2 @16\n");
  CHECK(events("{\"a\":\"c:\\dir\"}") == "{\"a\":\"c:\\dir\"}\ninvalid-escape x1 @16\n");
  CHECK(events("{\"a\":\"\xff\"}") == "{\"a\":\"\xff\"}\nnot-utf8 x1 @16\n");
  CHECK(events("{\"a\":\"\xc3\xa9\"}") == "{\"a\":\"\xc3\xa9\"}\n");
  CHECK(scanned("[{\"a\":1},{\"b\":") == "{\"a\":1}\ntruncated-tail x1 @9\n");
  CHECK(scanned("[{\"a\":1}") == "{\"a\":1}\ntruncated-tail x1 @8\n");
  CHECK(scanned("{\"traceEvents\":[{\"a\":1}],\"t\":\"x") == "{\"a\":1}\ntruncated-tail x1 @31\n");
  CHECK(scanned("[{\"a\":1}] x") == "{\"a\":1}\ntrailing-bytes x1 @10\n");
}

TEST_CASE("broken quotes cost the event and no other") {
  const std::string good = "{\"ph\":\"X\",\n\"name\":\"k\"}";
  for (const std::size_t window : {1U, 50U, 4096U}) {
    CAPTURE(window);
    // An odd quote; the line ends give it away.
    CHECK(events("{\"ph\":\"X\",\n\"name\":\"a\"b\",\n\"ts\":1},\n" + good + ",\n" + good,
                 window) == good + "\n" + good + "\nmalformed-event x1 @16\n");
    CHECK(events("{\"ph\":\"X\",\n\"name\":\"c:\\\",\n\"ts\":1},\n" + good, window) ==
          good + "\nmalformed-event x1 @16\n");
  }
  CHECK(events("7,{\"ph\":\"X\"},{\"ph\":\"Y\"}") == "{\"ph\":\"Y\"}\nmalformed-event x1 @16\n");
}

TEST_CASE("broken metadata does not hide the events") {
  CHECK(scanned("{\"path\": \"c:\\\", \"traceEvents\": [{\"ph\":\"X\"}]}") ==
        "{\"ph\":\"X\"}\nmalformed-metadata x1 @17\n");
}

TEST_CASE("what is no trace is refused with a place") {
  CHECK(scanned("") ==
        "t: byte 0: the file is empty (the profiler was stopped before it wrote its trace, or the "
        "disk was full)");
  CHECK_THAT(scanned("  hello"), contains("byte 2: this is not a trace"));
}

TEST_CASE("members of an object are walked over, nested ones on request") {
  const std::string padded =
      R"({"a" : "x\"y", "b":{"c":[1,"]"],"d":NaN} , "e":-1.5e3})" + std::string(64, ' ');
  const std::string_view text(padded.data(), padded.size() - 64);
  JsonFields fields(text);
  JsonField field;
  REQUIRE(fields.next(field));
  CHECK((field.key == "a" && field.text && field.value == "x\\\"y"));
  REQUIRE(fields.next(field));
  CHECK(field.key == "b");
  JsonFields inner = fields.enter();
  REQUIRE(inner.next(field));
  CHECK(field.value == R"([1,"]"])");
  REQUIRE(inner.next(field));
  CHECK((field.key == "d" && field.value == "NaN"));
  REQUIRE_FALSE(inner.next(field));
  fields.leave(inner);
  REQUIRE(fields.next(field));
  CHECK((field.key == "e" && field.value == "-1.5e3"));
  CHECK_FALSE(fields.next(field));
  CHECK_FALSE(fields.broken());

  // Passed over where nobody entered it.
  JsonFields again(text);
  REQUIRE(again.next(field));
  REQUIRE(again.next(field));
  REQUIRE(again.next(field));
  CHECK(field.key == "e");

  for (const char* broken : {R"({"a"b":1})", R"({a:1})", R"({"a":})", R"({"a" 1})", R"({"a":1)"}) {
    const std::string bytes = std::string(broken) + std::string(64, ' ');
    JsonFields walk({bytes.data(), bytes.size() - 64});
    while (walk.next(field)) {
    }
    CAPTURE(broken);
    CHECK(walk.broken());
  }
}
