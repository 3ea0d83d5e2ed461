// Weights that a token meets in one layer of each kind, and how many layers of each kind there are.
#include <algorithm>

#include "flops/exact.hpp"

namespace mfu {
namespace {

double real(std::int64_t value) noexcept { return static_cast<double>(value); }

double matrices(const ModelShape& model, const ExactRules& rules) {
  return model.gated_mlp || rules.always_gated ? 3.0 : 2.0;
}

}  // namespace

AttentionWidths attention_widths(const ModelShape& model, bool heads_fill_hidden) {
  AttentionWidths widths;
  widths.heads = real(model.heads);
  widths.kv_heads = model.kv_heads > 0 ? real(model.kv_heads) : widths.heads;
  if (model.mla && !heads_fill_hidden) {
    widths.query_key = real(model.mla->qk_nope + model.mla->qk_rope);
    widths.value = real(model.mla->v);
    return widths;
  }
  const bool given = model.head_dim > 0 && !heads_fill_hidden;
  const double filled = widths.heads > 0.0 ? real(model.hidden) / widths.heads : 0.0;
  widths.query_key = given ? real(model.head_dim) : filled;
  widths.value = widths.query_key;
  return widths;
}

// MLA: DeepSeek-V2 (arXiv:2405.04434), section 2.1 and appendix C. Ordinary attention: h d (H + 2K)
// and H d h.
AttentionWeights attention_weights(const ModelShape& model, const ExactRules& rules) {
  const double hidden = real(model.hidden);
  const AttentionWidths widths = attention_widths(model, rules.heads_fill_hidden);
  if (!model.mla || rules.heads_fill_hidden) {
    return {hidden * widths.query_key * (widths.heads + 2.0 * widths.kv_heads),
            widths.heads * widths.value * hidden};
  }
  const double query_rank = real(model.mla->q_lora);
  const double rank = real(model.mla->kv_lora);
  const double queries = widths.heads * widths.query_key;
  // A norm over each latent is one multiply-add for each of its values.
  const double norm = rules.latent_norms ? 1.0 : 0.0;
  AttentionWeights weights;
  weights.qkv = query_rank > 0.0 ? query_rank * (hidden + queries + norm) : hidden * queries;
  weights.qkv += hidden * (rank + real(model.mla->qk_rope)) +
                 rank * widths.heads * real(model.mla->qk_nope + model.mla->v) + rank * norm;
  weights.output = widths.heads * widths.value * hidden;
  return weights;
}

double mlp_weights(const ModelShape& model, const ExactRules& rules) {
  return matrices(model, rules) * real(model.hidden) * real(model.ffn_hidden);
}

// A latent MoE projects down to the latent width and back up, once a token.
double expert_weights(const ModelShape& model, const ExactRules& rules) {
  const double width = real(model.latent > 0 ? model.latent : model.hidden);
  const double experts = matrices(model, rules) * width * real(model.top_k) * real(model.moe_ffn);
  const double projections = model.latent > 0 ? 2.0 * real(model.hidden) * real(model.latent) : 0.0;
  return experts + projections;
}

double shared_expert_weights(const ModelShape& model, const ExactRules& rules) {
  return matrices(model, rules) * real(model.hidden) * real(model.shared_ffn);
}

double router_weights(const ModelShape& model) { return real(model.hidden) * real(model.experts); }

LayerCounts count_pattern(std::string_view pattern) {
  const auto letters = [&](char letter) {
    return static_cast<double>(std::count(pattern.begin(), pattern.end(), letter));
  };
  LayerCounts layers;
  layers.attention = letters('*');
  layers.dense = letters('-');
  layers.moe = letters('E');
  layers.mamba = letters('M');
  return layers;
}

LayerCounts count_layers(const ModelShape& model) {
  LayerCounts layers;
  if (!model.pattern.empty()) {
    layers = count_pattern(model.pattern);
  } else {
    layers.attention = real(model.layers);
    layers.moe = model.experts > 0 ? std::min(real(model.moe_layers), real(model.layers)) : 0.0;
    layers.dense = real(model.layers) - layers.moe;
  }
  layers.local = model.window > 0 ? std::min(real(model.local_layers), layers.attention) : 0.0;
  return layers;
}

}  // namespace mfu
