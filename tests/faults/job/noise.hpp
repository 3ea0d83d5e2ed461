// Noise that depends only on what it is drawn for (seed, purpose, step, rank, item), so that a job
// replayed without its fault meets the very same noise.
#pragma once

#include <cstdint>

#include "statistics/robust.hpp"

namespace mfu::faults {

enum class Draw : std::uint64_t {
  rank_jitter = 1,
  chunk_jitter,
  silicon,
  transfer,
  host_gap,
  hiccup,
  lengths,
  experts,
  gc,
  shards,
  burst,
  input,
  checkpoint,
  warmup,
  telemetry,
  phase,
  missing,
  missing_rank,
};

class Noise {
 public:
  explicit Noise(std::uint64_t seed) noexcept : seed_(seed) {}

  [[nodiscard]] std::uint64_t bits(Draw draw, std::uint64_t a = 0, std::uint64_t b = 0,
                                   std::uint64_t c = 0) const noexcept {
    std::uint64_t key = seed_ * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(draw);
    key = Random(key ^ (a + 0x632BE59BD9B4E019ULL)).next();
    key = Random(key ^ (b + 0x8CB92BA72F3D8DD7ULL)).next();
    return Random(key ^ (c + 0xD6E8FEB86659FD93ULL)).next();
  }
  // Uniform in [0, 1).
  [[nodiscard]] double uniform(Draw draw, std::uint64_t a = 0, std::uint64_t b = 0,
                               std::uint64_t c = 0) const noexcept {
    return static_cast<double>(bits(draw, a, b, c) >> 11) * 0x1.0p-53;
  }
  [[nodiscard]] double normal(Draw draw, std::uint64_t a = 0, std::uint64_t b = 0,
                              std::uint64_t c = 0) const noexcept {
    return Random(bits(draw, a, b, c)).normal();
  }
  // Nearly normal, and cheap: four 16-bit uniforms.
  [[nodiscard]] double rough_normal(Draw draw, std::uint64_t a, std::uint64_t b,
                                    std::uint64_t c) const noexcept {
    const std::uint64_t word = bits(draw, a, b, c);
    const double total = static_cast<double>((word & 0xFFFF) + (word >> 16 & 0xFFFF) +
                                             (word >> 32 & 0xFFFF) + (word >> 48)) /
                         65536.0;
    return (total - 2.0) * 1.7320508075688772;
  }

 private:
  std::uint64_t seed_;
};

}  // namespace mfu::faults
