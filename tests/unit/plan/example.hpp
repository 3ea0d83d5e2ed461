// A plan that is all stated, and its quantities by name.
#pragma once

#include <optional>

#include "mfu/plan.hpp"

namespace mfu::plan_example {

using enum PlanQuantity;

inline PlanInput small() {
  PlanInput input;
  input.flops_per_token = 6.0 * 8e9;
  input.peak_flops = 989.4e12;
  input.tokens = 1e12;
  input.gpus = 512.0;
  input.mfu = 0.4;
  input.power_w = 700.0;
  return input;
}

inline std::optional<double>& of(PlanInput& input, PlanQuantity quantity) {
  switch (quantity) {
    case tokens:
      return input.tokens;
    case gpus:
      return input.gpus;
    case seconds:
      return input.seconds;
    case mfu::PlanQuantity::mfu:
      return input.mfu;
    case gpu_seconds:
      return input.gpu_seconds;
    case price:
      return input.price;
    case cost:
      return input.cost;
  }
  return input.tokens;
}

inline std::optional<double> of(const Plan& plan, PlanQuantity quantity) {
  switch (quantity) {
    case tokens:
      return plan.tokens;
    case gpus:
      return plan.gpus;
    case seconds:
      return plan.seconds;
    case mfu::PlanQuantity::mfu:
      return plan.mfu;
    case gpu_seconds:
      return plan.gpu_seconds;
    case price:
      return plan.price;
    case cost:
      return plan.cost;
  }
  return {};
}

}  // namespace mfu::plan_example
