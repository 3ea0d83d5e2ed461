#include "base/json_cursor.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace mfu;

namespace {

std::string thrown(const std::string& text, const std::function<void(JsonCursor&)>& use,
                   std::size_t window = 16) {
  try {
    ByteSource bytes = ByteSource::from_memory(text, "t");
    JsonCursor cursor(bytes, {.window = window});
    use(cursor);
    return "nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string skip_all(const std::string& text, std::size_t window = 16) {
  return thrown(
      text,
      [](JsonCursor& cursor) {
        cursor.skip_value();
        cursor.finish();
      },
      window);
}

std::string decoded(const std::string& text) {
  ByteSource bytes = ByteSource::from_memory(text, "t");
  JsonCursor cursor(bytes, {.window = 8});
  return cursor.string();
}

}  // namespace

TEST_CASE("valid JSON is passed over at every window size") {
  const std::string text = R"( {"a":[1,-2.5e3,true,false,null,"x\"\\\/\b\f\n\r\té"],
    "long key that does not fit a window":{"b":{},"c":[]}, "d":"é€😀"} )";
  for (std::size_t window = 1; window < 80; ++window) CHECK(skip_all(text, window) == "nothing");
}

TEST_CASE("broken JSON is refused with a place") {
  const std::vector<std::string> broken{"",
                                        "{",
                                        "[",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1,}",
                                        "{a:1}",
                                        "{'a':1}",
                                        "{\"a\":1 \"b\":2}",
                                        "tru",
                                        "nul",
                                        "truex",
                                        "01",
                                        "1.",
                                        "-",
                                        "+1",
                                        ".5",
                                        "1e",
                                        "\"a",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\\u12g4\"",
                                        "\"\\ud800\"",
                                        "\"\\udc00\"",
                                        "\"\\ud800\\u0041\"",
                                        "\"a\nb\"",
                                        std::string("\"a\0b\"", 5),
                                        "\"\xff\"",
                                        "\"\xc3\"",
                                        "\"\xc0\x80\"",
                                        "\"\xed\xa0\x80\"",
                                        "\"\xf5\x80\x80\x80\"",
                                        "1 2",
                                        "{} x",
                                        "NaN",
                                        "[NaN]",
                                        "[Infinity]",
                                        "[-Infinity]",
                                        "[nan]",
                                        "[1]]",
                                        "\x01"};
  for (const std::string& text : broken) {
    INFO(text);
    CHECK_THAT(skip_all(text), starts_with("t:1") || starts_with("t:2"));
  }
}

TEST_CASE("the place counts lines and bytes across windows") {
  const std::string text = "{\n  \"a\": 1,\n  \"b\": [1, 2,\n    x]\n}";
  for (std::size_t window = 1; window < 40; ++window) {
    CHECK_THAT(skip_all(text, window), starts_with("t:4:5: expected a value, found x"));
  }
}

TEST_CASE("NaN and Infinity are named") {
  CHECK_THAT(skip_all("[1,NaN]"), contains("found NaN") && contains("write null"));
  CHECK_THAT(skip_all("[-Infinity]"), contains("found -Infinity"));
  CHECK_THAT(skip_all("[None]"), contains("found None"));
}

