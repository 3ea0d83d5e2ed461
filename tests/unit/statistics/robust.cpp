#include "statistics/robust.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"

using namespace mfu;

TEST_CASE("compensated sums lose nothing and know no order", "[robust]") {
  std::vector<double> values{1e16, 1.0, -1e16, 1.0};
  CHECK(sum(values) == 2.0);
  std::sort(values.begin(), values.end());
  CHECK(sum(values) == 2.0);
}

TEST_CASE("quantiles interpolate between closest ranks", "[robust]") {
  const std::vector<double> values{4.0, 1.0, 3.0, 2.0};
  CHECK(median(values) == Approx(2.5));
  CHECK(quantile(values, 0.0) == 1.0);
  CHECK(quantile(values, 1.0) == 4.0);
  CHECK(quantile(values, 0.25) == Approx(1.75));
  CHECK(std::isnan(median(std::vector<double>{})));
}

TEST_CASE("robust sigma is that of a normal sample and ignores outliers", "[robust]") {
  Random random(7);
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) values.push_back(random.normal());
  CHECK(robust_sigma(values) == Approx(1.0).epsilon(0.03));
  for (int i = 0; i < 2000; ++i) values.push_back(1000.0);
  CHECK(robust_sigma(values) < 1.3);
}

TEST_CASE("Mann-Kendall against values worked out by hand", "[robust]") {
  CHECK(mann_kendall_z(std::vector<double>{1, 2, 3, 4, 5}) ==
        Approx((10.0 - 1.0) / std::sqrt(5.0 * 4.0 * 15.0 / 18.0)));
  CHECK(mann_kendall_z(std::vector<double>{5, 4, 3, 2, 1}) < 0.0);
  CHECK(mann_kendall_z(std::vector<double>{2, 2, 2, 2}) == 0.0);
  CHECK(mann_kendall_z(std::vector<double>{1, 2, 3}) == 0.0);
}

TEST_CASE("Mann-Kendall by merging is the count over all pairs", "[robust]") {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> series;
    for (int i = 0; i < 40; ++i) series.push_back(std::floor(8.0 * random.uniform()));
    double score = 0.0;
    for (std::size_t i = 0; i < series.size(); ++i) {
      for (std::size_t j = i + 1; j < series.size(); ++j) {
        score += (series[j] > series[i]) - (series[j] < series[i]);
      }
    }
    const double z = mann_kendall_z(series);
    CHECK((score > 1.0) == (z > 0.0));
    CHECK((score < -1.0) == (z < 0.0));
  }
}

TEST_CASE("correlation of what does not vary is not a number", "[robust]") {
  CHECK(std::isnan(correlation(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3})));
  CHECK(correlation(std::vector<double>{1, 2, 3}, std::vector<double>{2, 4, 6}) == Approx(1.0));
}

TEST_CASE("the generator gives the same stream everywhere", "[robust]") {
  Random random(0);
  CHECK(random.next() == 0xE220A8397B1DCDAFULL);  // SplitMix64's first output for seed 0
  CHECK(random.next() == 0x6E789E6AA1B965F4ULL);
}

TEST_CASE("the lower median is a value that is there", "[robust]") {
  CHECK(lower_median(std::vector<double>{3.0, 1.0, 2.0}) == 2.0);
  CHECK(lower_median(std::vector<double>{4.0, 1.0, 3.0, 2.0}) == 2.0);
  CHECK(lower_median(std::vector<double>{1.3, 1.0}) == 1.0);
  CHECK(std::isnan(lower_median(std::vector<double>{})));
}
