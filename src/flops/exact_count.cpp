// Components of a whole model, then forward, backward and recomputation over them.
#include <algorithm>

#include "flops/exact.hpp"
#include "flops/required.hpp"

namespace mfu {
namespace {

// The layers of a stack: the model's own, or those of one MTP depth.
struct Stack {
  LayerCounts layers;
  double attention_context = 0.0;
  double local_context = 0.0;
};

std::vector<ExactPart> layer_parts(const ModelShape& model, const Stack& stack,
                                   const Switches& resolved, const ExactRules& rules) {
  const LayerCounts& layers = stack.layers;
  const AttentionWeights attention = attention_weights(model, rules);
  const double core = attention_widths(model, rules.heads_fill_hidden).core();
  const double global = layers.attention - layers.local;
  const double keys = global * stack.attention_context + layers.local * stack.local_context;

  std::vector<ExactPart> parts;
  const auto add_weights = [&](std::string_view id, double weights) {
    if (weights > 0.0) parts.push_back({id, 2.0 * weights});
  };
  const auto add_other = [&](std::string_view id, double weights, double scores, double other) {
    if (weights + scores + other > 0.0) parts.push_back({id, 2.0 * weights, scores, other});
  };
  const MambaLayer mamba = layers.mamba > 0.0 ? mamba_layer(model, rules) : MambaLayer{};
  add_other("mamba", layers.mamba * mamba.projections, 0.0, layers.mamba * mamba.scan);
  add_weights("qkv", layers.attention * attention.qkv);
  add_other("scores_values", 0.0, 2.0 * core * keys, 0.0);
  if (rules.softmax) {
    add_other("softmax", 0.0, 0.0, 3.0 * static_cast<double>(model.heads) * keys);
  }
  add_weights("attention_output", layers.attention * attention.output);
  if (rules.query_key_norms) {
    const AttentionWidths widths = attention_widths(model, rules.heads_fill_hidden);
    add_weights("norms", layers.attention * 2.0 * widths.heads * widths.query_key);
  }
  add_weights("mlp", layers.dense * mlp_weights(model, rules));
  add_weights("experts", layers.moe * expert_weights(model, rules));
  add_weights("shared_experts", layers.moe * shared_expert_weights(model, rules));
  if (resolved.count_router.value_or(true)) {
    add_weights("router", layers.moe * router_weights(model));
  }
  return parts;
}

// One depth of multi-token prediction (DeepSeek-V3, arXiv:2412.19437, section 2.2): a projection of
// two hidden states to one, one layer of the model's last kind, and the shared output head.
ExactPart mtp_part(const ModelShape& model, const Stack& main, const Switches& resolved,
                   const ExactRules& rules) {
  const auto hidden = static_cast<double>(model.hidden);
  Stack depth = main;
  if (!model.mtp_pattern.empty()) {
    depth.layers = count_pattern(model.mtp_pattern);
  } else {
    const bool moe = main.layers.moe > 0.0;
    depth.layers = {1.0, 0.0, moe ? 0.0 : 1.0, moe ? 1.0 : 0.0, 0.0};
  }
  const double norms = rules.latent_norms ? 3.0 * hidden : 0.0;
  const bool no_projection =
      rules.mtp_layers_only || (rules.pattern_mtp_layers_only && !model.pattern.empty());
  const double projection = no_projection ? 0.0 : 2.0 * hidden * hidden + norms;
  ExactPart part{"mtp", 2.0 * projection};
  for (const ExactPart& layer : layer_parts(model, depth, resolved, rules)) {
    part.weights += layer.weights;
    part.scores += layer.scores;
    part.other += layer.other;
  }
  const auto depths = static_cast<double>(model.mtp_layers);
  part.weights *= depths;
  part.scores *= depths;
  part.other *= depths;
  return part;
}

}  // namespace

std::vector<ExactPart> exact_parts(const ModelShape& model, const Work& work,
                                   const Switches& resolved, const ExactRules& rules) {
  const AttentionCount attention = resolved.attention.value_or(AttentionCount::none);
  Missing missing;
  require_layers(model, missing);
  missing.need("vocab", model.vocab);
  if (attention != AttentionCount::none) missing.need_seq_len(work, rules.ignores_packing);
  missing.check("the exact count");

  Stack stack;
  stack.layers = count_layers(model);
  if (rules.all_layers_moe && stack.layers.moe > 0.0) {
    stack.layers.moe += stack.layers.dense;
    stack.layers.dense = 0.0;
  }
  if (!resolved.honour_window.value_or(false)) stack.layers.local = 0.0;
  const auto context = [&](double window) {
    return mean_context(work, attention, window, rules.window, rules.ignores_packing);
  };
  stack.attention_context = context(0.0);
  stack.local_context = context(static_cast<double>(model.window));

  std::vector<ExactPart> parts;
  const double table = static_cast<double>(model.hidden) * static_cast<double>(model.vocab);
  if (rules.embedding_as_matmul) parts.push_back({"embedding", 2.0 * table, 0.0, 0.0, false});
  const std::vector<ExactPart> layers = layer_parts(model, stack, resolved, rules);
  parts.insert(parts.end(), layers.begin(), layers.end());
  const auto depths = rules.skips_mtp ? 0.0 : static_cast<double>(model.mtp_layers);
  if (depths > 0.0) parts.push_back(mtp_part(model, stack, resolved, rules));
  const double heads = 1.0 + (rules.mtp_layers_only ? 0.0 : depths);
  parts.push_back({"logits", 2.0 * table * heads, 0.0, 0.0, false});
  return parts;
}

FlopCount count_parts(const std::vector<ExactPart>& parts, const Switches& resolved) {
  const Trainable trainable = resolved.trainable.value_or(Trainable::all);
  // Backward of a weight matrix is the input gradient, and the weight gradient unless it is frozen;
  // each costs as much as forward. What has no weights has two inputs, hence two gradients.
  const double weight_passes = trainable == Trainable::all ? 2.0 : 1.0;
  FlopCount count;
  double model_flops = 0.0;
  double again = 0.0;
  for (const ExactPart& part : parts) {
    const double backward = trainable == Trainable::none
                                ? 0.0
                                : weight_passes * part.weights + 2.0 * (part.scores + part.other);
    count.components.push_back({std::string(part.id), part.forward(), backward});
    model_flops += part.forward() + backward;
    switch (resolved.recompute.value_or(RecomputeCount::none)) {
      case RecomputeCount::none:
        break;
      case RecomputeCount::selective:       // the attention core of every layer (Korthikanti 2022)
      case RecomputeCount::palm_attention:  // the same, as PaLM's 8B and 62B did
        again += part.scores;
        break;
      case RecomputeCount::full:  // the layers, not the logits (Narayanan 2021, section 3.5)
        if (part.in_layers) again += part.forward();
        break;
      case RecomputeCount::palm:  // PaLM 540B, appendix B: 75 % of the rest, all of attention
        again += 0.75 * (part.weights + part.other) + part.scores;
        break;
    }
  }
  // Without a backward pass nothing is recomputed for it.
  if (trainable == Trainable::none) again = 0.0;
  count.model_flops = model_flops;
  count.hardware_flops = model_flops + again;
  return count;
}

FlopCount exact_count(const ModelShape& model, const Work& work, const Switches& resolved,
                      const ExactRules& rules) {
  return count_parts(exact_parts(model, work, resolved, rules), resolved);
}

}  // namespace mfu