TEST_CASE("depth is limited, without recursion") {
  CHECK_THAT(skip_all(std::string(10'000'000, '[')), contains("nested more than 128 deep"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK_THAT(skip_all(objects), contains("nested more than 128 deep"));
  CHECK(skip_all(std::string(128, '[') + std::string(128, ']')) == "nothing");
}

TEST_CASE("strings are decoded") {
  CHECK(decoded(R"("a\u0041\u00e9\u20ac\ud83d\ude00")") ==
        "aA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(decoded("\"\xF0\x9F\x98\x80 long enough to cross windows\"") ==
        "\xF0\x9F\x98\x80 long enough to cross windows");
}

TEST_CASE("a byte order mark is skipped, and columns count from after it") {
  CHECK(skip_all("\xEF\xBB\xBF[1]") == "nothing");
  CHECK_THAT(skip_all("\xEF\xBB\xBF[x]"), starts_with("t:1:2"));
}

TEST_CASE("a captured value is the text, at every window size") {
  const std::string inner = R"({"x": [1, "two\n", {"y": null}]})";
  for (std::size_t window = 1; window < 60; ++window) {
    const std::string text = "{\"k\":  " + inner + " }";
    ByteSource bytes = ByteSource::from_memory(text, "t");
    JsonCursor cursor(bytes, {.window = window});
    cursor.enter_object();
    std::string key;
    REQUIRE(cursor.next_key(key));
    CHECK(cursor.capture_value(100) == inner);
    CHECK_FALSE(cursor.next_key(key));
  }
  CHECK_THAT(thrown("[\"" + std::string(1000, 'a') + "\"]",
                    [](JsonCursor& cursor) { (void)cursor.capture_value(100); }),
             contains("more than 100 bytes"));
}

TEST_CASE("an array of numbers is the same at every window size") {
  const std::string text = "[ 1, null ,0.125,-0.0, 1e3,12345678901234567890.5 ]";
  for (std::size_t window = 1; window < 60; ++window) {
    ByteSource bytes = ByteSource::from_memory(text, "t", 1 + window % 3);
    JsonCursor cursor(bytes, {.window = window});
    std::vector<double> values;
    const auto end = cursor.number_array(values, {.shift = 0, .most = 1e300});
    REQUIRE(end.stopped_at == JsonCursor::Element::plain);
    REQUIRE(values.size() == 6);
    CHECK(values[0] == 1.0);
    CHECK(std::isnan(values[1]));
    CHECK(values[2] == 0.125);
    CHECK_FALSE(std::signbit(values[3]));
    CHECK(values[4] == 1000.0);
    CHECK(values[5] == 12345678901234567890.5);
  }
}

TEST_CASE("an array of numbers stops before what is not plain") {
  struct Case {
    std::string text;
    JsonCursor::Element element;
  };
  using Element = JsonCursor::Element;
  const std::vector<Case> cases{
      {"[1,-2]", Element::negative},      {"[1,1e10]", Element::too_large},
      {"[1,NaN]", Element::not_finite},   {"[1,-Infinity]", Element::not_finite},
      {"[1,1e999]", Element::not_finite}, {"[1,\"2\"]", Element::other},
      {"[1,[2]]", Element::other},        {"[1,true]", Element::other}};
  for (const Case& one : cases) {
    for (std::size_t window = 1; window < 24; ++window) {
      ByteSource bytes = ByteSource::from_memory(one.text, "t");
      JsonCursor cursor(bytes, {.window = window});
      std::vector<double> values;
      const auto end = cursor.number_array(values, {.shift = 0, .most = 1e9});
      INFO(one.text);
      CHECK(end.stopped_at == one.element);
      CHECK(end.index == 1);
      CHECK(cursor.place().column == 4);
    }
  }
}

TEST_CASE("whole numbers keep all their digits") {
  ByteSource bytes = ByteSource::from_memory("[9007199254740993,-5,1e3,5.0]", "t");
  JsonCursor cursor(bytes, {.window = 8});
  cursor.enter_array();
  std::vector<std::int64_t> got;
  while (cursor.next_element()) got.push_back(cursor.integer());
  CHECK(got == std::vector<std::int64_t>{9007199254740993, -5, 1000, 5});
  for (const char* text : {"1.5", "1e30", "99999999999999999999", "\"1\"", "01", "1."}) {
    INFO(text);
    CHECK(thrown(text, [](JsonCursor& c) { (void)c.integer(); }) != "nothing");
  }
}

TEST_CASE("a number that never ends is refused") {
  CHECK_THAT(skip_all(std::string(100000, '1')), contains("more than 4096 characters"));
}
