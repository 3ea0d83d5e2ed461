// One include for Catch2 v2 (Debian 12, Ubuntu 22.04) and v3 (later distributions).
//
// What differs between the two and is reconciled here:
//   Approx            unqualified in both
//   contains(text)    string matcher: REQUIRE_THAT(got, contains("rank 3"))
//   starts_with(text) likewise
//   MFU_SKIP(reason)  says that a test case did nothing, and why; then returns from it
#pragma once

#include <iostream>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

inline auto contains(const std::string& text) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(text);
#else
  return Catch::Matchers::Contains(text);
#endif
}

inline auto starts_with(const std::string& text) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::StartsWith(text);
#else
  return Catch::Matchers::StartsWith(text);
#endif
}

// Catch2 v2 knows no SKIP.
#define MFU_SKIP(reason)                               \
  do {                                                 \
    std::cout << "skipped: " << (reason) << std::endl; \
    SUCCEED("skipped");                                \
    return;                                            \
  } while (false)
