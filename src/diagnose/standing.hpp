// What each candidate and family is worth, over the steps and over resamples of them.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "diagnose/explain/candidate.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/interval.hpp"

namespace mfu::diagnosis {

inline constexpr std::array kFamilies{Family::imbalance, Family::single_gpu_efficiency,
                                      Family::straggler, Family::stall, Family::communication};

// Losses of one (re)sample of the steps.
struct Standing {
  double step = 0.0;                 // mean, seconds
  std::vector<double> loss;          // mean of each candidate, seconds
  std::vector<double> alone;         // the same, of its fix alone
  std::vector<double> balanced;      // the same, of work spread evenly
  std::map<Family, double> seconds;  // of each family
  std::map<Family, double> score;    // in units of materiality: 1 is material

  [[nodiscard]] bool material(Family family) const { return score.at(family) >= 1.0; }
  // Largest material loss; Family::healthy when nothing is material.
  [[nodiscard]] Family top() const {
    Family best = Family::healthy;
    for (const Family family : kFamilies) {
      if (!material(family)) continue;
      if (best == Family::healthy || seconds.at(family) > seconds.at(best)) best = family;
    }
    return best;
  }
};

struct Resampled {
  std::vector<std::vector<double>> loss;  // [candidate][replicate]
  std::vector<std::vector<double>> left;  // [candidate][replicate] step that is left
  std::vector<std::vector<double>> left_balanced;
  std::map<Family, std::vector<double>> score;
  std::vector<Family> top;
};

[[nodiscard]] Standing standing_of(const RuleContext& context, std::span<const std::size_t> steps);
[[nodiscard]] Resampled resample(const RuleContext& context);
// 95 % of the values.
[[nodiscard]] Interval interval_of(std::span<const double> values);

}  // namespace mfu::diagnosis
