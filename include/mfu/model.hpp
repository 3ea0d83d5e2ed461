// One transformer, as the FLOP count needs it, and its parameter count.
//
// Symbols: L layers, h hidden, f MLP width, H query heads, K key/value heads, d head dimension,
// V vocabulary, E experts, k experts a token, f_e expert width, f_sh width of all shared experts.
#pragma once

#include <cstddef>
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
  std::int64_t head_dim = 0;  // with mla: qk_nope + qk_rope
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

  // What follows changes the parameter count only.
  bool bias = false;         // on every linear layer but the logits: QKV, output, MLP, router
  bool qkv_bias = false;     // on the query, key and value projections
  bool output_bias = false;  // on the attention's output projection
  bool mlp_bias = false;
  bool head_bias = false;     // on the logits
  bool qk_norm = false;       // over a head's width, shared by the heads
  bool qk_norm_wide = false;  // over all heads' width (OLMo 2)
  bool norm_weights = true;   // false: norms without parameters (OLMo 1)
  bool norm_bias = false;
  std::int64_t layer_norms = 2;  // of width h in a layer; a layer of a pattern always has one
  bool embedding_norm = false;
  bool attention_sinks = false;  // one parameter a query head
  bool shared_gate = false;      // a gate of width h on the shared experts
  bool router_bias = false;      // correction biases: in the total, not in the active parameters
  std::int64_t mamba_conv = 4;   // width of Mamba's convolution

  std::int64_t mtp_layers = 0;         // multi-token prediction depth
  std::optional<double> given_params;  // as stated beside the shape
};

struct ParameterCount {
  double total = 0.0;
  double active = 0.0;     // a token's: top_k of the experts, shared experts, both embeddings
  double embedding = 0.0;  // token table (once when tied)
  double output = 0.0;     // output table; 0 when tied
  double positions = 0.0;  // learned position table
  double norms = 0.0;      // norm weights and biases
};

// Exact to the unit for a complete shape. Multi-token prediction is not counted.
[[nodiscard]] ParameterCount count_parameters(const ModelShape& model);

// What to do about layers, hidden, heads or vocab that are missing, a head_dim that does not follow
// from them, or an object with nothing but an unknown name.
enum class MissingKeys {
  refuse,  // Error{format} that names them all
  leave,   // they stay 0, and a note names them: a closed form may need less than all
};

// A text beyond it is refused: parsed, the worst one takes some thirty times as much memory.
inline constexpr std::size_t kMostModelBytes = std::size_t{16} * 1024 * 1024;

// A shape from the `model` object of the formats, or from a Hugging Face config.json; which of the
// two is seen from the keys. An object with nothing but a name is the preset of that name.
// Throws Error{format} at the key that is wrong or missing, Error{unsupported} on a key that
// changes the count and is not understood (encoder-decoder, unknown attention or mixer). A stated
// parameter count more than 2 % off the derived one is noted ("params-differ"), and so is a name
// whose size contradicts the shape ("model-name-differs").
[[nodiscard]] ModelShape parse_model(std::string_view json_text, const std::string& source,
                                     Notes& notes, MissingKeys missing = MissingKeys::refuse);

struct ModelPreset {
  std::string_view name;  // as `mfu list models` prints it
  std::span<const std::string_view> aliases;
  std::string_view source;
};
[[nodiscard]] std::span<const ModelPreset> model_presets() noexcept;

// Case-folded; '-', '_', '.' and spaces are equal, and so are "llama3" and "llama-3". What stands
// before a '/' and words that leave the shape alone ("instruct", "base", "hf") do not count.
// Throws Error{unsupported} with the variants ("7b", "llama") or the nearest names; never a guess.
[[nodiscard]] ModelShape find_model(std::string_view name);

}  // namespace mfu
