// Parameters of a shape, component by component. Doubles are exact here: counts stay far below
// 2^53.
#include <algorithm>

#include "mfu/model.hpp"

namespace mfu {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

// All widths of a shape once, as doubles.
struct Sizes {
  double hidden, heads, kv_heads, head_dim;

  explicit Sizes(const ModelShape& m)
      : hidden(real(m.hidden)),
        heads(real(m.heads)),
        kv_heads(real(m.kv_heads)),
        head_dim(real(m.head_dim)) {}
};

// A norm of some width: weight, and bias where there is one.
double norm(const ModelShape& m, double width) {
  if (!m.norm_weights) return 0.0;
  return m.norm_bias ? 2.0 * width : width;
}

struct Part {
  double total = 0.0;
  double active = 0.0;
  double norms = 0.0;  // already in the two above

  void add(double parameters) {
    total += parameters;
    active += parameters;
  }
  void add_norm(double parameters) {
    add(parameters);
    norms += parameters;
  }
  void add(const Part& part, double times = 1.0) {
    total += times * part.total;
    active += times * part.active;
    norms += times * part.norms;
  }
};

Part latent_attention(const ModelShape& m, const LatentAttention& mla) {
  const Sizes z(m);
  const double q = real(mla.q_lora);
  const double c = real(mla.kv_lora);
  const double qk = real(mla.qk_nope + mla.qk_rope);
  Part part;
  // Latents are normed by weight alone, whatever the family does elsewhere.
  if (q > 0.0) {
    part.add(z.hidden * q + q * z.heads * qk);
    part.add_norm(q);
  } else {
    part.add(z.hidden * z.heads * qk);
  }
  part.add(z.hidden * (c + real(mla.qk_rope)) + c * z.heads * real(mla.qk_nope + mla.v));
  part.add_norm(c);
  part.add(z.heads * real(mla.v) * z.hidden);
  if (m.bias || m.qkv_bias) part.add((q > 0.0 ? q : 0.0) + c + real(mla.qk_rope));
  if (m.bias || m.output_bias) part.add(z.hidden);
  return part;
}

Part attention(const ModelShape& m) {
  if (m.mla) return latent_attention(m, *m.mla);
  const Sizes z(m);
  const double query = z.heads * z.head_dim;
  const double key = z.kv_heads * z.head_dim;
  Part part;
  part.add(z.hidden * (query + 2.0 * key) + query * z.hidden);
  if (m.bias || m.qkv_bias) part.add(query + 2.0 * key);
  if (m.bias || m.output_bias) part.add(z.hidden);
  if (m.qk_norm_wide) {
    part.add_norm(query + key);
  } else if (m.qk_norm) {
    part.add_norm(2.0 * z.head_dim);
  }
  if (m.attention_sinks) part.add(z.heads);
  return part;
}

// `width` hidden units between `outer` inputs and outputs.
double mlp(const ModelShape& m, double outer, double width) {
  const double inward = m.gated_mlp ? 2.0 : 1.0;
  double parameters = (inward + 1.0) * outer * width;
  if (m.bias || m.mlp_bias) parameters += inward * width + outer;
  return parameters;
}

Part experts(const ModelShape& m) {
  const Sizes z(m);
  const double count = real(m.experts);
  Part part;
  const double outer = m.latent > 0 ? real(m.latent) : z.hidden;
  const double one = mlp(m, outer, real(m.moe_ffn));
  part.total += count * one;
  part.active += real(std::min(m.top_k, m.experts)) * one;
  if (m.latent > 0) part.add(2.0 * z.hidden * outer);
  part.add(z.hidden * count);  // router
  if (m.bias) part.add(count);
  if (m.router_bias) part.total += count;
  if (m.shared_ffn > 0) {
    part.add(mlp(m, z.hidden, real(m.shared_ffn)));
    if (m.shared_gate) part.add(z.hidden);
  }
  return part;
}

Part mamba2(const ModelShape& m) {
  const Sizes z(m);
  const double heads = real(m.mamba_heads);
  const double inner = heads * real(m.mamba_head_dim);
  const double mixed = inner + 2.0 * real(m.mamba_groups) * real(m.mamba_state);
  Part part;
  part.add(z.hidden * (inner + mixed + heads));  // z, then x, B and C, then dt
  part.add(mixed * (real(m.mamba_conv) + 1.0));  // convolution with bias
  part.add(3.0 * heads);                         // A, D, dt bias
  part.add_norm(inner);                          // gated norm
  part.add(inner * z.hidden);
  return part;
}

Part pattern_layer(const ModelShape& m, char kind) {
  Part part;
  part.add_norm(norm(m, real(m.hidden)));
  if (kind == 'M') part.add(mamba2(m));
  if (kind == '*') part.add(attention(m));
  if (kind == 'E') part.add(experts(m));
  if (kind == '-') part.add(mlp(m, real(m.hidden), real(m.ffn_hidden)));
  return part;
}

Part stack(const ModelShape& m) {
  Part all;
  if (!m.pattern.empty()) {
    for (const char kind : {'M', '*', 'E', '-'}) {
      const auto times = std::count(m.pattern.begin(), m.pattern.end(), kind);
      if (times > 0) all.add(pattern_layer(m, kind), static_cast<double>(times));
    }
    return all;
  }
  Part each = attention(m);
  each.add_norm(real(m.layer_norms) * norm(m, real(m.hidden)));
  all.add(each, real(m.layers));
  if (m.moe_layers > 0) all.add(experts(m), real(m.moe_layers));
  Part dense;
  dense.add(mlp(m, real(m.hidden), real(m.ffn_hidden)));
  all.add(dense, real(m.layers - m.moe_layers));
  return all;
}

}  // namespace

ParameterCount count_parameters(const ModelShape& model) {
  const double hidden = real(model.hidden);
  Part all = stack(model);
  all.add_norm(norm(model, hidden));
  if (model.embedding_norm) all.add_norm(norm(model, hidden));

  ParameterCount count;
  count.embedding = real(model.vocab) * hidden;
  count.positions = real(model.learned_positions) * hidden;
  count.output = model.tied_embeddings ? 0.0 : count.embedding;
  if (model.head_bias) count.output += real(model.vocab);
  all.add(count.embedding + count.positions + count.output);
  count.norms = all.norms;
  count.total = all.total;
  count.active = all.active;
  return count;
}

}  // namespace mfu
