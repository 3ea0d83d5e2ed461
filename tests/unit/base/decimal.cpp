#include "base/decimal.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "catch.hpp"
#include "statistics/robust.hpp"

using namespace mfu;

namespace decimals {

// The correctly rounded value of the text itself, by the standard library.
double rounded(const std::string& text) {
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double scanned(const std::string& text, int shift = 0) {
  return scan_decimal(text.c_str(), shift).value;
}

TEST_CASE("a shift moves the decimal point, it does not divide") {
  CHECK(scanned("810.123", -3) == 0.810123);
  CHECK(scanned("1", -9) == 1e-9);
  CHECK(scanned("123456789.123456789", -9) == 0.123456789123456789);
  CHECK(scanned("12345678901234567890", -9) == 12345678901.234567890);
  CHECK(scanned("0.3", 0) == 0.3);
}

TEST_CASE("decimals are correctly rounded, on the fast and on the slow path") {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string digits;
    const std::size_t length = 1 + random.below(24);
    for (std::size_t d = 0; d < length; ++d) {
      digits += static_cast<char>('0' + random.below(d == 0 ? 9 : 10) + (d == 0 ? 1 : 0));
    }
    const auto point = 1 + random.below(length);
    std::string text = digits.substr(0, point);
    if (point < length) text += "." + digits.substr(point);
    const int exponent = static_cast<int>(random.below(80)) - 40;
    const int shift = -3 * static_cast<int>(random.below(4));
    const std::string written = text + "e" + std::to_string(exponent);
    INFO(written << " shift " << shift);
    REQUIRE(scanned(written, shift) == rounded(text + "e" + std::to_string(exponent + shift)));
  }
}

TEST_CASE("a unit that is learnt late gives the same double") {
  Random random(8);
  for (int i = 0; i < 20000; ++i) {
    const auto whole = static_cast<long>(random.below(1000000));
    const auto part = static_cast<long>(random.below(1000000));
    std::string text = std::to_string(whole) + "." + std::to_string(1000000 + part).substr(1);
    INFO(text);
    REQUIRE(shift_decimal(scanned(text), -3) == scanned(text, -3));
    REQUIRE(shift_decimal(scanned(text), -9) == scanned(text, -9));
  }
}

TEST_CASE("what JSON does not allow as a number") {
  for (const char* text : {"", "-", "+1", ".5", "1.", "01", "1e", "1e+", "-.5", "x", "1.e3"}) {
    INFO(text);
    CHECK(scan_decimal(text, 0).status == DecimalStatus::malformed);
  }
  CHECK(scan_decimal("1e999", 0).status == DecimalStatus::overflow);
  CHECK(scan_decimal("1e99999999999999999999", 0).status == DecimalStatus::overflow);
  CHECK(scan_decimal("1e-999", 0).value == 0.0);
  CHECK(scan_decimal("0e999", 0).value == 0.0);
  CHECK(scan_decimal((std::string(400, '9')).c_str(), 0).status == DecimalStatus::overflow);
  CHECK(scan_decimal((std::string(400, '9')).c_str(), -399).value == 10.0);
  CHECK(std::signbit(scanned("-0.0")));
  CHECK(scanned("5e-324") == 5e-324);
}

TEST_CASE("command lines allow a sign and a missing zero") {
  CHECK(parse_decimal("+.5").value == 0.5);
  CHECK(parse_decimal("-2").value == -2.0);
  CHECK(parse_decimal("2 ").status == DecimalStatus::malformed);
  CHECK(parse_decimal("").status == DecimalStatus::malformed);
}

}  // namespace decimals
