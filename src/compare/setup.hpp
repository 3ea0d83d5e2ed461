// What separates two measurements, and how they can be restated under one convention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "mfu/compare.hpp"

namespace mfu::comparison {

// Whether two figures are one: `tolerance` is relative.
[[nodiscard]] bool same_number(double a, double b, double tolerance) noexcept;

[[nodiscard]] std::vector<Reason> obstacles_between(const Side& before, const Side& after);

// In the order of a fixed list of keys.
[[nodiscard]] std::vector<Difference> differences_between(const Side& before, const Side& after);

// The sides under one convention.
struct Restated {
  Restatement how = Restatement::none;
  std::string convention;
  // What each side's MFU is multiplied by; the speeds' ratio is that of the products.
  double before_scale = 1.0;
  double after_scale = 1.0;
  std::optional<double> mfu_before, mfu_after;
  double log_ratio = 0.0;
};
// Nothing: the sides do not hold enough for it.
[[nodiscard]] std::optional<Restated> restate(const Side& before, const Side& after,
                                              const std::vector<Reason>& reasons);

}  // namespace mfu::comparison
