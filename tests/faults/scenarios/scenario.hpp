// Kinds of job that are drawn at random: layout, length, noise and recording differ from seed to
// seed, the fault is what the kind says.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "faults/job/spec.hpp"

namespace mfu::faults {

struct Scenario {
  std::string_view name;
  JobSpec (*draw)(std::uint64_t seed);  // calibrated where the kind has a loss
};

[[nodiscard]] std::span<const Scenario> scenarios();
// Its parts, in that order.
[[nodiscard]] std::span<const Scenario> healthy_scenarios() noexcept;
[[nodiscard]] std::span<const Scenario> place_scenarios() noexcept;
[[nodiscard]] std::span<const Scenario> work_scenarios() noexcept;
[[nodiscard]] std::span<const Scenario> common_scenarios() noexcept;
[[nodiscard]] std::span<const Scenario> unsure_scenarios() noexcept;

// Throws std::out_of_range for a name that is not in the list.
[[nodiscard]] const Scenario& find_scenario(std::string_view name);

// Healthy jobs of each layout, to start from. Deterministic in the seed.
[[nodiscard]] JobSpec healthy_spec(std::uint64_t seed, Layout layout);
[[nodiscard]] Layout draw_data_parallel(std::uint64_t seed);
[[nodiscard]] Layout draw_tensor_parallel(std::uint64_t seed);
[[nodiscard]] Layout draw_pipeline(std::uint64_t seed);
[[nodiscard]] Layout draw_expert_parallel(std::uint64_t seed);
[[nodiscard]] Layout draw_large(std::uint64_t seed);  // 512 or 1,024 ranks
[[nodiscard]] Layout draw_any(std::uint64_t seed);    // of the first four

}  // namespace mfu::faults
