#include "base/json_scanner.hpp"

#include <algorithm>
#include <cstring>

#include "base/json_blocks.hpp"
#include "base/json_doubts.hpp"
#include "base/note_code.hpp"

namespace mfu {

using json_blocks::closing_brace;
using json_blocks::Unusual;
using json_doubts::Boundary;
using json_doubts::boundary_at;
using json_doubts::escapes_valid;
using json_doubts::quotes_plausible;
using json_doubts::utf8_valid;

namespace {

constexpr std::size_t kPadding = 64;    // bytes that may be read behind the window
constexpr std::size_t kLookahead = 64;  // seen behind an event before it is believed
constexpr std::size_t kLongEvent = 1024;
constexpr std::size_t kKeyLimit = 4096;

}  // namespace

JsonScanner::JsonScanner(ByteSource& source, const std::vector<std::string_view>& wanted,
                         const Limits& limits)
    : source_(source), wanted_(wanted), limits_(limits) {
  limits_.window = std::max<std::size_t>(limits_.window, 1);
  buffer_.resize(limits_.window + kPadding);
}

Place JsonScanner::place(std::size_t at) const {
  Place where;
  where.file = source_.name();
  where.byte_offset = base_ + static_cast<std::int64_t>(at);
  return where;
}

std::int64_t JsonScanner::count(JsonOddity oddity) const noexcept {
  return counted_[static_cast<std::size_t>(oddity)].count;
}

void JsonScanner::note(JsonOddity oddity, std::size_t at) {
  Counted& counted = counted_[static_cast<std::size_t>(oddity)];
  if (counted.count++ == 0) counted.first = base_ + static_cast<std::int64_t>(at);
}

// Reads on behind what is there, after moving it to the front. False at the end of the bytes.
// Positions in the buffer change; at_ follows.
bool JsonScanner::more() {
  if (ended_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, size_ - at_);
    base_ += static_cast<std::int64_t>(at_);
    size_ -= at_;
    at_ = 0;
  }
  if (size_ + kPadding >= buffer_.size())
    buffer_.resize(2 * (buffer_.size() - kPadding) + kPadding);
  const std::size_t count = source_.read(buffer_.data() + size_, buffer_.size() - kPadding - size_);
  size_ += count;
  std::memset(buffer_.data() + size_, 0, std::min(kPadding, buffer_.size() - size_));
  if (count == 0) ended_ = true;
  return count > 0;
}

bool JsonScanner::blanks() {
  for (;;) {
    while (at_ < size_ && json_blocks::blank(buffer_[at_])) ++at_;
    if (at_ < size_) return true;
    if (!more()) return false;
  }
}

void JsonScanner::start() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  while (size_ < kMark.size() && more()) {
  }
  if (size_ >= 3 && std::string_view(buffer_.data(), 3) == kMark) at_ = 3;
  if (!blanks()) {
    throw Error(ErrorKind::insufficient, "the file is empty", place(at_),
                "the profiler was stopped before it wrote its trace, or the disk was full");
  }
  const char first = buffer_[at_];
  if (first != '{' && first != '[') {
    throw Error(ErrorKind::format, "this is not a trace: it starts with neither '{' nor '['",
                place(at_), "a trace is the JSON that export_chrome_trace() writes, plain or gzip");
  }
  ++at_;
  array_form_ = first == '[';
  state_ = array_form_ ? State::events : State::keys;
  saw_events_ = array_form_;
}

void JsonScanner::finish() {
  if (state_ == State::done) return;
  state_ = State::done;
  if (blanks()) note(JsonOddity::trailing_bytes, at_);
}

JsonScanner::Part JsonScanner::next() {
  if (state_ == State::start) start();
  for (;;) {
    switch (state_) {
      case State::events:
        if (next_event()) return Part::event;
        break;
      case State::keys:
        if (next_field()) return Part::field;
        break;
      default:
        return Part::end;
    }
  }
}

// In the array. False: another state has been reached.
bool JsonScanner::next_event() {
  for (;;) {
    if (!blanks()) {
      note(JsonOddity::truncated, at_);
      state_ = State::done;
      return false;
    }
    const char c = buffer_[at_];
    if (c == '{') {
      if (comma_due_) note(JsonOddity::missing_comma, at_);
      if (take_event()) return true;
      if (state_ != State::events) return false;
    } else if (c == ',') {
      if (!comma_due_) note(JsonOddity::trailing_comma, at_);
      comma_due_ = false;
      ++at_;
      if (!blanks()) continue;
      if (buffer_[at_] == ']') note(JsonOddity::trailing_comma, at_);
    } else if (c == ']') {
      ++at_;
      if (array_form_) {
        finish();
      } else {
        state_ = State::keys;
        comma_due_ = true;
      }
      return false;
    } else {
      note(JsonOddity::malformed_event, at_);
      if (!resync(at_)) return false;
    }
  }
}

