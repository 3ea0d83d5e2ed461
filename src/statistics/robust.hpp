// Robust statistics and exact-as-possible sums. All functions ignore the order of their input: sums
// are compensated, order statistics sort or select a copy.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mfu {

// Neumaier's compensated sum: the error does not grow with the number of terms.
class Sum {
 public:
  void add(double value) noexcept {
    const double total = sum_ + value;
    compensation_ +=
        std::fabs(sum_) >= std::fabs(value) ? (sum_ - total) + value : (value - total) + sum_;
    sum_ = total;
  }
  [[nodiscard]] double value() const noexcept { return sum_ + compensation_; }

 private:
  double sum_ = 0.0;
  double compensation_ = 0.0;
};

[[nodiscard]] double sum(std::span<const double> values) noexcept;
[[nodiscard]] double mean(std::span<const double> values) noexcept;  // of nothing: NaN

// Order statistics of `values`, which are reordered; NaN must not be among them. Of nothing: NaN.
// quantile: linear interpolation between closest ranks (Hyndman and Fan's type 7).
[[nodiscard]] double quantile_inplace(std::span<double> values, double q) noexcept;
[[nodiscard]] double median_inplace(std::span<double> values) noexcept;
// The smallest value that at least a quarter of the values do not exceed: no interpolation, so that
// a minority of high members never leaks into it. `values` is reordered and not empty.
[[nodiscard]] double lower_quartile_inplace(std::span<double> values) noexcept;
// The same on a copy.
[[nodiscard]] double quantile(std::span<const double> values, double q);
[[nodiscard]] double median(std::span<const double> values);
// Of an even number of values the lower of the two in the middle, where median() is their mean.
[[nodiscard]] double lower_median(std::span<const double> values);
// 1.4826 x median absolute deviation: the standard deviation of a normal sample.
[[nodiscard]] double robust_sigma(std::span<const double> values);

// Pearson correlation; NaN when either side does not vary.
[[nodiscard]] double correlation(std::span<const double> x, std::span<const double> y);

// Mann-Kendall trend statistic z of a series, corrected for ties; 0 for fewer than 4 values.
[[nodiscard]] double mann_kendall_z(std::span<const double> series);

// A small generator with the same stream on every platform (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1).
  double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, n); n > 0.
  std::size_t below(std::size_t n) noexcept {
    return static_cast<std::size_t>(uniform() * static_cast<double>(n));
  }
  // Standard normal (Box-Muller, one of the pair).
  double normal() noexcept;

 private:
  std::uint64_t state_;
};

}  // namespace mfu
