// 64 bytes of JSON at a time as bit masks: where its quotes, backslashes and braces are. One bit a
// byte, the lowest for the first. SSE2, which every x86-64 has; elsewhere eight bytes at a time in
// plain integers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mfu::json_blocks {

// What JSON takes for white space.
inline bool blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline constexpr std::size_t kBlock = 64;

struct Masks {
  std::uint64_t quote = 0;
  std::uint64_t backslash = 0;
  std::uint64_t open = 0;     // {
  std::uint64_t close = 0;    // }
  std::uint64_t control = 0;  // below 0x20
  std::uint64_t high = 0;     // 0x80 and above: not ASCII
};

#if defined(__SSE2__)

inline Masks masks_at(const char* text) noexcept {
  Masks found;
  const auto wide = [](int bits, int lane) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits)) << (16 * lane);
  };
  for (int lane = 0; lane < 4; ++lane) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * lane));
    const auto equal = [&](char wanted) {
      return wide(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted))), lane);
    };
    found.quote |= equal('"');
    found.backslash |= equal('\\');
    found.open |= equal('{');
    found.close |= equal('}');
    const __m128i limit = _mm_set1_epi8(0x1f);
    found.control |=
        wide(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, limit), bytes)), lane);
    found.high |= wide(_mm_movemask_epi8(bytes), lane);
  }
  return found;
}

// The first '"' or '\\' at or after `at`; `end` when there is none before it. May look at up to 15
// bytes behind `end`.
inline const char* quote_or_backslash(const char* at, const char* end) noexcept {
  for (; at < end; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int bits = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    if (bits != 0) {
      const char* const found = at + std::countr_zero(static_cast<unsigned>(bits));
      return found < end ? found : end;
    }
  }
  return end;
}

#else

inline Masks masks_at(const char* text) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  // Bit i of the result is the top bit of byte i (the multiplication gathers them).
  const auto gather = [](std::uint64_t tops) { return ((tops >> 7) * 0x0102040810204080U) >> 56; };
  Masks found;
  for (int lane = 0; lane < 8; ++lane) {
    std::uint64_t bytes = 0;
    for (int i = 0; i < 8; ++i) {  // little end first, on every machine
      bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[8 * lane + i]))
               << (8 * i);
    }
    // Zero bytes exactly, without a carry from one byte into the next.
    const auto zero = [&](std::uint64_t x) { return ~(((x & ~kHigh) + ~kHigh) | x | ~kHigh); };
    const auto equal = [&](char wanted) {
      return gather(zero(bytes ^ (kOnes * static_cast<unsigned char>(wanted)))) << (8 * lane);
    };
    found.quote |= equal('"');
    found.backslash |= equal('\\');
    found.open |= equal('{');
    found.close |= equal('}');
    found.control |= gather(zero(bytes & (kOnes * 0xe0U))) << (8 * lane);
    found.high |= gather(bytes & kHigh) << (8 * lane);
  }
  return found;
}

inline const char* quote_or_backslash(const char* at, const char* end) noexcept {
  while (at < end && *at != '"' && *at != '\\') ++at;
  return at;
}

#endif

// Bit i is set where an odd number of quotes stands at or before i: inside a string, the opening
// quote included.
inline std::uint64_t inside_strings(std::uint64_t quotes) noexcept {
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  quotes ^= quotes << 32;
  return quotes;
}

// What a backslash takes the meaning from. `carry`: 1 where the byte before this block was a
// backslash that escapes.
inline std::uint64_t escaped_by(std::uint64_t backslashes, std::uint64_t& carry) noexcept {
  std::uint64_t escaped = carry;
  carry = 0;
  while (backslashes != 0) {
    const std::uint64_t lowest = backslashes & (~backslashes + 1);
    if ((escaped & lowest) == 0) {
      if (lowest == std::uint64_t{1} << 63) {
        carry = 1;
      } else {
        escaped |= lowest << 1;
      }
    }
    backslashes &= backslashes - 1;
  }
  return escaped;
}

// What a passage held that valid JSON in plain ASCII does not.
struct Unusual {
  bool control = false;  // a raw control character in a string
  bool backslash = false;
  bool high = false;
};

// The closing brace of the object whose opening brace is at `at`; null where it is not before
// `limit`. May look at up to 63 bytes behind `limit`.
inline const char* closing_brace(const char* at, const char* limit, Unusual& seen) noexcept {
  std::uint64_t in_string = 0;  // all ones inside a string
  std::uint64_t carry = 0;
  std::int64_t depth = 0;
  for (; at < limit; at += kBlock) {
    Masks found = masks_at(at);
    if (limit - at < static_cast<std::ptrdiff_t>(kBlock)) {
      const std::uint64_t valid = (std::uint64_t{1} << (limit - at)) - 1;
      found.quote &= valid;
      found.backslash &= valid;
      found.open &= valid;
      found.close &= valid;
      found.control &= valid;
      found.high &= valid;
    }
    if ((found.backslash | carry) != 0) {
      seen.backslash = true;
      found.quote &= ~escaped_by(found.backslash, carry);
    }
    const std::uint64_t inside = inside_strings(found.quote) ^ in_string;
    in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);
    const std::uint64_t close = found.close & ~inside;
    std::uint64_t braces = (found.open & ~inside) | close;
    std::uint64_t before = ~std::uint64_t{0};
    const char* end = nullptr;
    while (braces != 0) {
      const std::uint64_t lowest = braces & (~braces + 1);
      if ((close & lowest) == 0) {
        ++depth;
      } else if (--depth == 0) {
        before = lowest - 1;
        end = at + std::countr_zero(lowest);
        break;
      }
      braces &= braces - 1;
    }
    if ((found.control & inside & before) != 0) seen.control = true;
    if ((found.high & before) != 0) seen.high = true;
    if (end != nullptr) return end;
  }
  return nullptr;
}

}  // namespace mfu::json_blocks
