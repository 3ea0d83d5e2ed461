#include "mfu/error.hpp"

#include <utility>

#include "base/note_code.hpp"

namespace mfu {

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::io:
      return "io";
    case ErrorKind::format:
      return "format";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::insufficient:
      return "insufficient";
  }
  return "unknown";
}

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::assumption:
      return "assumption";
    case Severity::loss:
      return "loss";
  }
  return "unknown";
}

bool Place::empty() const noexcept {
  return file.empty() && line <= 0 && byte_offset < 0 && what.empty();
}

std::string Place::str() const {
  std::string text = file == "-" ? std::string("standard input") : file;
  if (line > 0) {
    // A line without a file comes from text that was handed over in memory.
    text += text.empty() ? "line " : ":";
    text += std::to_string(line);
    if (column > 0) text += ":" + std::to_string(column);
  } else if (byte_offset >= 0) {
    text += text.empty() ? "byte " : ": byte ";
    text += std::to_string(byte_offset);
  }
  if (what.empty()) return text;
  return text.empty() ? what : text + " (" + what + ")";
}

Error::Error(ErrorKind kind, std::string message, Place place, std::string hint)
    : kind_(kind), message_(std::move(message)), place_(std::move(place)), hint_(std::move(hint)) {
  const std::string where = place_.str();
  if (!where.empty()) what_ = where + ": ";
  what_ += message_;
  if (!hint_.empty()) what_ += " (" + hint_ + ")";
}

NoteId::NoteId(std::string_view text) : known_(note_code(text)) {
  if (!known_) foreign_ = text;
}

std::string NoteId::str() const { return known_ ? std::string(to_string(*known_)) : foreign_; }

void Notes::add(NoteCode code, std::string text, Place place, std::int64_t count) {
  add(code, kind_of(code).severity, std::move(text), std::move(place), count);
}

void Notes::add(NoteCode code, Severity severity, std::string text, Place place,
                std::int64_t count) {
  add({NoteId(code), severity, count, std::move(text), std::move(place)});
}

void Notes::add(Note note) {
  for (Note& known : notes_) {
    if (known.code == note.code) {
      known.count += note.count;
      // --strict looks at the severity: the gravest of the occurrences decides.
      if (note.severity > known.severity) known.severity = note.severity;
      return;
    }
  }
  notes_.push_back(std::move(note));
}

bool Notes::has(std::string_view code) const noexcept {
  for (const Note& note : notes_) {
    if (note.code == code) return true;
  }
  return false;
}

}  // namespace mfu
