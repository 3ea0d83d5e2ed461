// The header of mfu.run/1: every top-level key but `steps` and `ranks`. `trace` is one of them that
// files given together need not share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_cursor.hpp"
#include "base/json_text.hpp"
#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// As a run document writes PipelineSchedule and Recompute, in the order of their values.
inline constexpr std::array<std::string_view, 3> kScheduleIds{"1f1b", "gpipe", "interleaved"};
inline constexpr std::array<std::string_view, 3> kRecomputeIds{"none", "selective", "full"};

// Keys that the format does not know, for the one note that names them.
class UnknownKeys {
 public:
  void add(const std::string& path, const Place& place);
  void report(Notes& notes) const;

 private:
  std::vector<std::string> names_;  // the first few; a hostile file has millions
  std::int64_t more_ = 0;
  Place first_;
};

class RunHeader {
 public:
  RunHeader() = default;
  explicit RunHeader(std::string file) : file_(std::move(file)) {}

  // Is this a key of the header?
  [[nodiscard]] static bool knows(std::string_view key) noexcept;
  // Takes the value of a top-level key off the cursor. False: not a key of the header, nothing
  // taken. Throws Error{unsupported} on a newer schema, Error{format} on any other one.
  [[nodiscard]] bool take(JsonCursor& cursor, std::string_view key);

  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  // Throws Error{format} when there was no schema.
  void require_schema() const;
  // Power of ten that turns the file's times into seconds: 0, -3, -6, -9.
  [[nodiscard]] int time_shift() const;
  // Throws Error{format} that names the key in which two headers differ, and both files.
  void require_same(const RunHeader& other) const;
  // Checks every value and fills the header's part of `run`. What is not known goes to `unknown`.
  void apply(RunTimings& run, UnknownKeys& unknown, Notes& notes) const;

 private:
  std::string file_;
  std::map<std::string, JsonText, std::less<>> values_;
};

}  // namespace mfu
