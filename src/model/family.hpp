// What a family of models has in common and a shape need not say: gating, tying, biases, norms.
#pragma once

#include <cstdint>
#include <string_view>

#include "mfu/model.hpp"

namespace mfu {

enum class Window : unsigned char {
  all_layers,   // where there is a window, every layer has it
  alternate,    // every other layer, the first one included
  five_of_six,  // every sixth layer sees all
  switched,     // only where use_sliding_window says so, from max_window_layers on
};

struct Family {
  std::string_view model_type;  // as config.json says it
  bool gated = true;
  bool tied = false;
  bool bias = false;
  bool qkv_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  bool norm_bias = false;
  bool norm_weights = true;
  bool qk_norm = false;
  bool qk_norm_wide = false;
  bool embedding_norm = false;
  bool attention_sinks = false;
  bool shared_gate = false;
  bool router_bias = false;
  std::int64_t layer_norms = 2;
  // Rows of the learned position table beyond the stated positions; -1: no such table.
  std::int64_t extra_positions = -1;
  Window window = Window::all_layers;
};

// Null when the type is not known. A trailing "_text" of the text half of a larger model is
// dropped.
[[nodiscard]] const Family* find_family(std::string_view model_type) noexcept;

// Sets what the family decides; learned positions are the caller's.
void apply_family(const Family& family, ModelShape& model);

}  // namespace mfu
