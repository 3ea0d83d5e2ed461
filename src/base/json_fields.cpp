#include "base/json_fields.hpp"

#include <cstdint>

#include "base/json_blocks.hpp"

namespace mfu {

using json_blocks::closing_brace;
using json_blocks::Unusual;

bool JsonFields::next(JsonField& out) noexcept {
  if (nested_ != nullptr) {
    Unusual ignored;
    const char* const close = closing_brace(nested_, end_, ignored);
    if (close == nullptr) return fail();
    leave_at(close + 1);
  }
  const char* at = at_;
  const auto skip = [&] {
    while (at < end_ && json_blocks::blank(*at)) ++at;
    return at < end_;
  };
  const auto string = [&](std::string_view& found) {
    const char* const first = ++at;
    for (;;) {
      at = json_blocks::quote_or_backslash(at, end_);
      if (at >= end_) return false;
      if (*at == '"') break;
      at += 2;
    }
    found = {first, static_cast<std::size_t>(at - first)};
    ++at;
    return true;
  };
  while (at < end_ && (json_blocks::blank(*at) || *at == ',')) ++at;
  if (at >= end_) return fail();
  if (*at == '}') {
    at_ = at + 1;
    ended_ = true;
    return false;
  }
  if (*at != '"' || !string(out.key) || !skip() || *at != ':') return fail();
  ++at;
  if (!skip()) return fail();
  out.text = *at == '"';
  if (out.text) {
    if (!string(out.value)) return fail();
  } else if (*at == '{') {
    out.value = {at, 1};
    nested_ = at;
    return true;
  } else {
    const char* const first = at;
    std::int64_t depth = 0;
    for (; at < end_; ++at) {
      if (*at == '"') {
        std::string_view ignored;
        if (!string(ignored)) return fail();
        --at;
      } else if (*at == '[' || *at == '{') {
        ++depth;
      } else if (*at == ']' || *at == '}') {
        if (depth-- == 0) break;
      } else if (depth == 0 && (*at == ',' || json_blocks::blank(*at))) {
        break;
      }
    }
    out.value = {first, static_cast<std::size_t>(at - first)};
    if (out.value.empty()) return fail();
  }
  if (!skip() || (*at != ',' && *at != '}')) return fail();
  at_ = at;
  return true;
}

JsonFields JsonFields::enter() const noexcept {
  return JsonFields({nested_, static_cast<std::size_t>(end_ - nested_)});
}

void JsonFields::leave(const JsonFields& inner) noexcept {
  if (inner.ended_ && nested_ != nullptr) leave_at(inner.at_);
}

void JsonFields::leave_at(const char* at) noexcept {
  nested_ = nullptr;
  at_ = at;
  while (at < end_ && json_blocks::blank(*at)) ++at;
  if (at >= end_ || (*at != ',' && *at != '}')) at_ = end_;  // the next call finds it broken
}

}  // namespace mfu
