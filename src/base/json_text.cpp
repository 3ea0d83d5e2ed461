#include "base/json_text.hpp"

#include <set>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"

namespace mfu {

namespace {

// Of the cursor, which walks over the text of a value that starts at `where` of its source.
Place place_of_part(JsonCursor& cursor, Place where) {
  (void)cursor.peek();
  const JsonCursor::Spot spot = cursor.spot();
  where.column = spot.line == 1 ? where.column + spot.column - 1 : spot.column;
  where.line += spot.line - 1;
  where.byte_offset = -1;
  return where;
}

}  // namespace

Place place_within(const JsonText& json, std::span<const std::string> keys) {
  Place where = json.start;
  ByteSource bytes = ByteSource::from_memory(json.text, json.start.file);
  JsonCursor cursor(bytes);
  std::string key;
  for (const std::string& wanted : keys) {
    if (cursor.peek() != JsonCursor::Kind::object) return where;
    cursor.enter_object();
    bool found = false;
    while (!found && cursor.next_key(key)) {
      found = key == wanted;
      if (!found) cursor.skip_value();
    }
    if (!found) return where;
  }
  return place_of_part(cursor, std::move(where));
}

std::optional<RepeatedKey> repeated_key(const JsonText& json) {
  ByteSource bytes = ByteSource::from_memory(json.text, json.start.file);
  JsonCursor cursor(bytes);
  struct Open {
    bool object = false;
    std::set<std::string> keys;
  };
  std::vector<Open> open;
  std::string key;
  for (;;) {
    const JsonCursor::Kind kind = cursor.peek();
    if (kind == JsonCursor::Kind::object) {
      cursor.enter_object();
      open.push_back({true, {}});
    } else if (kind == JsonCursor::Kind::array) {
      cursor.enter_array();
      open.push_back({});
    } else {
      cursor.skip_value();
    }
    // On to the next value inside; containers that have ended are left on the way.
    for (;;) {
      if (open.empty()) return std::nullopt;
      if (open.back().object) {
        if (cursor.next_key(key)) {
          if (open.back().keys.insert(key).second) break;
          return RepeatedKey{std::move(key), place_of_part(cursor, json.start)};
        }
      } else if (cursor.next_element()) {
        break;
      }
      open.pop_back();
    }
  }
}

void refuse_json(bool out_of_range, const std::string& why, Place place) {
  // A cursor has checked the grammar: a number out of range is all that is usually left.
  throw Error(ErrorKind::format, out_of_range ? "a number is too large" : "cannot be read: " + why,
              std::move(place));
}

void refuse_repeated_key(const RepeatedKey& repeated) {
  throw Error(ErrorKind::format, "the key '" + repeated.key + "' is given twice", repeated.place,
              "remove one of them");
}

}  // namespace mfu
