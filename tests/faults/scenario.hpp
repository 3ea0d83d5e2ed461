// Kinds of job that are drawn at random: layout, length, noise and recording differ from seed to
// seed, the fault is what the kind says.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "faults/spec.hpp"

namespace mfu::faults {

struct Scenario {
  std::string_view name;
  JobSpec (*draw)(std::uint64_t seed);  // calibrated where the kind has a loss
};

[[nodiscard]] std::span<const Scenario> scenarios() noexcept;

// Throws std::out_of_range for a name that is not in the list.
[[nodiscard]] const Scenario& find_scenario(std::string_view name);

// Healthy jobs of each layout, to start from. Deterministic in the seed.
[[nodiscard]] JobSpec healthy_spec(std::uint64_t seed, Layout layout);
[[nodiscard]] Layout draw_data_parallel(std::uint64_t seed);
[[nodiscard]] Layout draw_tensor_parallel(std::uint64_t seed);
[[nodiscard]] Layout draw_pipeline(std::uint64_t seed);
[[nodiscard]] Layout draw_expert_parallel(std::uint64_t seed);
[[nodiscard]] Layout draw_any(std::uint64_t seed);  // of the first three

}  // namespace mfu::faults
