// OLMo, OLMo-core and Lingua.
#include <array>

#include "flops/closed_forms.hpp"
#include "flops/rows.hpp"
#include "flops/stated_params.hpp"

namespace mfu {
namespace {

// Forward 2 N_nonemb + 4 L h s, backward 4 N + 8 L h s: the table is not a matrix multiplication
// forward but counted backward.
FlopCount olmo(const ModelShape& model, const Work& work, const Switches& resolved) {
  const ParamsForm form{.id = "olmo", .width_is_hidden = true, .ignores_packing = true};
  const std::string_view who = "the convention 'olmo'";
  const double without = params_taken(model, work, ParamsTaken::active_without_lookup, who);
  const double attention = attention_forward(model, work, resolved, form);
  FlopCount count;
  count.params = params_taken(model, work, ParamsTaken::active, who);
  count.model_flops = 2.0 * without + attention;
  if (resolved.trainable != Trainable::none) {
    const double passes = resolved.trainable == Trainable::lora ? 2.0 : 4.0;
    *count.model_flops += passes * count.params + 2.0 * attention;
  }
  return count;
}

FlopCount olmo_core(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_count(
      model, work, resolved,
      {.id = "olmo-core", .taken = ParamsTaken::without_input_table, .ignores_packing = true});
}

// Attention forward and backward is taken as 3.5 forward passes: FlashAttention makes the scores
// again in its backward pass, five products for two.
FlopCount lingua(const ModelShape& model, const Work& work, const Switches& resolved) {
  const ParamsForm form{.id = "lingua", .width_is_hidden = true, .ignores_packing = true};
  FlopCount count;
  count.params =
      params_taken(model, work, ParamsTaken::without_token_table, "the convention 'lingua'");
  count.model_flops = 6.0 * count.params + 3.5 * attention_forward(model, work, resolved, form);
  return count;
}

const std::array<Convention, 3> kOlmoRows{{
    {.id = "olmo",
     .title = "OLMo's MFU (version 1)",
     .formula = "2 (N - embeddings) + 4 L h s forward, 4N + 8 L h s backward",
     .leaves_out = "the input embedding counts in the backward pass only; attention not halved",
     .source = "allenai/OLMo olmo/model.py, num_fwd_flops and num_bck_flops",
     .date = "2024",
     .defaults = {AttentionCount::full, false, {}, {}, Trainable::all},
     .count = olmo},
    {.id = "olmo-core",
     .title = "OLMo-core's MFU",
     .formula = "6 (N - input embedding) + 12 H d min(w, s) per layer",
     .leaves_out =
         "norms are counted; attention not halved; its A100 peak was 156 TFLOP/s until pull "
         "request 614",
     .source = "allenai/OLMo-core src/olmo_core/nn, num_flops_per_token",
     .date = "2025",
     .defaults = params_switches(AttentionCount::full, true),
     .count = olmo_core},
    {.id = "lingua",
     .title = "Meta Lingua's and BLT's FLOPs",
     .formula = "6 (N - V h) + 3.5 x 4 L h s / 2",
     .leaves_out =
         "attention halved, but its backward pass is 2.5 forward passes: the recomputation in "
         "FlashAttention is in the model FLOPs; a tied output is left out",
     .source = "facebookresearch/lingua apps/main/transformer.py, get_num_flop_per_token",
     .date = "2024-10",
     .defaults = {AttentionCount::causal, {}, {}, {}, {}},
     .count = lingua},
}};

}  // namespace

std::span<const Convention> olmo_rows() noexcept { return kOlmoRows; }

}  // namespace mfu
