#include "base/json_text.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace mfu;

namespace {

// "key line:column", or nothing.
std::string repeated(const std::string& text) {
  JsonText json{text, {}};
  json.start.line = json.start.column = 1;
  const auto found = repeated_key(json);
  if (!found) return "";
  return found->key + " " + std::to_string(found->place.line) + ":" +
         std::to_string(found->place.column);
}

}  // namespace

TEST_CASE("a key that comes twice is found wherever it stands") {
  CHECK(repeated(R"({"a":1,"a":2})") == "a 1:12");
  CHECK(repeated("{\"a\":1,\n \"a\":  [2]}") == "a 2:8");
  CHECK(repeated(R"({"b":{"a":1},"a":[{},{"c":"","c":0}]})") == "c 1:34");
  CHECK(repeated(R"([[],{"a":{"a":{"a":1}}},[{"a":1,"b":2,"a":3}]])") == "a 1:43");
  CHECK(repeated(R"({"a":1,"\u0061":2})") == "a 1:17");
  CHECK(repeated(R"({"":1,"":2})") == " 1:10");
}

TEST_CASE("keys of several objects are no repetition") {
  for (const char* text :
       {"{}", "[]", "1", "\"a\"", "null", R"({"a":{"a":{"a":[{"a":1},{"a":1}]}}})",
        R"([{"a":1},{"a":1},[{"a":1}]])", R"({"a":1,"A":2,"b":"a"})"}) {
    INFO(text);
    CHECK(repeated(text).empty());
  }
}

TEST_CASE("many objects in a list take no longer than their text") {
  std::string text = "[";
  for (int i = 0; i < 500'000; ++i) text += "{},";
  CHECK(repeated(text + "{}]").empty());
  CHECK(repeated(text + R"({"a":1,"a":2}])") == "a " + std::string("1:1500013"));
}

TEST_CASE("the place is that of the text and that in it") {
  JsonText json{"{\"a\":1,\"a\":2,\n\"b\":3}", {}};
  json.start.file = "run.json";
  json.start.line = 3;
  json.start.column = 10;
  json.start.byte_offset = 77;
  json.start.what = "model";
  const auto found = repeated_key(json);
  REQUIRE(found.has_value());
  CHECK(found->place.str() == "run.json:3:21 (model)");
  CHECK(found->place.byte_offset == -1);
  const std::vector<std::string> keys{"b"};
  CHECK(place_within(json, keys).str() == "run.json:4:5 (model)");
}
