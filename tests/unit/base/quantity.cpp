#include "mfu/quantity.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "mfu/error.hpp"

using namespace mfu;

TEST_CASE("ratios are read as people write them") {
  CHECK(parse_ratio("40%", "x") == 0.4);
  CHECK(parse_ratio("0.4", "x") == 0.4);
  CHECK(parse_ratio(" 12.5 % ", "x") == 0.125);
  CHECK(parse_ratio("1", "x") == 1.0);
  CHECK(parse_ratio(".5", "x") == 0.5);
}

TEST_CASE("a bare number above one could be either") {
  CHECK_THROWS_WITH(parse_ratio("40", "--min-mfu"), contains("--min-mfu: 40 or 40%?"));
  for (const char* text : {"", "%", "-1%", "101%", "nan", "inf", "0.4x", "1e999%", "0,4"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_ratio(text, "x"), Error);
  }
}

TEST_CASE("durations need a unit") {
  CHECK(parse_seconds("12.9s", "x") == 12.9);
  CHECK(parse_seconds("810.123ms", "x") == 0.810123);
  CHECK(parse_seconds("35 us", "x") == 35e-6);
  CHECK(parse_seconds("35\xC2\xB5s", "x") == 35e-6);
  CHECK(parse_seconds("7ns", "x") == 7e-9);
  CHECK(parse_seconds("2m", "x") == 120.0);
  CHECK(parse_seconds("1.5h", "x") == 5400.0);
  CHECK(parse_seconds("1e3ms", "x") == 1.0);
  CHECK_THROWS_WITH(parse_seconds("12.9", "--step-time"), contains("has no unit"));
  for (const char* text : {"", "s", "-1s", "1e999s", "12.9x", "infs", "1,5s", "1.s"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_seconds(text, "x"), Error);
  }
}

TEST_CASE("durations are shown with four digits") {
  CHECK(format_seconds(12.9) == "12.90 s");
  CHECK(format_seconds(0.81) == "810.0 ms");
  CHECK(format_seconds(35e-6) == "35.00 us");
  CHECK(format_seconds(7e-9) == "7.000 ns");
  CHECK(format_seconds(0.0) == "0 s");
  CHECK(format_seconds(0.99999) == "1.000 s");
  CHECK(format_seconds(9.9996) == "10.00 s");
  CHECK(format_seconds(99.996) == "100.0 s");
  CHECK(format_seconds(1234.5) == "1234 s");
  CHECK(format_seconds(-0.5) == "-500.0 ms");
  CHECK(format_seconds(std::numeric_limits<double>::quiet_NaN()) == "unknown");
}

TEST_CASE("percent, groups and prefixes") {
  CHECK(format_percent(0.314) == "31.4 %");
  CHECK(format_percent(-0.0001) == "0.0 %");
  CHECK(format_percent(0.12345, 2) == "12.35 %");
  CHECK(format_grouped(325140.2) == "325,140");
  CHECK(format_grouped(-1234567.0) == "-1,234,567");
  CHECK(format_grouped(999.0) == "999");
  CHECK(format_grouped(-0.2) == "0");
  CHECK(format_si(256.1e15, "FLOP") == "256.1 PFLOP");
  CHECK(format_si(61.07e9, "FLOP") == "61.07 GFLOP");
  CHECK(format_si(999.96e12, "FLOP/s") == "1.000 PFLOP/s");
  CHECK(format_si(0.0, "B") == "0 B");
  CHECK(format_si(0.0035, "J") == "3.500 mJ");
}
