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

namespace mfu::analysis {

// Draws `replicates` resamples of steps (as indices, as many as there are) and hands each to `use`.
// The stream depends on seed and replicate number alone. `stratum`: one label a step.
void bootstrap(std::span<const std::uint32_t> stratum, int replicates, std::uint64_t seed,
               const std::function<void(std::span<const std::size_t>)>& use);

}  // namespace mfu::analysis
