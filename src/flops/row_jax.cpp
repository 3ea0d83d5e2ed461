// MaxText and levanter.
#include <array>

#include "flops/exact.hpp"
#include "flops/rows.hpp"

namespace mfu {
namespace {

FlopCount maxtext(const ModelShape& model, const Work& work, const Switches& resolved) {
  return exact_count(model, work, resolved,
                     {.window = WindowCount::continuous, .mtp_layers_only = true});
}

FlopCount maxtext_2025_06(const ModelShape& model, const Work& work, const Switches& resolved) {
  Switches switches = resolved;
  // The one family that was halved already: s/2 on global layers, w/2 on local ones.
  if (model.family.starts_with("gemma3") && switches.attention == AttentionCount::full) {
    switches.attention = AttentionCount::causal;
    switches.honour_window = true;
  }
  return exact_count(model, work, switches, {.window = WindowCount::half, .mtp_layers_only = true});
}

FlopCount levanter(const ModelShape& model, const Work& work, const Switches& resolved) {
  return exact_count(model, work, resolved,
                     {.heads_fill_hidden = true, .softmax = true, .skips_mtp = true});
}

const std::array<Convention, 3> kJaxRows{{
    {.id = "maxtext",
     .title = "MaxText's TFLOP/s per device",
     .formula =
         "exact count with router, attention halved; window w: w - w^2/(2s); MTP: its layers",
     .leaves_out = "MTP's projection and logits",
     .source = "AI-Hypercomputer/maxtext src/maxtext/utils/maxtext_utils.py, "
               "calculate_tflops_training_per_device, at e591f30c",
     .date = "2025-07",
     .defaults = exact_switches(AttentionCount::causal, true, true),
     .count = maxtext},
    {.id = "maxtext-2025-06",
     .title = "MaxText before attention was halved",
     .formula =
         "exact count with router, full attention, no window; Gemma 3: s/2 on global and w/2 on "
         "local layers",
     .leaves_out = "windows ignored, attention not halved, but both for Gemma 3",
     .source = "AI-Hypercomputer/maxtext, before pull request 1988",
     .date = "2025-06",
     .defaults = exact_switches(AttentionCount::full, false, true),
     .count = maxtext_2025_06},
    {.id = "levanter",
     .title = "levanter's lm_flops_per_token, forward and backward",
     .formula =
         "exact count with router and d = h/H, full attention, + 9 s H per layer for softmax and "
         "mask",
     .leaves_out =
         "MTP left out; wrong where the head dimension is not h/H (Qwen3, Gemma, gpt-oss)",
     .source = "stanford-crfm/levanter src/levanter/utils/flop_utils.py at 9263f81e, x 3",
     .date = "2025",
     .defaults = exact_switches(AttentionCount::full, false, true),
     .count = levanter},
}};

}  // namespace

std::span<const Convention> jax_rows() noexcept { return kJaxRows; }

}  // namespace mfu
