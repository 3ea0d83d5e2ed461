// One JSON value that was cut out of a file and is parsed apart from it: places within it, and what
// its parser refuses as errors. The parser is the caller's (nlohmann's type): base holds none.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mfu/error.hpp"

namespace mfu {

struct JsonText {
  std::string text;  // one JSON value, of sound grammar
  Place start;       // of the value in its source
};

// The place of the value that lies under these keys, or of the deepest one that is there. Walks
// over the text again: for errors only.
[[nodiscard]] Place place_within(const JsonText& json, std::span<const std::string> keys);

// Error{format} of a value that its parser refuses: a number that no double holds, or `why`.
[[noreturn]] void refuse_json(bool out_of_range, const std::string& why, Place place);
[[noreturn]] void refuse_repeated_key(const std::string& key, Place place);

// The value as the parser holds it. nlohmann keeps the last of equal keys in silence: `repeated`
// becomes the first key that an object has twice.
template <typename Json>
[[nodiscard]] Json parse_json_text(const JsonText& json, std::string& repeated) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, typename Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.template get_ref<const std::string&>();
      if (!keys.back().insert(key).second && repeated.empty()) repeated = key;
    }
    return true;
  };
  try {
    return Json::parse(json.text, watch);
  } catch (const typename Json::exception& problem) {
    refuse_json(problem.id == 406, problem.what(), json.start);
  }
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
