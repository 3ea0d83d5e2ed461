// Numbers as people type them: with units, with grouping, and without what would be a guess.
#include <string>

#include "catch.hpp"
#include "mfu/error.hpp"
#include "mfu/quantity.hpp"

namespace {

template <typename Parse>
std::string refusal(Parse parse, const char* text) {
  try {
    (void)parse(text, "--x");
  } catch (const mfu::Error& error) {
    return error.message();
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("counts") {
  CHECK(mfu::parse_count("8192", "--x") == 8192);
  CHECK(mfu::parse_count("4,194,304", "--x") == 4194304);
  CHECK(mfu::parse_count("4_194_304", "--x") == 4194304);
  CHECK(mfu::parse_count("1e6", "--x") == 1e6);
  CHECK(has(refusal(mfu::parse_count, "8k"), "8,000 or 8,192?"));
  CHECK(has(refusal(mfu::parse_count, "4M"), "4,000,000 or 4,194,304?"));
  for (const char* bad : {"", "x", "1,23", "1,2345", "12,34,567", "1.5,000", "3GB", "0", "-4"}) {
    CAPTURE(bad);
    CHECK_FALSE(refusal(mfu::parse_count, bad).empty());
  }
}

TEST_CASE("large numbers with prefixes of 1000") {
  CHECK(mfu::parse_large("8.03B", "--x") == 8.03e9);
  CHECK(mfu::parse_large("124M", "--x") == 124e6);
  CHECK(mfu::parse_large("53k", "--x") == 53000);
  CHECK(mfu::parse_large("325,140", "--x") == 325140);
  CHECK(mfu::parse_large("8,030,261,248", "--x") == 8030261248.0);
  CHECK_FALSE(refusal(mfu::parse_large, "8,03B").empty());
  CHECK_FALSE(refusal(mfu::parse_large, "7X").empty());
  CHECK_FALSE(refusal(mfu::parse_large, "0").empty());
}

TEST_CASE("FLOP/s need a prefix") {
  CHECK(mfu::parse_flops("989.4T", "--x") == 989.4e12);
  CHECK(mfu::parse_flops("989.4 TFLOP/s", "--x") == 989.4e12);
  CHECK(mfu::parse_flops("1.2P", "--x") == 1.2e15);
  CHECK(mfu::parse_flops("312TFLOPS", "--x") == 312e12);
  CHECK(mfu::parse_flops("3.12e14", "--x") == 3.12e14);
  CHECK(has(refusal(mfu::parse_flops, "989.4"), "989.4T or 989.4P?"));
  CHECK_FALSE(refusal(mfu::parse_flops, "989.4X").empty());
  CHECK_FALSE(refusal(mfu::parse_flops, "-1T").empty());
}

TEST_CASE("prices are per hour") {
  CHECK(mfu::parse_price("2.5/h", "--x") == 2.5);
  CHECK(mfu::parse_price("1,250 /h", "--x") == 1250.0);
  CHECK(has(refusal(mfu::parse_price, "2.5"), "for how long?"));
  for (const char* bad : {"", "2.5/d", "2.5h", "-2/h", "0/h", "/h", "2,5/h", "$2.5/h", "nan/h"}) {
    CAPTURE(bad);
    CHECK_FALSE(refusal(mfu::parse_price, bad).empty());
  }
}

TEST_CASE("clocks") {
  CHECK(mfu::parse_megahertz("1830", "--x") == 1830);
  CHECK(mfu::parse_megahertz("1830 MHz", "--x") == 1830);
  CHECK(mfu::parse_megahertz("1.83GHz", "--x") == 1830);
  CHECK_FALSE(refusal(mfu::parse_megahertz, "fast").empty());
}

TEST_CASE("printed ratios may be over 100 per cent") {
  CHECK(mfu::parse_printed_ratio("563%", "--x") == 5.63);
  CHECK(mfu::parse_printed_ratio("0.7413", "--x") == 0.7413);
  CHECK(has(refusal(mfu::parse_printed_ratio, "74.13"), "74.13% or 74.13T?"));
  CHECK_FALSE(refusal(mfu::parse_printed_ratio, "0%").empty());
}

TEST_CASE("the rounding of a number as written") {
  CHECK(mfu::rounding_of("74.13%") == Approx(0.005 / 74.13));
  CHECK(mfu::rounding_of("29%") == Approx(0.5 / 29));
  CHECK(mfu::rounding_of("5361.6ms") == Approx(0.05 / 5361.6));
  CHECK(mfu::rounding_of("529,882") == Approx(0.5 / 529882));
  CHECK(mfu::rounding_of("x") == 0.0);
}
