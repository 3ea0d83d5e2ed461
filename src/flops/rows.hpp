// The rows of the table of conventions, by whose number it is. To add one: a row in one of the
// files row_*.cpp, and a value that pins it in tests/unit/flops_conventions.cpp.
#pragma once

#include <span>

#include "mfu/flops.hpp"

namespace mfu {

// Defaults of the rows. A switch that is not set has no meaning for the row.
[[nodiscard]] constexpr Switches exact_switches(AttentionCount attention, bool honour_window,
                                                bool count_router) {
  return {attention, honour_window, count_router, RecomputeCount::none, Trainable::all};
}
[[nodiscard]] constexpr Switches params_switches(AttentionCount attention, bool honour_window) {
  return {attention, honour_window, {}, RecomputeCount::none, Trainable::all};
}

[[nodiscard]] std::span<const Convention> exact_rows() noexcept;
[[nodiscard]] std::span<const Convention> paper_rows() noexcept;
[[nodiscard]] std::span<const Convention> megatron_rows() noexcept;
[[nodiscard]] std::span<const Convention> nemo_rows() noexcept;
[[nodiscard]] std::span<const Convention> jax_rows() noexcept;
[[nodiscard]] std::span<const Convention> pytorch_rows() noexcept;
[[nodiscard]] std::span<const Convention> olmo_rows() noexcept;
[[nodiscard]] std::span<const Convention> calculator_rows() noexcept;

}  // namespace mfu
