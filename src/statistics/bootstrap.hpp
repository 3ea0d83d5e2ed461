// Stratified moving-block bootstrap over steps.
//
// Burst steps and the others are resampled apart: the question is "how sure is the size of what
// happened", not "would the event come again" (a single real network flap would make that answer
// inconclusive). Blocks of n^(1/3) consecutive members of a stratum keep slow variation together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mfu {

// Draws `replicates` resamples of steps (as indices, as many as there are) and hands each to `use`.
// The stream depends on seed and replicate number alone. `stratum`: one label a step. `block`: the
// least length of a block, where n^(1/3) is too short for the correlation of the steps.
void bootstrap(std::span<const std::uint32_t> stratum, int replicates, std::uint64_t seed,
               const std::function<void(std::span<const std::size_t>)>& use, std::size_t block = 1);

// Length of a block that keeps the correlation of neighbouring values together: n^(1/3) where there
// is none, an eighth of them at most. Politis and White, Econometric Reviews 23 (2004), with the
// correction of Patton, Politis and White, ibid. 28 (2009), for blocks on a circle.
[[nodiscard]] std::size_t block_length(std::span<const double> values);

}  // namespace mfu
