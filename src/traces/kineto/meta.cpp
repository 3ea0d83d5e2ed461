#include "traces/kineto/meta.hpp"

#include <utility>

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"
#include "base/note_code.hpp"
#include "traces/kineto/event.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

// Integers also where they are written as text.
std::optional<std::int64_t> integer(JsonCursor& cursor) {
  switch (cursor.peek()) {
    case JsonCursor::Kind::number:
      return cursor.integer();
    case JsonCursor::Kind::string:
      return integer_of(cursor.string());
    default:
      cursor.skip_value();
      return std::nullopt;
  }
}

void take_distributed(JsonCursor& cursor, TraceMetadata& out) {
  if (cursor.peek() != JsonCursor::Kind::object) return cursor.skip_value();
  cursor.enter_object();
  std::string key;
  while (cursor.next_key(key)) {
    if (key == "rank") {
      out.rank = integer(cursor);
    } else if (key == "world_size") {
      out.world_size = integer(cursor);
    } else {
      cursor.skip_value();  // pg_config comes as a list, an object, with ranks of any form
    }
  }
}

void take_devices(JsonCursor& cursor, TraceMetadata& out) {
  if (cursor.peek() != JsonCursor::Kind::array) return cursor.skip_value();
  cursor.enter_array();
  std::string key;
  while (cursor.next_element()) {
    if (cursor.peek() != JsonCursor::Kind::object) {
      cursor.skip_value();
      continue;
    }
    TraceMetadata::Device device;
    cursor.enter_object();
    while (cursor.next_key(key)) {
      if (key == "id") {
        device.id = integer(cursor).value_or(-1);
      } else if (key == "name" && cursor.peek() == JsonCursor::Kind::string) {
        device.name = cursor.string();
      } else {
        cursor.skip_value();
      }
    }
    out.devices.push_back(std::move(device));
  }
}

bool letter(char c) noexcept { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// The number behind `word`, where no letter stands before the word. `joint`: characters, one of
// which may stand between the two. Two numbers that differ settle nothing: ambiguous is set.
std::optional<std::int64_t> number_behind(std::string_view name, std::string_view word,
                                          std::string_view joint, bool& ambiguous) {
  std::optional<std::int64_t> found;
  for (std::size_t i = 0; i + word.size() < name.size(); ++i) {
    bool same = i == 0 || !letter(name[i - 1]);
    for (std::size_t k = 0; same && k < word.size(); ++k) {
      same = (name[i + k] | 0x20) == (word[k] | 0x20);
    }
    if (!same) continue;
    std::size_t at = i + word.size();
    if (joint.find(name[at]) != std::string_view::npos) ++at;
    std::size_t end = at;
    while (end < name.size() && digit(name[end])) ++end;
    const std::optional<std::int64_t> number = integer_of(name.substr(at, end - at));
    if (!number) continue;
    if (found && *found != *number) ambiguous = true;
    found = number;
  }
  return found;
}

}  // namespace

const std::vector<std::string_view>& TraceMetadata::keys() {
  static const std::vector<std::string_view> kKeys{"baseTimeNanoseconds", "distributedInfo",
                                                   "deviceProperties", "host_name"};
  return kKeys;
}

void TraceMetadata::take(std::string_view key, std::string_view value, const Place& place,
                         Notes& notes) {
  try {
    ByteSource bytes = ByteSource::from_memory(value, place.file);
    JsonCursor cursor(bytes);
    if (key == "baseTimeNanoseconds") {
      // Beyond 2^53, which the cursor's integers end at.
      if (value.size() > 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
      base_ns = integer_of(value);
      if (!base_ns) throw Error(ErrorKind::format, "not a whole number");
    } else if (key == "distributedInfo") {
      take_distributed(cursor, *this);
    } else if (key == "deviceProperties") {
      take_devices(cursor, *this);
    } else if (key == "host_name" && cursor.peek() == JsonCursor::Kind::string) {
      node = cursor.string();
    }
  } catch (const Error& error) {
    notes.add(NoteCode::metadata_unread, std::string(key) + " was left out: " + error.message(),
              place);
  }
}

std::string TraceMetadata::device_name(std::optional<int> id) const {
  for (const Device& device : devices) {
    if (id && device.id == *id) return device.name;
  }
  for (const Device& device : devices) {
    if (device.name != devices.front().name) return {};
  }
  return devices.empty() ? std::string{} : devices.front().name;
}

std::optional<std::int64_t> rank_from_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  bool ambiguous = false;
  for (const std::string_view word : {"rank", "worker"}) {
    const auto found = number_behind(name, word, word == "rank" ? "-_=" : "", ambiguous);
    if (ambiguous) return std::nullopt;
    if (found) return found;
  }
  // Inference servers name the parallel dimensions instead; one alone is the rank.
  const auto tensor = number_behind(name, "TP", "-_", ambiguous);
  for (const std::string_view other : {"DP", "PP", "EP"}) {
    if (number_behind(name, other, "-_", ambiguous)) return std::nullopt;
  }
  return ambiguous ? std::nullopt : tensor;
}

}  // namespace mfu::traces
