// A count of FLOPs as a report holds it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mfu/flops.hpp"
#include "mfu/measure.hpp"
#include "mfu/model.hpp"

namespace mfu {

struct FlopsTotal {
  const Convention* convention = nullptr;
  std::optional<double> flops_per_token;
  std::optional<double> hardware_flops_per_token;
  std::string text;  // a few words
};

// What one convention counts, by component, and what the others make of the same model.
struct FlopsSection {
  std::string title;
  std::string model;
  const Convention* convention = nullptr;
  std::string settings;
  std::optional<double> seq_len;
  std::optional<double> tokens_per_step;
  std::optional<ParameterCount> parameters;
  double params = 0.0;                // N that was used, where the formula has one
  std::vector<Component> components;  // of the convention, or of the exact count under its switches
  std::string components_line;        // whose components these are
  std::vector<std::string> component_texts;
  std::optional<double> components_total;  // forward and backward, per token
  FlopsTotal total;
  std::vector<FlopsTotal> others;
  std::vector<std::string> advice;
};

// `components_of`: the count whose components are shown where the convention has none of its own.
[[nodiscard]] FlopsSection describe_flops(const ModelShape& model, const CalcInput& input,
                                          std::span<const Convention* const> others);

}  // namespace mfu