// at_ is at the brace. False: the event was left out, or the bytes ended.
bool JsonScanner::take_event() {
  Unusual seen;
  std::size_t length = 0;
  for (;;) {
    seen = {};
    const char* const from = buffer_.data() + at_;
    const char* const close = closing_brace(from, buffer_.data() + size_, seen);
    length = close == nullptr ? size_ - at_ : static_cast<std::size_t>(close - from) + 1;
    // Broken quotes hide the braces. Control characters, the line ends above all, give them away.
    const bool broken =
        length > limits_.event || (close == nullptr && seen.control && length > kLongEvent &&
                                   !quotes_plausible({from, length}, false));
    if (broken) {
      note(JsonOddity::malformed_event, at_);
      (void)resync(at_);
      return false;
    }
    if (close != nullptr) {
      if (size_ - at_ - length > kLookahead || !more()) break;
    } else if (!more()) {
      // The last event is cut off, unless others stand behind it: then its quotes are broken.
      if (!boundary_ahead()) {
        note(JsonOddity::truncated, at_);
        state_ = State::done;
      } else {
        note(JsonOddity::malformed_event, at_);
        (void)resync(at_);
      }
      return false;
    }
  }
  const char* const limit = buffer_.data() + size_;
  text_ = {buffer_.data() + at_, length};
  const char* after = text_.data() + length;
  while (after < limit && json_blocks::blank(*after)) ++after;
  bool sound = after == limit || *after == ',' || *after == ']' || *after == '{';
  if (sound && seen.control) sound = quotes_plausible(text_, true);
  if (!sound) {
    note(JsonOddity::malformed_event, at_);
    (void)resync(at_);
    return false;
  }
  if (seen.control || seen.backslash || seen.high) look_closer(text_, seen);
  text_offset_ = base_ + static_cast<std::int64_t>(at_);
  at_ += length;
  comma_due_ = true;
  return true;
}

void JsonScanner::look_closer(std::string_view text, const Unusual& seen) {
  if (seen.control) note(JsonOddity::control_character, at_);
  if (seen.backslash && !escapes_valid(text)) note(JsonOddity::invalid_escape, at_);
  if (seen.high && !utf8_valid(text)) note(JsonOddity::not_utf8, at_);
}

void JsonScanner::reject() {
  at_ = static_cast<std::size_t>(text_.data() - buffer_.data());
  note(JsonOddity::malformed_event, at_);
  (void)resync(at_);
}

// Whether a boundary follows in the window, which holds everything up to the end of the bytes.
bool JsonScanner::boundary_ahead() const {
  const char* const end = buffer_.data() + size_;
  for (const char* at = buffer_.data() + at_; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '}', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return false;
    const char* next = nullptr;
    const Boundary found = boundary_at(at, end, true, next);
    if (found == Boundary::event || found == Boundary::closing) return true;
  }
  return false;
}

// Goes to the next boundary between events behind `from`, by what stands there and not by counting
// quotes. False: the bytes ended first.
bool JsonScanner::resync(std::size_t from) {
  at_ = from;
  for (;;) {
    const char* const end = buffer_.data() + size_;
    const char* at = buffer_.data() + at_;
    bool wait = false;
    while (at < end) {
      at = static_cast<const char*>(std::memchr(at, '}', static_cast<std::size_t>(end - at)));
      if (at == nullptr) {
        at = end;
        break;
      }
      const char* next = nullptr;
      const Boundary found = boundary_at(at, end, ended_, next);
      if (found == Boundary::event || found == Boundary::closing) {
        at_ = static_cast<std::size_t>(next - buffer_.data());
        comma_due_ = false;
        return true;
      }
      // Boundaries are short: a long run of white space is none.
      if (found == Boundary::unknown && end - at < 4096) {
        wait = true;
        break;
      }
      ++at;
    }
    at_ = static_cast<std::size_t>(at - buffer_.data());
    if (!more()) {
      if (wait) continue;  // ended_ is known now: the boundary is judged again
      note(JsonOddity::truncated, at_);
      state_ = State::done;
      return false;
    }
  }
}

