#include "base/json_cursor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/decimal.hpp"

namespace mfu {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool can_be_in_number(char c) noexcept {
  return decimal_detail::is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

constexpr std::string_view kNotFiniteHint = "write null for a missing sample";
constexpr const char* kTooLongHint = "long lists in it may be left out";

}  // namespace

JsonCursor::JsonCursor(ByteSource& source, const Limits& limits)
    : source_(source), limits_(limits), window_(std::max<std::size_t>(limits.window, 8) + 1) {
  at_ = end_ = counted_to_ = window_.data();
  *end_ = '\0';
  while (end_ - at_ < 3 && refill()) {
  }
  if (end_ - at_ >= 3 && std::memcmp(at_, "\xEF\xBB\xBF", 3) == 0) {
    at_ += 3;
    line_start_ = 3;  // columns count from after the mark
    counted_to_ = at_;
  }
}

void JsonCursor::count_lines() {
  while (counted_to_ < at_) {
    const void* newline =
        std::memchr(counted_to_, '\n', static_cast<std::size_t>(at_ - counted_to_));
    if (newline == nullptr) {
      counted_to_ = at_;
      return;
    }
    counted_to_ = window_.data() + (static_cast<const char*>(newline) - window_.data()) + 1;
    ++lines_before_;
    line_start_ = base_offset_ + (counted_to_ - window_.data());
  }
}

JsonCursor::Spot JsonCursor::spot() {
  count_lines();
  return {lines_before_ + 1, base_offset_ + (at_ - window_.data()) - line_start_ + 1};
}

Place JsonCursor::place() {
  const Spot here = spot();
  Place where;
  where.file = source_.name();
  where.line = here.line;
  where.column = here.column;
  where.byte_offset = base_offset_ + (at_ - window_.data());
  return where;
}

void JsonCursor::fail(std::string message, std::string hint) {
  throw Error(ErrorKind::format, std::move(message), place(), std::move(hint));
}

void JsonCursor::fail_cut_off(std::string_view where) {
  if (input_ended_ && at_ == end_ && source_.cut_off()) {
    throw JsonCutOff(ErrorKind::format, "the gzip data is cut off", place(),
                     "the file is not complete: check it with gzip -t");
  }
  const bool line_only = at_ != end_;
  throw JsonCutOff(
      ErrorKind::format,
      std::string(line_only ? "the line" : "the input") + " ends " + std::string(where), place(),
      line_only ? "one JSON object per line" : "the file is not complete");
}

bool JsonCursor::refill() {
  if (input_ended_) return false;
  count_lines();
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (captured_ != nullptr) {
    captured_->append(capture_from_, at_);
    if (captured_->size() > capture_cap_) {
      fail("a value of more than " + std::to_string(capture_cap_) + " bytes in the header",
           kTooLongHint);
    }
  }
  const std::ptrdiff_t consumed = at_ - window_.data();
  if (left + 1 >= window_.size()) window_.resize(window_.size() * 2);  // a token fills the window
  if (left > 0) std::memmove(window_.data(), window_.data() + consumed, left);
  base_offset_ += consumed;
  at_ = counted_to_ = capture_from_ = window_.data();
  end_ = at_ + left;
  const std::size_t count = source_.read(end_, window_.size() - 1 - left);
  end_ += count;
  *end_ = '\0';
  if (count == 0) input_ended_ = true;
  return count > 0;
}

int JsonCursor::skip_white_space() {
  for (;;) {
    while (at_ < end_) {
      const char c = *at_;
      if (c == '\n') {
        if (limits_.lines && !open_.empty()) fail_cut_off("inside a value");
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return static_cast<unsigned char>(c);
      }
      ++at_;
    }
    if (!refill()) return -1;
  }
}

char JsonCursor::take_byte() {
  if (at_ == end_ && !refill()) fail_cut_off("inside a value");
  if (limits_.lines && *at_ == '\n') fail_cut_off("inside a value");
  return *at_++;
}

JsonCursor::Kind JsonCursor::peek() {
  const int c = significant();
  switch (c) {
    case -1:
      if (!open_.empty()) fail_cut_off("inside a value");
      return Kind::end;
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      // "nan" is what some printers write.
      if (at_ + 1 == end_) (void)refill();
      if (at_[1] == 'a') fail_unexpected("a value");
      return Kind::null;
    case '-':
      if (at_ + 1 == end_) (void)refill();
      if (at_[1] == 'I' || at_[1] == 'i') fail_unexpected("a value");
      return Kind::number;
    default:
      if (decimal_detail::is_digit(static_cast<char>(c))) return Kind::number;
      fail_unexpected("a value");
  }
}

std::string JsonCursor::describe_next() {
  const int c = significant();
  if (c == -1) return "the end of the input";
  const char first = static_cast<char>(c);
  if (first == '"') return "a string";
  if (first == '{') return "an object";
  if (first == '[') return "an array";
  if (decimal_detail::is_digit(first)) return "a number";
  // Words: true, NaN, Infinity, None ...
  std::string word;
  for (;;) {
    const char* from = at_;
    word.clear();
    while (from < end_ && word.size() < 24 &&
           ((*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
            (from == at_ && *from == '-'))) {
      word.push_back(*from++);
    }
    if (from < end_ || word.size() >= 24 || !refill()) break;
  }
  if (word == "-") return "a number";
  if (!word.empty()) return word;
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0x20 && byte < 0x7F) return std::string("'") + first + "'";
  static constexpr char kHex[] = "0123456789abcdef";
  return std::string("the byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
}

void JsonCursor::fail_unexpected(std::string_view wanted) {
  if (significant() == -1) fail_cut_off("where " + std::string(wanted) + " is expected");
  const std::string found = describe_next();
  std::string hint;
  if (found.find("nf") != std::string::npos || found == "NaN" || found == "nan" ||
      found == "None") {
    hint = "not JSON; " + std::string(kNotFiniteHint);
  } else if (found == "'''") {
    hint = "JSON quotes with \"";
  }
  fail("expected " + std::string(wanted) + ", found " + found, std::move(hint));
}

void JsonCursor::open_container(char kind) {
  if (significant() != kind) fail_unexpected(kind == '{' ? "an object" : "an array");
  if (open_.size() >= limits_.depth) {
    fail("nested more than " + std::to_string(limits_.depth) + " deep");
  }
  ++at_;
  open_.push_back(kind);
  fresh_ = true;
}

void JsonCursor::close_container() {
  ++at_;
  open_.pop_back();
  fresh_ = false;
}

void JsonCursor::enter_object() { open_container('{'); }
void JsonCursor::enter_array() { open_container('['); }

bool JsonCursor::next_key(std::string& key) {
  int c = significant();
  if (c == '}') {
    close_container();
    return false;
  }
  if (!fresh_) {
    if (c != ',') fail_unexpected("',' or '}'");
    ++at_;
    c = significant();
    if (c == '}') fail("a comma before '}'", "remove it");
  }
  fresh_ = false;
  if (c != '"') fail_unexpected("a key in double quotes");
  key.clear();
  read_string(&key);
  if (significant() != ':') fail_unexpected("':'");
  ++at_;
  return true;
}

bool JsonCursor::next_element() {
  int c = significant();
  if (c == ']') {
    close_container();
    return false;
  }
  if (!fresh_) {
    if (c != ',') fail_unexpected("',' or ']'");
    ++at_;
    c = significant();
    if (c == ']') fail("a comma before ']'", "remove it");
  }
  fresh_ = false;
  if (c == -1) fail_cut_off("inside an array");
  return true;
}

void JsonCursor::need_whole_number() {
  for (;;) {
    char* to = at_;
    while (can_be_in_number(*to)) ++to;
    if (static_cast<std::size_t>(to - at_) > limits_.number) {
      fail("a number of more than " + std::to_string(limits_.number) + " characters");
    }
    if (to < end_ || !refill()) return;
  }
}

double JsonCursor::number(int shift) {
  if (peek() != Kind::number) fail_unexpected("a number");
  need_whole_number();
  const Decimal parsed = scan_decimal(at_, shift);
  if (parsed.status == DecimalStatus::overflow) fail("a number is too large");
  if (parsed.status == DecimalStatus::malformed) {
    // parsed.end points into the window, which the cursor owns.
    at_ += parsed.end - at_;
    if (at_ == end_ || (limits_.lines && *at_ == '\n')) fail_cut_off("inside a number");
    fail("not a valid JSON number");
  }
  at_ += parsed.end - at_;
  return parsed.value;
}

std::int64_t JsonCursor::integer() {
  if (peek() != Kind::number) fail_unexpected("a whole number");
  need_whole_number();
  // Up to 18 digits are taken as they are; a double would round from 2^53 on.
  const char* from = at_;
  const bool negative = *from == '-';
  if (negative) ++from;
  const char* to = from;
  std::int64_t value = 0;
  while (decimal_detail::is_digit(*to) && to - from < 18) value = value * 10 + (*to++ - '0');
  const bool plain = to > from && !can_be_in_number(*to) && (*from != '0' || to - from == 1);
  if (plain) {
    at_ += to - at_;
    return negative ? -value : value;
  }
  const Decimal parsed = scan_decimal(at_, 0);
  if (parsed.status == DecimalStatus::malformed) return static_cast<std::int64_t>(number());
  if (parsed.status == DecimalStatus::overflow || std::fabs(parsed.value) > 9.0e15) {
    fail("a whole number is too large");
  }
  if (parsed.value != std::trunc(parsed.value)) fail("expected a whole number");
  at_ += parsed.end - at_;
  return static_cast<std::int64_t>(parsed.value);
}

void JsonCursor::literal(std::string_view text) {
  for (const char wanted : text) {
    if (take_byte() != wanted) {
      --at_;
      fail("expected " + std::string(text));
    }
  }
}

bool JsonCursor::boolean() {
  const int c = significant();
  if (c == 't') {
    literal("true");
    return true;
  }
  if (c != 'f') fail_unexpected("true or false");
  literal("false");
  return false;
}

void JsonCursor::null() {
  if (significant() != 'n') fail_unexpected("null");
  literal("null");
}

void JsonCursor::skip_value() {
  const std::size_t outside = open_.size();
  std::string key;
  for (;;) {
    switch (peek()) {
      case Kind::object:
        enter_object();
        break;
      case Kind::array:
        enter_array();
        break;
      case Kind::string:
        read_string(nullptr);
        break;
      case Kind::number:
        (void)number();
        break;
      case Kind::boolean:
        (void)boolean();
        break;
      case Kind::null:
        null();
        break;
      case Kind::end:
        fail_cut_off("where a value is expected");
    }
    // On to the next value inside; containers that have ended are left on the way.
    for (;;) {
      if (open_.size() == outside) return;
      if (open_.back() == '{' ? next_key(key) : next_element()) break;
    }
  }
}

std::string JsonCursor::capture_value(std::size_t cap) {
  (void)significant();
  std::string text;
  captured_ = &text;
  capture_from_ = at_;
  capture_cap_ = cap;
  try {
    skip_value();
  } catch (...) {
    captured_ = nullptr;
    throw;
  }
  captured_ = nullptr;
  text.append(capture_from_, at_);
  if (text.size() > cap) {
    fail("a value of more than " + std::to_string(cap) + " bytes in the header", kTooLongHint);
  }
  return text;
}

JsonCursor::Element JsonCursor::classify(char first) {
  const bool signed_number = first == '-';
  if (signed_number && at_ + 1 == end_) (void)refill();
  const char second = first == '\0' ? '\0' : at_[1];
  if (first == 'N' || first == 'I' || (first == 'n' && second == 'a') || first == 'i' ||
      (signed_number && (second == 'I' || second == 'i' || second == 'N' || second == 'n'))) {
    return Element::not_finite;
  }
  return signed_number ? Element::negative : Element::other;
}

// Stands before a byte that is not white space; consumes only what is plain.
inline JsonCursor::Element JsonCursor::take_sample(double& out, const NumberRule& rule) {
  if (at_ + 1 == end_) (void)refill();  // the second byte tells null from nan
  const char first = *at_;
  if (decimal_detail::is_digit(first) || (first == '-' && decimal_detail::is_digit(at_[1]))) {
    Decimal parsed = scan_decimal(at_, rule.shift);
    if (parsed.end == end_ || parsed.status != DecimalStatus::ok) {
      // The window may end inside the number; malformed and overflowing ones are rare.
      need_whole_number();
      parsed = scan_decimal(at_, rule.shift);
      if (parsed.status == DecimalStatus::malformed) (void)number();  // throws, with the place
      if (parsed.status == DecimalStatus::overflow) return Element::not_finite;
    }
    if (parsed.value < 0.0 && !rule.negative_allowed) return Element::negative;
    if (parsed.value > rule.most) return Element::too_large;
    at_ += parsed.end - at_;
    out = parsed.value == 0.0 ? 0.0 : parsed.value;  // no negative zero
    return Element::plain;
  }
  if (first == 'n' && at_[1] != 'a') {
    literal("null");
    out = kMissing;
    return Element::plain;
  }
  if (first == '-' && at_ + 1 == end_) {
    ++at_;
    fail_cut_off("inside a number");
  }
  const Element kind = classify(first);
  const bool value =
      first != '\0' && std::string_view("\"{[tf").find(first) != std::string_view::npos;
  if (kind == Element::other && !value) fail_unexpected("a number or null");
  return kind;
}

JsonCursor::Element JsonCursor::sample(double& out, const NumberRule& rule) {
  if (significant() == -1) fail_cut_off("where a number is expected");
  return take_sample(out, rule);
}

JsonCursor::Series JsonCursor::number_array(std::vector<double>& out, const NumberRule& rule) {
  enter_array();
  std::size_t index = 0;
  double value = 0.0;
  for (; next_element(); ++index) {
    const Element element = take_sample(value, rule);
    if (element != Element::plain) return {element, index};
    out.push_back(value);
  }
  return {Element::plain, index};
}

bool JsonCursor::at_end() { return significant() == -1; }

void JsonCursor::finish() {
  if (significant() != -1) fail("text after the end of the document");
  if (source_.cut_off()) fail_cut_off("inside a value");
}

bool JsonCursor::next_line() {
  for (;;) {
    while (at_ < end_) {
      const char c = *at_;
      if (c == '\n') {
        ++at_;
        return true;
      }
      if (c != ' ' && c != '\t' && c != '\r') fail("text after the end of the object on this line");
      ++at_;
    }
    if (!refill()) return false;
  }
}

bool JsonCursor::zeros_to_the_end() {
  bool any = false;
  do {
    for (; at_ < end_; ++at_) {
      if (*at_ != '\0') return false;
      any = true;
    }
  } while (refill());
  return any;
}

bool JsonCursor::abandon_line() {
  open_.clear();
  fresh_ = false;
  return significant() != -1;
}

}  // namespace mfu
