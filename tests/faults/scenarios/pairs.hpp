// Pairs of jobs: with its fault and without it, or twice without.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faults/scenarios/scenario.hpp"
#include "mfu/compare.hpp"

namespace mfu::faults {

struct Pair {
  Job before;
  Job after;
};

// The k-th job of a scenario, and the same job without its first fault at another time: other noise
// in every step and on every GPU, the same work.
[[nodiscard]] Pair fixed_pair(const Scenario& scenario, std::uint64_t k);

// The same job twice, without its first fault: two draws of the noise.
[[nodiscard]] Pair healthy_pair(const Scenario& scenario, std::uint64_t k);

// The factors in which the fault of a job lies; empty: none, or the recording cannot tell.
[[nodiscard]] std::vector<std::string_view> factors_of_fault(const Job& job);

// Both sides as mfu compares them.
[[nodiscard]] Comparison compared(const Pair& pair, const CompareOptions& options = {});

}  // namespace mfu::faults
