#include "render/shown_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace mfu::render {
namespace {

// Units beyond this are not a step time; the guard keeps the conversion defined.
std::int64_t whole(double units) {
  constexpr double kLimit = 1e15;
  return std::isfinite(units) ? static_cast<std::int64_t>(std::clamp(units, -kLimit, kLimit)) : 0;
}

}  // namespace

std::vector<std::int64_t> shown_units(std::span<const double> values, double total, int decimals) {
  const double scale = std::pow(10.0, decimals);
  std::vector<std::int64_t> units;
  for (const double value : values) units.push_back(whole(std::round(value * scale)));
  if (values.size() < 2) return units;

  std::int64_t difference = whole(std::round(total * scale));
  for (const std::int64_t unit : units) difference -= unit;
  // Rounding each by itself is off by at most half a unit a value.
  if (std::llabs(difference) > static_cast<std::int64_t>((values.size() + 1) / 2)) return units;

  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < values.size(); ++i) order.push_back(i);
  const auto error = [&](std::size_t i) {  // what rounding took away, in units
    return values[i] * scale - static_cast<double>(units[i]);
  };
  const bool too_little = difference > 0;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return too_little ? error(x) > error(y) : error(x) < error(y);
  });
  for (std::size_t k = 0; difference != 0; k = (k + 1) % order.size()) {
    const std::int64_t one = difference > 0 ? 1 : -1;
    units[order[k]] += one;
    difference -= one;
  }
  return units;
}

std::string unit_text(std::int64_t units, int decimals) {
  std::int64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const std::int64_t size = std::llabs(units);
  std::string text = units < 0 ? "-" : "";
  text += fmt::format("{}", size / scale);
  if (decimals > 0) text += fmt::format(".{:0{}}", size % scale, decimals);
  return text;
}

}  // namespace mfu::render
