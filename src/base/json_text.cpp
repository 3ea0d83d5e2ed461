#include "base/json_text.hpp"

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"

namespace mfu {

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
  (void)cursor.peek();
  const JsonCursor::Spot spot = cursor.spot();
  where.column = spot.line == 1 ? where.column + spot.column - 1 : spot.column;
  where.line += spot.line - 1;
  where.byte_offset = -1;
  return where;
}

void refuse_json(bool out_of_range, const std::string& why, Place place) {
  // A cursor has checked the grammar: a number out of range is all that is usually left.
  throw Error(ErrorKind::format, out_of_range ? "a number is too large" : "cannot be read: " + why,
              std::move(place));
}

void refuse_repeated_key(const std::string& key, Place place) {
  throw Error(ErrorKind::format, "the key '" + key + "' is given twice", std::move(place),
              "remove one of them");
}

}  // namespace mfu
