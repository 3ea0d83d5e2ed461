#include "base/robust.hpp"

#include <algorithm>
#include <limits>
#include <map>
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

double quantile(std::span<const double> values, double q) {
  std::vector<double> copy(values.begin(), values.end());
  return quantile_inplace(copy, q);
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

double mann_kendall_z(std::span<const double> series) {
  const std::size_t n = series.size();
  if (n < 4) return 0.0;
  double score = 0.0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      score += (series[j] > series[i] ? 1.0 : 0.0) - (series[j] < series[i] ? 1.0 : 0.0);
    }
  }
  std::map<double, double> ties;
  for (const double value : series) ties[value] += 1.0;
  const auto length = static_cast<double>(n);
  double variance = length * (length - 1.0) * (2.0 * length + 5.0);
  for (const auto& [value, t] : ties) variance -= t * (t - 1.0) * (2.0 * t + 5.0);
  variance /= 18.0;
  if (variance <= 0.0 || score == 0.0) return 0.0;
  return (score - (score > 0.0 ? 1.0 : -1.0)) / std::sqrt(variance);
}

double Random::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace mfu
