#include "diagnose/standing.hpp"

#include <algorithm>

#include "statistics/bootstrap.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kMostDraws = 2e7;  // steps x resamples

// Steps that differ in which passing effects act in them are resampled apart. What came once is
// not: nobody knows how often it comes, and the resamples without it say so.
std::vector<std::uint32_t> strata_of(const RuleContext& context) {
  std::vector<std::uint32_t> label(context.job().steps(), 0);
  std::uint32_t bit = 1;
  for (const Candidate& candidate : context.found) {
    const Persistence persistence = candidate.finding.persistence;
    const bool passing = persistence == Persistence::bursts || persistence == Persistence::onset ||
                         persistence == Persistence::ended;
    if (!passing || bit > (1U << 8)) continue;
    if (std::count(candidate.on.begin(), candidate.on.end(), true) == 1) continue;
    for (std::size_t s = 0; s < label.size(); ++s) {
      if (candidate.on[s]) label[s] |= bit;
    }
    bit <<= 1;
  }
  return label;
}

}  // namespace

Standing standing_of(const RuleContext& context, std::span<const std::size_t> steps) {
  Standing result;
  const auto& found = context.found;
  Sum step;
  for (const std::size_t s : steps) step.add(context.job().step_seconds()[s]);
  const auto n = static_cast<double>(steps.size());
  result.step = step.value() / n;
  for (const Family family : kFamilies) {
    result.seconds[family] = 0.0;
    result.score[family] = 0.0;
  }
  const auto mean_of = [&](const std::vector<double>& series) {
    Sum total;
    for (const std::size_t s : steps) total.add(series[s]);
    return total.value() / n;
  };
  for (const Candidate& candidate : found) {
    result.loss.push_back(mean_of(candidate.loss));
    result.alone.push_back(candidate.alone.empty() ? result.loss.back() : mean_of(candidate.alone));
    result.balanced.push_back(candidate.balanced.empty() ? 0.0 : mean_of(candidate.balanced));
    result.seconds[candidate.finding.family] += result.loss.back();
    result.score[candidate.finding.family] +=
        result.loss.back() / (candidate.materiality * result.step);
  }
  return result;
}

Resampled resample(const RuleContext& context) {
  Resampled result;
  const std::size_t count = context.found.size();
  result.loss.resize(count);
  result.left.resize(count);
  result.left_balanced.resize(count);
  // Long runs need fewer resamples for the same width, and time grows with both.
  const auto affordable = static_cast<int>(kMostDraws / static_cast<double>(context.job().steps()));
  const int replicates =
      std::clamp(affordable, std::min(200, context.options.replicates), context.options.replicates);
  bootstrap(strata_of(context), replicates, context.options.seed,
            [&](std::span<const std::size_t> steps) {
              const Standing standing = standing_of(context, steps);
              for (std::size_t k = 0; k < count; ++k) {
                result.loss[k].push_back(standing.loss[k]);
                result.left[k].push_back(standing.step - standing.alone[k]);
                result.left_balanced[k].push_back(standing.step - standing.balanced[k]);
              }
              for (const auto& [family, score] : standing.score) {
                result.score[family].push_back(score);
              }
              result.top.push_back(standing.top());
            });
  return result;
}

Interval interval_of(std::span<const double> values) {
  return {quantile(values, 0.025), quantile(values, 0.975)};
}

}  // namespace mfu::diagnosis
