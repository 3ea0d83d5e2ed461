#include <cmath>

#include "catch.hpp"
#include "mfu/chip.hpp"

using namespace mfu;

TEST_CASE("peaks that are quoted") {
  const Chip& h100 = find_chip("h100-sxm");
  const Peak datasheet = peak_at(h100, Precision::bf16, {});
  CHECK(datasheet.flops == Approx(989.4e12));
  CHECK(datasheet.clock_mhz == Approx(1830));
  CHECK(datasheet.basis == ClockBasis::documented);
  CHECK(peak_at(h100, Precision::bf16, {ClockRule::max, 0}).flops ==
        Approx(1070.5e12).epsilon(1e-4));
  CHECK(peak_at(h100, Precision::bf16, {ClockRule::mhz, 1755}).flops ==
        Approx(948.88e12).epsilon(1e-5));
  CHECK(peak_at(find_chip("a100"), Precision::bf16, {}).flops == Approx(312e12));
  CHECK(peak_at(find_chip("a100"), Precision::bf16, {}).clock_mhz == Approx(1410));
}

TEST_CASE("what a chip does not have is refused") {
  CHECK_THROWS_AS(peak_at(find_chip("a100"), Precision::fp8, {}), Error);
  CHECK_THROWS_AS(peak_at(find_chip("h100-sxm"), Precision::bf16, {ClockRule::base, 0}), Error);
}

TEST_CASE("a clock in another unit than MHz is refused") {
  const Chip& chip = find_chip("h100-sxm");
  for (const double mhz : {0.0, -1.0, 1.83, 1830e3, std::nan(""), HUGE_VAL}) {
    CHECK_THROWS_AS(peak_at(chip, Precision::bf16, {ClockRule::mhz, mhz}), Error);
  }
}

TEST_CASE("precision names") {
  CHECK(parse_precision("BF16") == Precision::bf16);
  CHECK(parse_precision("bfloat16") == Precision::bf16);
  CHECK(to_string(parse_precision("fp64")) == "fp64_tc");
  try {
    (void)parse_precision("bf17");
    FAIL();
  } catch (const Error& error) {
    CHECK_THAT(error.hint(), contains("bf16"));
  }
}

TEST_CASE("a clock that nothing measured, and a figure that no clock gives") {
  try {
    (void)peak_at(find_chip("h100-sxm"), Precision::bf16, {ClockRule::measured, 0});
    FAIL();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::insufficient);
  }
  CHECK(peak_at(find_chip("h100-sxm"), Precision::bf16, {ClockRule::measured, 1755}).flops ==
        Approx(132 * 4096 * 1755e6));
  CHECK(peak_at(find_chip("h20"), Precision::bf16, {}).flops == Approx(148e12));
  CHECK_THROWS_AS(peak_at(find_chip("h20"), Precision::bf16, {ClockRule::max, 0}), Error);
  CHECK_THROWS_AS(peak_at(find_chip("h20"), Precision::bf16, {ClockRule::mhz, 1500}), Error);
}

TEST_CASE("the clock that a figure would need") {
  CHECK(clock_for(find_chip("h100-sxm"), Precision::bf16, 700e12) == Approx(1294.8).epsilon(1e-4));
  CHECK(clock_for(find_chip("b200"), Precision::bf16, 2250e12) == Approx(1855.8).epsilon(1e-4));
}

TEST_CASE("a clock above the maximum is said, and one far above refused") {
  const Chip& chip = find_chip("h100-sxm");
  CHECK_FALSE(peak_at(chip, Precision::bf16, {ClockRule::mhz, 1980}).above_max);
  CHECK(peak_at(chip, Precision::bf16, {ClockRule::mhz, 2100}).above_max);
}

TEST_CASE("mixed precision is the mean weighted by time") {
  const Chip& chip = find_chip("h100-sxm");
  const auto mix = parse_precision_mix("bf16=0.7, fp8=30%");
  CHECK(to_text(mix) == "bf16=0.7,fp8=0.3");
  CHECK(peak_of_mix(chip, mix, {}).flops == Approx(0.7 * 989.4e12 + 0.3 * 1978.9e12));
  CHECK(parse_precision_mix("fp8").front().precision == Precision::fp8);
  for (const char* bad : {"bf16=0.7,fp8=0.4", "bf16,fp8", "bf16=0.5,bf16=0.5", "bf16=0,fp8=1",
                          "bf16=1.5", "bf16=0.7,", "", "=1", "bf16=-1,fp8=2"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_precision_mix(bad), Error);
  }
}
