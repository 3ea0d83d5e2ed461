#include "analysis/bootstrap.hpp"

#include <cmath>
#include <map>

#include "base/robust.hpp"

namespace mfu::analysis {

void bootstrap(std::span<const std::uint32_t> stratum, int replicates, std::uint64_t seed,
               const std::function<void(std::span<const std::size_t>)>& use) {
  std::map<std::uint32_t, std::vector<std::size_t>> strata;
  for (std::size_t s = 0; s < stratum.size(); ++s) strata[stratum[s]].push_back(s);
  std::vector<std::size_t> drawn;
  drawn.reserve(stratum.size());
  for (int replicate = 0; replicate < replicates; ++replicate) {
    Random random(seed + 0x9E3779B97F4A7C15ULL * (static_cast<std::uint64_t>(replicate) + 1U));
    drawn.clear();
    for (const auto& [label, members] : strata) {
      const std::size_t n = members.size();
      const auto block =
          static_cast<std::size_t>(std::max(1.0, std::round(std::cbrt(static_cast<double>(n)))));
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

}  // namespace mfu::analysis
