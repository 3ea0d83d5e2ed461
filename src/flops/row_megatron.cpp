// Megatron and what descends from it.
#include <array>

#include "flops/closed_forms.hpp"
#include "flops/exact.hpp"
#include "flops/rows.hpp"
#include "flops/switches.hpp"

namespace mfu {
namespace {

constexpr ExactRules kMegatron{
    .latent_norms = true, .pattern_mtp_layers_only = true, .mamba_inner_is_2h = true};

FlopCount megatron(const ModelShape& model, const Work& work, const Switches& resolved) {
  return exact_count(model, work, resolved, kMegatron);
}

// 24 c L h^2 (1 + s/(6h) + V/(16 L h)), c = 3, or 4 with activation checkpointing. V/(16 L h) is
// right for c = 4 only: with 3 the logits come out as 4.5 h V instead of 6 h V.
FlopCount early_descendant(const ModelShape& model, const Work& work, const Switches& resolved,
                           std::string_view id) {
  const RecomputeCount recompute = resolved.recompute.value_or(RecomputeCount::none);
  if (recompute != RecomputeCount::none && recompute != RecomputeCount::full) {
    refuse(id, recompute);
  }
  const SquareForm form = square_form(model, work, id);
  const double one_pass = form.layers + form.attention + 0.75 * form.logits;
  FlopCount count;
  count.model_flops = 3.0 * one_pass;
  count.hardware_flops = (recompute == RecomputeCount::full ? 4.0 : 3.0) * one_pass;
  return count;
}

FlopCount gpt_neox(const ModelShape& model, const Work& work, const Switches& resolved) {
  return early_descendant(model, work, resolved, "gpt-neox");
}

FlopCount megatron_deepspeed(const ModelShape& model, const Work& work, const Switches& resolved) {
  return early_descendant(model, work, resolved, "megatron-deepspeed");
}

const Switches kSquares{{}, {}, {}, RecomputeCount::none, {}};

const std::array<Convention, 4> kMegatronRows{{
    {.id = "megatron-lm",
     .title = "Megatron-LM's throughput line",
     .formula = "exact count, attention halved, no router, no window; MTP depth: a layer, "
                "2h^2 + 3h and the logits again",
     .leaves_out = "router and windows left out, MTP's projection too in hybrid stacks; the norms "
                   "of MLA's latents (4e-6) and of MTP counted; "
                   "Mamba's inner width is taken as 2h; vocabulary as padded by the run",
     .source = "NVIDIA/Megatron-LM megatron/training/training.py, num_floating_point_operations, "
               "at d98e8a64",
     .date = "2026",
     .defaults = exact_switches(AttentionCount::causal, false, false),
     .count = megatron},
    {.id = "megatron-bridge",
     .title = "Megatron-Bridge's throughput line",
     .formula = "as megatron-lm, and windows: w - w(w-1)/(2s)",
     .leaves_out =
         "router left out; the norms of MLA's latents (4e-6) and of MTP counted; Mamba's inner "
         "width is taken as 2h; before 26.06 gpt-oss had two matrices of three and no window",
     .source = "NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/flop_utils.py at "
               "067f987d",
     .date = "2026-08",
     .defaults = exact_switches(AttentionCount::causal, true, false),
     .count = megatron},
    {.id = "gpt-neox",
     .title = "GPT-NeoX's throughput line",
     .formula = "72 L h^2 (1 + s/(6h) + V/(16 L h)); checkpointed: 96 for 72",
     .leaves_out = "logits are 4.5 h V instead of 6 h V unless checkpointed; f = 4h, no grouped "
                   "queries, no gated MLP, attention not halved",
     .source = "EleutherAI/gpt-neox megatron/logging.py, get_flops",
     .date = "2023",
     .defaults = kSquares,
     .count = gpt_neox},
    {.id = "megatron-deepspeed",
     .title = "Megatron-DeepSpeed's throughput line",
     .formula = "72 L h^2 (1 + s/(6h) + V/(16 L h)); checkpointed: 96 for 72",
     .leaves_out =
         "logits are 4.5 h V instead of 6 h V unless checkpointed; f = 4h, no grouped "
         "queries, no gated MLP (BigScience's --glu multiplies all of it by 4/3), attention "
         "not halved",
     .source =
         "deepspeedai/Megatron-DeepSpeed megatron/utils.py, throughput_calculator, before its "
         "pull requests 350 and 371",
     .date = "2022",
     .defaults = kSquares,
     .count = megatron_deepspeed},
}};

}  // namespace

std::span<const Convention> megatron_rows() noexcept { return kMegatronRows; }

}  // namespace mfu