// Between the keys of the outer object. True: a wanted value was taken.
bool JsonScanner::next_field() {
  const auto broken = [&] {
    if (saw_events_) {
      note(JsonOddity::malformed_metadata, at_);
      state_ = State::done;
      return false;
    }
    note(JsonOddity::malformed_metadata, at_);
    (void)find_events();
    return false;
  };
  if (!blanks()) {
    note(JsonOddity::truncated, at_);
    state_ = State::done;
    return false;
  }
  const char c = buffer_[at_];
  if (c == '}') {
    ++at_;
    finish();
    return false;
  }
  if (c == ',') {
    if (!comma_due_) note(JsonOddity::trailing_comma, at_);
    comma_due_ = false;
    ++at_;
    return false;
  }
  if (c != '"' || !pass_key()) return state_ == State::done ? false : broken();
  if (!blanks()) return false;
  if (buffer_[at_] != ':') return broken();
  ++at_;
  if (!blanks()) return false;
  if (key_ == "traceEvents" && buffer_[at_] == '[') {
    ++at_;
    state_ = State::events;
    saw_events_ = true;
    comma_due_ = false;
    return false;
  }
  const bool keep = std::find(wanted_.begin(), wanted_.end(), key_) != wanted_.end();
  text_offset_ = base_ + static_cast<std::int64_t>(at_);
  if (!pass_value(keep)) return state_ == State::done ? false : broken();
  comma_due_ = true;
  if (blanks() && buffer_[at_] != ',' && buffer_[at_] != '}') return broken();
  text_ = value_;
  return keep;
}

// The quotes of the metadata are broken: looks for the events themselves.
bool JsonScanner::find_events() {
  constexpr std::string_view kName = "traceEvents\"";
  for (;;) {
    const std::string_view have(buffer_.data() + at_, size_ - at_);
    const std::size_t found = have.find(kName);
    if (found != std::string_view::npos) {
      at_ += found + kName.size();
      if (!blanks()) break;
      if (buffer_[at_] != ':') continue;
      ++at_;
      if (!blanks()) break;
      if (buffer_[at_] != '[') continue;
      ++at_;
      state_ = State::events;
      saw_events_ = true;
      comma_due_ = false;
      return true;
    }
    at_ = size_ - std::min(have.size(), kName.size() - 1);
    if (!more()) break;
  }
  state_ = State::done;
  return false;
}

// No byte is left at at_: the document stops in the middle.
bool JsonScanner::cut_off() {
  if (at_ < size_ || more()) return false;
  note(JsonOddity::truncated, at_);
  state_ = State::done;
  return true;
}

bool JsonScanner::pass_key() {
  key_.clear();
  ++at_;
  bool escape = false;
  for (;; ++at_) {
    if (cut_off()) return false;
    const char c = buffer_[at_];
    if (!escape && c == '"') {
      ++at_;
      return true;
    }
    escape = !escape && c == '\\';
    if (key_.size() == kKeyLimit) return false;
    key_ += c;
  }
}

// The value at at_, kept in value_ where it is wanted. False: the bytes ended, or it is too long.
bool JsonScanner::pass_value(bool keep) {
  value_.clear();
  std::int64_t depth = 0;
  bool inside = false;
  bool escape = false;
  for (;; ++at_) {
    if (cut_off()) return false;
    const char c = buffer_[at_];
    bool last = false;
    if (inside) {
      if (escape) {
        escape = false;
      } else if (c == '\\') {
        escape = true;
      } else if (c == '"') {
        inside = false;
        last = depth == 0;
      }
    } else if (c == '"') {
      inside = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return true;
      last = --depth == 0;
    } else if (depth == 0 && (c == ',' || json_blocks::blank(c))) {
      return true;
    }
    if (keep) {
      if (value_.size() == limits_.field) return false;
      value_ += c;
    }
    if (last) {
      ++at_;
      return true;
    }
  }
}

void JsonScanner::report(Notes& notes) const {
  struct Row {
    JsonOddity oddity;
    NoteCode code;
    const char* text;
  };
  constexpr Row kRows[] = {
      {JsonOddity::truncated, NoteCode::truncated_tail,
       "the trace stops in the middle; what came before was used"},
      {JsonOddity::malformed_event, NoteCode::malformed_event,
       "quotes or braces of an event do not match; the event was left out"},
      {JsonOddity::malformed_metadata, NoteCode::malformed_metadata,
       "the metadata outside the events is not valid JSON; part of it was left out"},
      {JsonOddity::trailing_comma, NoteCode::trailing_comma, "a comma without an event after it"},
      {JsonOddity::missing_comma, NoteCode::missing_comma,
       "two events without a comma between them"},
      {JsonOddity::control_character, NoteCode::control_character,
       "unescaped control characters in a string"},
      {JsonOddity::invalid_escape, NoteCode::invalid_escape,
       "a backslash before a character that it cannot escape"},
      {JsonOddity::not_utf8, NoteCode::not_utf8, "bytes that are not UTF-8"},
      {JsonOddity::trailing_bytes, NoteCode::trailing_bytes,
       "something follows the end of the document"},
  };
  for (const Row& row : kRows) {
    const Counted& counted = counted_[static_cast<std::size_t>(row.oddity)];
    if (counted.count == 0) continue;
    Place where;
    where.file = source_.name();
    where.byte_offset = counted.first;
    notes.add(row.code, row.text, std::move(where), counted.count);
  }
}

}  // namespace mfu
