#include "statistics/level_split.hpp"

#include "statistics/robust.hpp"

namespace mfu {

LevelSplit best_split(std::span<const double> y, std::size_t edge) {
  const std::size_t n = y.size();
  const double overall = mean(y);
  double total_variance = 0.0;
  for (const double v : y) total_variance += (v - overall) * (v - overall);
  LevelSplit best;
  if (total_variance <= 0.0 || n < 2 * edge) return best;
  double head = 0.0;
  double tail = overall * static_cast<double>(n);
  for (std::size_t k = 1; k < n; ++k) {
    head += y[k - 1];
    tail -= y[k - 1];
    if (k < edge || n - k < edge) continue;
    const double a = head / static_cast<double>(k);
    const double b = tail / static_cast<double>(n - k);
    const double between = static_cast<double>(k) * (a - overall) * (a - overall) +
                           static_cast<double>(n - k) * (b - overall) * (b - overall);
    if (between / total_variance > best.explained) best = {k, a, b, between / total_variance};
  }
  return best;
}

}  // namespace mfu
