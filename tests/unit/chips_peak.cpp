#include <cmath>

#include "catch.hpp"
#include "mfu/chip.hpp"

using namespace mfu;

TEST_CASE("the datasheet figure is units x rate x the clock that the row says") {
  for (const Chip& chip : chips()) {
    for (const PrecisionRate& rate : chip.rates) {
      INFO(std::string(chip.id) + " " + std::string(to_string(rate.precision)));
      const double worked_out =
          chip.units * rate.flop_per_clock_per_unit * rate.datasheet_mhz * 1e6;
      CHECK(worked_out == Approx(rate.datasheet_flops).epsilon(0.006));
      if (chip.max_mhz > 0.0) CHECK(rate.datasheet_mhz <= chip.max_mhz);
    }
  }
}

TEST_CASE("peaks that are quoted") {
  const Chip& h100 = find_chip("h100-sxm");
  const Peak datasheet = peak_at(h100, Precision::bf16, {});
  CHECK(datasheet.flops == Approx(989.4e12));
  CHECK(datasheet.clock_mhz == Approx(1830));
  CHECK_FALSE(datasheet.clock_implied);
  CHECK(peak_at(h100, Precision::bf16, {ClockRule::max, 0}).flops ==
        Approx(1070.5e12).epsilon(1e-4));
  CHECK(peak_at(h100, Precision::bf16, {ClockRule::mhz, 1755}).flops ==
        Approx(948.88e12).epsilon(1e-5));
  CHECK(peak_at(find_chip("a100"), Precision::bf16, {}).flops == Approx(312e12));
  CHECK(peak_at(find_chip("a100"), Precision::bf16, {}).clock_mhz == Approx(1410));
  CHECK(peak_at(find_chip("h100-pcie"), Precision::bf16, {}).clock_implied);
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
