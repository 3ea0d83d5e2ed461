// The two documents that hold a shape, and what is done alike for both.
#pragma once

#include <string>
#include <vector>

#include "mfu/model.hpp"
#include "model/fields.hpp"

namespace mfu {

// The `model` object of the formats.
[[nodiscard]] ModelShape model_from_object(const Fields& fields, Notes& notes,
                                           std::vector<std::string>& missing);
// A Hugging Face config.json.
[[nodiscard]] ModelShape model_from_config(const Fields& fields, Notes& notes,
                                           std::vector<std::string>& missing);

// Layers with experts and layers with a window, as a config.json spreads them over several keys.
void place_experts(const Fields& config, ModelShape& model);
void place_windows(const Fields& config, ModelShape& model);

// Fills kv_heads and head_dim where they follow, and checks that the numbers fit each other. A
// head_dim that does not follow is missing.
void complete_heads(const Fields& fields, std::string_view kv_heads_key, ModelShape& model,
                    std::vector<std::string>& missing);
// Width of an MLP that is not given: 4 x hidden, or, gated, 8/3 of it to the next 256.
[[nodiscard]] std::int64_t usual_ffn(const ModelShape& model);
// Error{unsupported} for a key that nothing has asked for, that is switched on, and whose words
// speak of what changes the count.
void refuse_unknown_parts(const Fields& fields);

}  // namespace mfu
