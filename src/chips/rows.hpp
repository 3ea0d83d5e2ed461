// The parts of the chip table. A new chip is one row in one of them.
#pragma once

#include <span>

#include "mfu/chip.hpp"

namespace mfu::chips_detail {

using enum Precision;

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
inline constexpr double kTera = 1e12;
inline constexpr double kGiga = 1e9;

inline constexpr ClockBasis documented = ClockBasis::documented;
inline constexpr ClockBasis implied = ClockBasis::implied;
inline constexpr ClockBasis unknown = ClockBasis::unknown;

// Whether the maker prints 2:4 sparse figures, too.
inline constexpr bool kSparse = true;
inline constexpr bool kDense = false;

[[nodiscard]] std::span<const Chip> nvidia_ampere_rows() noexcept;
[[nodiscard]] std::span<const Chip> nvidia_hopper_rows() noexcept;
[[nodiscard]] std::span<const Chip> nvidia_cards_rows() noexcept;
[[nodiscard]] std::span<const Chip> nvidia_variants_rows() noexcept;
[[nodiscard]] std::span<const Chip> amd_rows() noexcept;
[[nodiscard]] std::span<const Chip> others_rows() noexcept;

}  // namespace mfu::chips_detail
