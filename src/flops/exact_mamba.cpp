// One Mamba-2 layer (Dao and Gu 2024, arXiv:2405.21060): the input projection makes gate, x, B, C
// and a step size for each head; the output projection returns to the hidden width. The scan costs
// about 7 FLOPs for each of the D S values of the state (Megatron-LM,
// megatron/training/training.py, 2025). The short convolution is not counted.
#include "flops/exact.hpp"

namespace mfu {

MambaLayer mamba_layer(const ModelShape& model, const ExactRules& rules) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto heads = static_cast<double>(model.mamba_heads);
  const auto state = static_cast<double>(model.mamba_state);
  const auto groups = static_cast<double>(model.mamba_groups);
  const double inner =
      rules.mamba_inner_is_2h ? 2.0 * hidden : heads * static_cast<double>(model.mamba_head_dim);
  MambaLayer layer;
  layer.projections = hidden * (2.0 * inner + 2.0 * groups * state + heads) + inner * hidden;
  layer.scan = rules.scan_per_state * inner * state;
  return layer;
}

}  // namespace mfu
