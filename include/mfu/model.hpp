// One transformer, as the FLOP count needs it, and its parameter count.
//
// Symbols: L layers, h hidden, f MLP width, H query heads, K key/value heads, d head dimension,
// V vocabulary, E experts, k experts a token, f_e expert width, f_sh width of all shared experts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mfu/error.hpp"

namespace mfu {

// Multi-head latent attention (DeepSeek-V2, section 2.1).
struct LatentAttention {
  std::int64_t q_lora = 0;   // rank of the query projection; 0: queries are projected directly
  std::int64_t kv_lora = 0;  // rank of the joint key/value projection
  std::int64_t qk_nope = 0;  // per head, without rotary embedding
  std::int64_t qk_rope = 0;  // per head, with it
  std::int64_t v = 0;        // per head
};

// Every count is that of the whole model; 0 stands for "none" where that makes sense.
struct ModelShape {
  std::string name;
  std::string family;  // "llama", "gpt2", "qwen3_moe" ...: decides the defaults below; may be empty
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn_hidden = 0;
  bool gated_mlp = true;  // three matrices instead of two
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocab = 0;
  bool tied_embeddings = false;
  std::int64_t learned_positions = 0;  // rows of a learned position table; 0: none

  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t moe_ffn = 0;
  std::int64_t shared_ffn = 0;
  std::int64_t moe_layers = 0;  // the other layers are dense

  std::optional<LatentAttention> mla;

  std::int64_t window = 0;        // tokens that a query sees, itself included; 0: all
  std::int64_t local_layers = 0;  // layers with that window

  // Hybrid stacks: one letter a layer (M Mamba-2, * attention, E MoE, - MLP); empty: a plain stack.
  std::string pattern;
  std::string mtp_pattern;
  std::int64_t mamba_heads = 0;
  std::int64_t mamba_head_dim = 0;
  std::int64_t mamba_state = 0;
  std::int64_t mamba_groups = 0;
  std::int64_t latent = 0;  // width of a latent MoE

  bool bias = false;         // on every linear layer and norm where the family has it
  bool qkv_bias = false;
  bool qk_norm = false;
  bool norm_bias = false;
  bool router_bias = false;  // correction biases: counted in the total, not in the active parameters

  std::int64_t mtp_layers = 0;  // multi-token prediction depth
  std::optional<double> given_params;  // as stated beside the shape
};

struct ParameterCount {
  double total = 0.0;
  double active = 0.0;         // a token's: top_k of the experts, shared experts, both embeddings
  double embedding = 0.0;      // token table (once when tied)
  double output = 0.0;         // output table; 0 when tied
  double positions = 0.0;      // learned position table
  double norms = 0.0;          // norm weights and biases
};

[[nodiscard]] ParameterCount count_parameters(const ModelShape& model);

// A shape from the `model` object of the formats, or from a Hugging Face config.json; which of the two
// is seen from the keys. Throws Error{format} at the key that is wrong or missing, Error{unsupported}
// on a key that changes the count and is not understood (encoder-decoder, unknown attention or mixer).
// A stated parameter count more than 2 % off the derived one is noted.
[[nodiscard]] ModelShape parse_model(std::string_view json_text, const std::string& source,
                                     Notes& notes);

struct ModelPreset {
  std::string_view name;                     // as `mfu list models` prints it
  std::span<const std::string_view> aliases;
  std::string_view source;
};
[[nodiscard]] std::span<const ModelPreset> model_presets() noexcept;

// Throws Error{unsupported} with the nearest names; never a guess.
[[nodiscard]] ModelShape find_model(std::string_view name);

}  // namespace mfu
