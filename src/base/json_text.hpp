// One JSON value that was cut out of a file and is parsed apart from it: places within it, and what
// its parser refuses as errors. The parser is the caller's (nlohmann's type): base holds none.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "mfu/error.hpp"

namespace mfu {

struct JsonText {
  std::string text;  // one JSON value, of sound grammar
  Place start;       // of the value in its source
};

// The place of the value that lies under these keys, or of the deepest one that is there. Walks
// over the text again: for errors only.
[[nodiscard]] Place place_within(const JsonText& json, std::span<const std::string> keys);

struct RepeatedKey {
  std::string key;
  Place place;  // of the value that it has the second time
};
// The first key that an object has twice, at any depth.
[[nodiscard]] std::optional<RepeatedKey> repeated_key(const JsonText& json);

// Error{format} of a value that its parser refuses: a number that no double holds, or `why`.
[[noreturn]] void refuse_json(bool out_of_range, const std::string& why, Place place);
[[noreturn]] void refuse_repeated_key(const RepeatedKey& repeated);

// The value as the parser holds it. Throws Error{format} where the parser does, and for a key that
// an object has twice: nlohmann keeps the last of them in silence. Its callbacks would tell, but
// look at all elements of a list again at the end of each that is an object.
template <typename Json>
[[nodiscard]] Json parse_json_text(const JsonText& json) {
  Json parsed;
  try {
    parsed = Json::parse(json.text);
  } catch (const typename Json::exception& problem) {
    refuse_json(problem.id == 406, problem.what(), json.start);
  }
  if (const auto repeated = repeated_key(json)) refuse_repeated_key(*repeated);
  return parsed;
}

// What a parsed value is, for a complaint.
template <typename Json>
[[nodiscard]] std::string kind_of_value(const Json& value) {
  if (value.is_string()) return "a string";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_number()) return "a number";
  return value.dump();
}

}  // namespace mfu
