#include "model/family.hpp"

#include <algorithm>

namespace mfu {
namespace {

// Types that differ only in what a config says itself share a set of defaults.
constexpr Family kFamilies[] = {
    {.model_type = "gpt2",
     .gated = false,
     .tied = true,
     .bias = true,
     .norm_bias = true,
     .extra_positions = 0},
    {.model_type = "gpt3",
     .gated = false,
     .tied = true,
     .bias = true,
     .norm_bias = true,
     .extra_positions = 0},
    {.model_type = "gpt_bigcode",
     .gated = false,
     .tied = true,
     .bias = true,
     .norm_bias = true,
     .extra_positions = 0},
    {.model_type = "starcoder2", .gated = false, .tied = true, .bias = true, .norm_bias = true},
    // OPT's table has two rows that no token uses.
    {.model_type = "opt",
     .gated = false,
     .tied = true,
     .bias = true,
     .norm_bias = true,
     .extra_positions = 2},
    {.model_type = "bloom",
     .gated = false,
     .tied = true,
     .bias = true,
     .norm_bias = true,
     .embedding_norm = true},
    {.model_type = "gpt_neox", .gated = false, .bias = true, .norm_bias = true},
    {.model_type = "gptj",
     .gated = false,
     .mlp_bias = true,
     .head_bias = true,
     .norm_bias = true,
     .layer_norms = 1},
    {.model_type = "phi",
     .gated = false,
     .bias = true,
     .head_bias = true,
     .norm_bias = true,
     .layer_norms = 1},
    {.model_type = "falcon", .gated = false, .tied = true, .norm_bias = true},
    {.model_type = "mpt", .gated = false, .tied = true},
    {.model_type = "nemotron", .gated = false, .norm_bias = true},
    {.model_type = "nemotron_h", .gated = false, .router_bias = true},
    {.model_type = "palm", .tied = true, .layer_norms = 1},
    {.model_type = "llama"},
    {.model_type = "mistral"},
    {.model_type = "mixtral"},
    {.model_type = "ministral"},
    {.model_type = "phi3"},
    {.model_type = "stablelm", .norm_bias = true},
    {.model_type = "internlm2"},
    {.model_type = "granite"},
    {.model_type = "granitemoe", .tied = true},
    {.model_type = "smollm3", .tied = true},
    {.model_type = "apertus", .gated = false, .qk_norm = true},
    {.model_type = "cohere", .tied = true, .layer_norms = 1},
    {.model_type = "cohere2", .tied = true, .layer_norms = 1},
    {.model_type = "qwen2", .qkv_bias = true, .window = Window::switched},
    {.model_type = "qwen2_vl", .qkv_bias = true, .window = Window::switched},
    {.model_type = "qwen2_5_vl", .qkv_bias = true, .window = Window::switched},
    {.model_type = "qwen2_moe", .qkv_bias = true, .shared_gate = true, .window = Window::switched},
    {.model_type = "qwen3", .qk_norm = true, .window = Window::switched},
    {.model_type = "qwen3_vl", .qk_norm = true, .window = Window::switched},
    {.model_type = "qwen3_moe", .qk_norm = true, .window = Window::switched},
    {.model_type = "qwen3_vl_moe", .qk_norm = true, .window = Window::switched},
    {.model_type = "gemma", .tied = true},
    {.model_type = "gemma2", .tied = true, .layer_norms = 4, .window = Window::alternate},
    {.model_type = "gemma3",
     .tied = true,
     .qk_norm = true,
     .layer_norms = 4,
     .window = Window::five_of_six},
    {.model_type = "olmo", .norm_weights = false},
    {.model_type = "olmo2", .qk_norm_wide = true},
    {.model_type = "olmo3", .qk_norm_wide = true},
    {.model_type = "olmoe", .qk_norm_wide = true},
    {.model_type = "deepseek"},
    {.model_type = "deepseek_v2"},
    {.model_type = "deepseek_v3", .router_bias = true},
    {.model_type = "kimi_k2", .router_bias = true},
    {.model_type = "gpt_oss", .bias = true, .attention_sinks = true, .window = Window::alternate},
    {.model_type = "chatglm", .qkv_bias = true},
    {.model_type = "glm", .qkv_bias = true},
    {.model_type = "glm4", .qkv_bias = true, .layer_norms = 4},
    {.model_type = "glm4_moe", .qkv_bias = true, .router_bias = true},
};

const Family* exact(std::string_view model_type) noexcept {
  const auto* const found =
      std::find_if(std::begin(kFamilies), std::end(kFamilies),
                   [&](const Family& family) { return family.model_type == model_type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace

const Family* find_family(std::string_view model_type) noexcept {
  if (const Family* const family = exact(model_type)) return family;
  constexpr std::string_view kText = "_text";
  if (!model_type.ends_with(kText)) return nullptr;
  model_type.remove_suffix(kText.size());
  return exact(model_type);
}

void apply_family(const Family& family, ModelShape& model) {
  model.family = std::string(family.model_type);
  model.gated_mlp = family.gated;
  model.tied_embeddings = family.tied;
  model.bias = family.bias;
  model.qkv_bias = family.qkv_bias;
  model.mlp_bias = family.mlp_bias;
  model.head_bias = family.head_bias;
  model.norm_bias = family.norm_bias;
  model.norm_weights = family.norm_weights;
  model.qk_norm = family.qk_norm;
  model.qk_norm_wide = family.qk_norm_wide;
  model.embedding_norm = family.embedding_norm;
  model.attention_sinks = family.attention_sinks;
  model.shared_gate = family.shared_gate;
  model.router_bias = family.router_bias;
  model.layer_norms = family.layer_norms;
}

}  // namespace mfu
