// The exact count: every matrix multiplication of a model, per component and token. Conventions are
// settings of it (ExactRules); what an implementation does otherwise is a named setting as well, so
// that its own figure comes out.
//
// Symbols as in mfu/model.hpp; one multiply-add is 2 FLOPs; values are per token.
#pragma once

#include <string_view>
#include <vector>

#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace mfu {

// What a query of a layer with window w sees, on average over a sequence of s > w tokens.
enum class WindowCount {
  pairs,       // w - w(w-1)/(2s): exact for causal attention, w counts the token itself
  continuous,  // w - w^2/(2s): MaxText
  half,        // min(w, s)/2: verl
};

// The router, embedding and so on that an implementation counts or not, beside the switches that a
// user sets. Everything false: the exact count.
struct ExactRules {
  WindowCount window = WindowCount::pairs;
  bool ignores_packing = false;          // uses the sequence length whatever the documents are
  bool heads_fill_hidden = false;        // takes d = h/H, whatever the head dimension is
  bool always_gated = false;             // three matrices, whatever the MLP is
  bool all_layers_moe = false;           // dense layers of a mixed stack are counted as MoE
  bool embedding_as_matmul = false;      // 2 h V for the look-up
  bool softmax = false;                  // 3 FLOPs a score
  bool latent_norms = false;             // MLA's two norms, MTP's three
  bool query_key_norms = false;          // H d weights each for the norms of queries and keys
  bool mtp_layers_only = false;          // MTP adds layers, no projection and no logits
  bool pattern_mtp_layers_only = false;  // the same of projections, in stacks by pattern
  bool skips_mtp = false;
  bool mamba_inner_is_2h = false;  // Mamba's inner width taken as 2h
  double scan_per_state = 7.0;     // FLOPs of the scan for each of the D S state values
};

// Forward FLOPs of one component by what their backward pass and recomputation cost.
struct ExactPart {
  std::string_view id;
  double weights = 0.0;   // a weight matrix: backward is input gradient + weight gradient
  double scores = 0.0;    // Q K^T and scores x values: no weights, backward is 2 x forward
  double other = 0.0;     // no weights either, but no attention: the Mamba scan, softmax
  bool in_layers = true;  // recomputed with the layers; logits and embedding are not

  [[nodiscard]] double forward() const noexcept { return weights + scores + other; }
};

// Mean number of keys that a query sees. window 0: all. Throws Error{insufficient} without a
// length.
[[nodiscard]] double mean_context(const Work& work, AttentionCount attention, double window,
                                  WindowCount count, bool ignores_packing);

// Heads, head dimensions: the shape's, or what it implies.
struct AttentionWidths {
  double heads = 0.0;
  double kv_heads = 0.0;
  double query_key = 0.0;  // per head
  double value = 0.0;      // per head
  // Of scores and values together: H (d_qk + d_v).
  [[nodiscard]] double core() const noexcept { return heads * (query_key + value); }
};
[[nodiscard]] AttentionWidths attention_widths(const ModelShape& model, bool heads_fill_hidden);

// Weights that a token meets in one layer, and the two sides of MLA or ordinary attention.
struct AttentionWeights {
  double qkv = 0.0;
  double output = 0.0;
};
[[nodiscard]] AttentionWeights attention_weights(const ModelShape& model, const ExactRules& rules);
[[nodiscard]] double mlp_weights(const ModelShape& model, const ExactRules& rules);
[[nodiscard]] double expert_weights(const ModelShape& model, const ExactRules& rules);
[[nodiscard]] double shared_expert_weights(const ModelShape& model, const ExactRules& rules);
[[nodiscard]] double router_weights(const ModelShape& model);

struct MambaLayer {
  double projections = 0.0;  // weights
  double scan = 0.0;         // FLOPs forward
};
[[nodiscard]] MambaLayer mamba_layer(const ModelShape& model, const ExactRules& rules);

// Layers by kind. A plain stack has as many attention layers as layers.
struct LayerCounts {
  double attention = 0.0;
  double local = 0.0;  // of those: with a window
  double dense = 0.0;
  double moe = 0.0;
  double mamba = 0.0;
};
[[nodiscard]] LayerCounts count_layers(const ModelShape& model);
[[nodiscard]] LayerCounts count_pattern(std::string_view pattern);

// Components in the order of a forward pass; those of no work are left out.
[[nodiscard]] std::vector<ExactPart> exact_parts(const ModelShape& model, const Work& work,
                                                 const Switches& resolved, const ExactRules& rules);

// Forward, backward and recomputation over the parts.
[[nodiscard]] FlopCount count_parts(const std::vector<ExactPart>& parts, const Switches& resolved);

[[nodiscard]] FlopCount exact_count(const ModelShape& model, const Work& work,
                                    const Switches& resolved, const ExactRules& rules);

}  // namespace mfu
