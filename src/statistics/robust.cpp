#include "statistics/robust.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

namespace mfu {

namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}

double sum(std::span<const double> values) noexcept {
  Sum total;
  for (const double value : values) total.add(value);
  return total.value();
}

double mean(std::span<const double> values) noexcept {
  return values.empty() ? kNaN : sum(values) / static_cast<double>(values.size());
}

double quantile_inplace(std::span<double> values, double q) noexcept {
  if (values.empty()) return kNaN;
  const double position = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  const double fraction = position - static_cast<double>(low);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(low);
  std::nth_element(values.begin(), nth, values.end());
  const double below = *nth;
  if (fraction <= 0.0 || low + 1 >= values.size()) return below;
  const double above = *std::min_element(nth + 1, values.end());
  return below + fraction * (above - below);
}

double median_inplace(std::span<double> values) noexcept { return quantile_inplace(values, 0.5); }

double lower_quartile_inplace(std::span<double> values) noexcept {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 4);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

double quantile(std::span<const double> values, double q) {
  std::vector<double> copy(values.begin(), values.end());
  return quantile_inplace(copy, q);
}

double lower_median(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>((copy.size() - 1) / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return *middle;
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double robust_sigma(std::span<const double> values) {
  std::vector<double> deviations(values.begin(), values.end());
  const double centre = median_inplace(deviations);
  for (double& value : deviations) value = std::fabs(value - centre);
  return 1.4826 * median_inplace(deviations);
}

double correlation(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  Sum xx;
  Sum yy;
  Sum xy;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x;
    const double dy = y[i] - mean_y;
    xx.add(dx * dx);
    yy.add(dy * dy);
    xy.add(dx * dy);
  }
  const double scale = std::sqrt(xx.value()) * std::sqrt(yy.value());
  return scale > 0.0 ? xy.value() / scale : kNaN;
}

namespace {

// Pairs i < j with values[i] > values[j], counted while `values` is sorted by merging.
double count_inversions(std::vector<double>& values, std::vector<double>& scratch,
                        std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0.0;
  const std::size_t middle = begin + (end - begin) / 2;
  double inversions = count_inversions(values, scratch, begin, middle) +
                      count_inversions(values, scratch, middle, end);
  std::size_t left = begin;
  std::size_t right = middle;
  for (std::size_t out = begin; out < end; ++out) {
    const bool take_right = left == middle || (right < end && values[right] < values[left]);
    if (take_right) inversions += static_cast<double>(middle - left);
    scratch[out] = values[take_right ? right++ : left++];
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(begin),
            scratch.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return inversions;
}

}  // namespace

double mann_kendall_z(std::span<const double> series) {
  const std::size_t n = series.size();
  if (n < 4) return 0.0;
  std::vector<double> sorted(series.begin(), series.end());
  std::vector<double> scratch(n);
  const double falling = count_inversions(sorted, scratch, 0, n);
  const auto length = static_cast<double>(n);
  double tied_pairs = 0.0;
  double variance = length * (length - 1.0) * (2.0 * length + 5.0);
  for (std::size_t i = 0; i < n;) {
    std::size_t end = i;
    while (end < n && sorted[end] == sorted[i]) ++end;
    const auto t = static_cast<double>(end - i);
    tied_pairs += t * (t - 1.0) / 2.0;
    variance -= t * (t - 1.0) * (2.0 * t + 5.0);
    i = end;
  }
  const double score = length * (length - 1.0) / 2.0 - tied_pairs - 2.0 * falling;
  variance /= 18.0;
  if (variance <= 0.0 || score == 0.0) return 0.0;
  return (score - (score > 0.0 ? 1.0 : -1.0)) / std::sqrt(variance);
}

double Random::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace mfu
