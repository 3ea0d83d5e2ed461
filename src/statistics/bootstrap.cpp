#include "statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "statistics/robust.hpp"

namespace mfu {
namespace {

std::size_t shortest_block(std::size_t n) {
  return static_cast<std::size_t>(std::max(1.0, std::round(std::cbrt(static_cast<double>(n)))));
}

// Around their middle; a burst is capped at three deviations so that it does not hide the rest.
std::vector<double> centred(std::span<const double> values) {
  const double middle = median(values);
  const double most = 3.0 * robust_sigma(values);
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) {
    out.push_back(most > 0.0 ? std::clamp(value - middle, -most, most) : value - middle);
  }
  const double offset = mean(out);
  for (double& value : out) value -= offset;
  return out;
}

double covariance(std::span<const double> values, std::size_t lag) {
  Sum total;
  for (std::size_t i = lag; i < values.size(); ++i) total.add(values[i] * values[i - lag]);
  return total.value() / static_cast<double>(values.size());
}

// Flat up to half of the width, then down to 0.
double window(double share) { return share <= 0.5 ? 1.0 : std::max(0.0, 2.0 * (1.0 - share)); }

}  // namespace

std::size_t block_length(std::span<const double> values) {
  constexpr std::size_t kFewest = 16;
  constexpr std::size_t kQuiet = 5;  // lags in a row without correlation
  constexpr std::size_t kFewestBlocks = 8;
  const std::size_t n = values.size();
  const std::size_t shortest = shortest_block(n);
  if (n < kFewest) return shortest;
  const std::vector<double> series = centred(values);
  const double variance = covariance(series, 0);
  if (!(variance > 0.0)) return shortest;
  const double count = static_cast<double>(n);
  const double limit = 2.0 * std::sqrt(std::log10(count) / count) * variance;
  const auto most = static_cast<std::size_t>(std::ceil(std::sqrt(count))) + kQuiet;
  std::size_t last = 0;  // lag with correlation
  for (std::size_t lag = 1; lag < std::min(most, n) && lag - last <= kQuiet; ++lag) {
    if (std::fabs(covariance(series, lag)) >= limit) last = lag;
  }
  if (last == 0) return shortest;
  const std::size_t width = std::min(2 * last, n - 1);
  Sum level;
  Sum slope;
  level.add(variance);
  for (std::size_t lag = 1; lag <= width; ++lag) {
    const double both = 2.0 * covariance(series, lag) *
                        window(static_cast<double>(lag) / static_cast<double>(width));
    level.add(both);
    slope.add(static_cast<double>(lag) * both);
  }
  // Values that undo one another leave the mean surer than it looks: no longer blocks for them.
  if (!(level.value() > 0.0) || !(slope.value() > 0.0)) return shortest;
  const double ratio = slope.value() / level.value();
  const double best = std::cbrt(1.5 * ratio * ratio * count);
  const double longest = std::max(static_cast<double>(shortest),
                                  std::floor(count / static_cast<double>(kFewestBlocks)));
  return static_cast<std::size_t>(
      std::clamp(std::round(best), static_cast<double>(shortest), longest));
}

void bootstrap(std::span<const std::uint32_t> stratum, int replicates, std::uint64_t seed,
               const std::function<void(std::span<const std::size_t>)>& use,
               std::size_t least_block) {
  std::map<std::uint32_t, std::vector<std::size_t>> strata;
  for (std::size_t s = 0; s < stratum.size(); ++s) strata[stratum[s]].push_back(s);
  std::vector<std::size_t> drawn;
  drawn.reserve(stratum.size());
  for (int replicate = 0; replicate < replicates; ++replicate) {
    Random random(seed + 0x9E3779B97F4A7C15ULL * (static_cast<std::uint64_t>(replicate) + 1U));
    drawn.clear();
    for (const auto& [label, members] : strata) {
      const std::size_t n = members.size();
      const std::size_t block = std::max(shortest_block(n), std::min(least_block, n / 2));
      std::size_t taken = 0;
      while (taken < n) {
        const std::size_t start = random.below(n);
        for (std::size_t i = 0; i < block && taken < n; ++i, ++taken) {
          drawn.push_back(members[(start + i) % n]);
        }
      }
    }
    use(drawn);
  }
}

}  // namespace mfu
