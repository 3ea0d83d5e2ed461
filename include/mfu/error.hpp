// Errors and notes: two of the three channels by which the library talks (the third, findings about
// the user's run, is in diagnose.hpp).
//
// Error: the work cannot go on. Thrown where found, caught once, in main.
// Note:  the work went on, and something was lost or assumed.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mfu {

enum class ErrorKind {
  usage,         // the command line asks for something that does not exist or contradicts itself
  io,            // a file cannot be opened or read
  format,        // bytes are not what the format says
  unsupported,   // well-formed, but beyond what this version knows (newer schema, unknown chip)
  insufficient,  // well-formed, but holds too little to answer at all (no ranks)
};

[[nodiscard]] std::string_view to_string(ErrorKind kind) noexcept;

// Where something was found. Every field may be absent; `what` is the logical place.
struct Place {
  std::string file{};             // as the user named it; "-" is standard input
  std::int64_t line = 0;          // from 1; 0: not known
  std::int64_t column = 0;        // in bytes, from 1; 0: not known
  std::int64_t byte_offset = -1;  // from 0; -1: not known. Shown only when the line is not known
  std::string what{};             // e.g. "rank 3, compute, index 7" or "hardware.count"

  [[nodiscard]] bool empty() const noexcept;
  // "run.json:3:17 (rank 3, compute, index 7)"; parts that are not known are left out.
  [[nodiscard]] std::string str() const;
};

class Error : public std::exception {
 public:
  // message: what is wrong, one sentence without a full stop. hint: the way out; may be empty.
  Error(ErrorKind kind, std::string message, Place place = {}, std::string hint = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
  // "place: message (hint)"
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
  Place place_;
  std::string hint_;
  std::string what_;
};

enum class Severity {
  info,        // nothing was lost or assumed; worth knowing
  assumption,  // a value that the input did not give was assumed (--strict refuses)
  loss,        // part of the input was not used (--strict refuses)
};

[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

// One for each kind of note: src/base/note_code.hpp has their table.
enum class NoteCode : unsigned char;

// Stable, kebab-case: "truncated-tail".
[[nodiscard]] std::string_view to_string(NoteCode code) noexcept;

// Which kind a note is of. A document that another version reduced may hold codes that this one
// does not know: they stay as they are.
class NoteId {
 public:
  NoteId() = default;
  explicit NoteId(NoteCode code) noexcept : known_(code) {}
  explicit NoteId(std::string_view text);

  [[nodiscard]] std::string str() const;

  friend bool operator==(const NoteId& a, const NoteId& b) noexcept = default;
  friend bool operator==(const NoteId& id, NoteCode code) noexcept { return id.known_ == code; }
  friend bool operator==(const NoteId& id, std::string_view text) noexcept {
    return (id.known_ ? to_string(*id.known_) : std::string_view(id.foreign_)) == text;
  }

 private:
  std::optional<NoteCode> known_;
  std::string foreign_;  // where it is not known
};

struct Note {
  NoteId code;
  Severity severity = Severity::info;
  std::int64_t count = 1;
  std::string text;  // of the first occurrence
  Place first;       // of the first occurrence
};

// Collects notes in the order of first occurrence; a code that comes again is counted, not
// repeated.
class Notes {
 public:
  // As grave as its kind usually is.
  void add(NoteCode code, std::string text, Place place = {}, std::int64_t count = 1);
  void add(NoteCode code, Severity severity, std::string text, Place place = {},
           std::int64_t count = 1);
  void add(Note note);

  [[nodiscard]] const std::vector<Note>& all() const noexcept { return notes_; }
  [[nodiscard]] bool has(std::string_view code) const noexcept;

 private:
  std::vector<Note> notes_;
};

}  // namespace mfu
