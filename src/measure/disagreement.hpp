// Inputs of a measurement that contradict each other.
#pragma once

#include <cstdint>
#include <vector>

namespace mfu {

enum class Quantity {
  seq_len,
  batch,
  tokens_per_step,
  step_seconds,
  tokens_per_second,
  tokens_per_second_per_gpu,
  achieved_flops,
};

// What a factor between two statements of one quantity probably is.
enum class FactorGuess { none, gpus, accumulation, node, copies };

// Two of the inputs say different things.
struct Disagreement {
  Quantity left;  // as it is given; `right` is what the other inputs make of it
  double left_value = 0.0;
  double right_value = 0.0;
  std::vector<Quantity> from;  // the inputs that `right_value` comes from
  std::int64_t factor = 0;     // larger over smaller, where that is a whole number; else 0
  bool left_is_larger = false;
  FactorGuess guess = FactorGuess::none;
};
// Statements that are this close agree.
inline constexpr double kAgreement = 0.01;
// The whole number from 2 on that `ratio` is within 1 % of; else 0.
[[nodiscard]] std::int64_t whole_factor(double ratio) noexcept;

}  // namespace mfu
