// Calculators: EleutherAI's cookbook, and the estimate of litgpt.
#include <array>

#include "flops/closed_forms.hpp"
#include "flops/exact.hpp"
#include "flops/required.hpp"
#include "flops/rows.hpp"
#include "flops/stated_params.hpp"
#include "flops/switches.hpp"
#include "mfu/error.hpp"

namespace mfu {
namespace {

// The width of the MLP is 4h whatever the model's is, heads fill h, and the layers are taken c
// times: 3, 4 with checkpointing, 1 forward only. Logits once, and 4h for the embedding.
FlopCount cookbook(const ModelShape& model, const Work& work, const Switches& resolved) {
  if (model.experts > 0 || !model.pattern.empty()) {
    throw Error(ErrorKind::unsupported,
                "the convention 'cookbook' is known for dense stacks only: its terms for experts "
                "leave out layers and were not pinned by a value");
  }
  const Trainable trainable = resolved.trainable.value_or(Trainable::all);
  if (trainable == Trainable::lora) refuse("cookbook", trainable);
  const RecomputeCount recompute = resolved.recompute.value_or(RecomputeCount::none);
  if (recompute != RecomputeCount::none && recompute != RecomputeCount::full) {
    refuse("cookbook", recompute);
  }
  Missing missing;
  missing.need("layers", model.layers);
  missing.need("hidden", model.hidden);
  missing.need("heads", model.heads);
  missing.need("vocab", model.vocab);
  missing.need_seq_len(work, true);
  missing.check("the convention 'cookbook'");

  const auto layers = static_cast<double>(model.layers);
  const auto hidden = static_cast<double>(model.hidden);
  const AttentionWidths widths = attention_widths(model, true);
  const double square = hidden * hidden;
  const double passes = trainable == Trainable::none ? 1.0 : 3.0;
  FlopCount count;
  double of_layers = 0.0;
  const auto add = [&](std::string_view id, double forward) {
    count.components.push_back(
        {std::string(id), layers * forward, layers * forward * (passes - 1.0)});
    of_layers += layers * forward;
  };
  add("qkv", 2.0 * square * (1.0 + 2.0 * widths.kv_heads / widths.heads));
  add("scores_values", 4.0 * hidden * work.seq_len);
  add("attention_output", 2.0 * square);
  add("mlp", (model.gated_mlp ? 24.0 : 16.0) * square);
  const double logits = 2.0 * hidden * static_cast<double>(model.vocab);
  const double embedding = 4.0 * hidden;
  count.components.push_back({"embedding", embedding, 0.0});
  count.components.push_back({"logits", logits, 0.0});
  count.model_flops = passes * of_layers + embedding + logits;
  count.hardware_flops = *count.model_flops;
  if (recompute == RecomputeCount::full && trainable == Trainable::all) {
    *count.hardware_flops += of_layers;
  }
  return count;
}

// Trainable and frozen parameters are estimated each with the whole attention term, and added: the
// term is there twice, with 3 and with 2 passes (once and once more in inference), even where one
// of the two kinds has no parameters.
FlopCount litgpt(const ModelShape& model, const Work& work, const Switches& resolved) {
  const ParamsForm form{.id = "litgpt", .width_is_hidden = true, .ignores_packing = true};
  FlopCount count;
  count.params = params_taken(model, work, ParamsTaken::total, "the convention 'litgpt'");
  const double attention = attention_forward(model, work, resolved, form);
  switch (resolved.trainable.value_or(Trainable::all)) {
    case Trainable::all:
      count.model_flops = 3.0 * (2.0 * count.params + attention) + 2.0 * attention;
      break;
    case Trainable::lora:
      count.model_flops = 3.0 * attention + 2.0 * (2.0 * count.params + attention);
      break;
    case Trainable::none:
      count.model_flops = 2.0 * count.params + 2.0 * attention;
      break;
  }
  return count;
}

const std::array<Convention, 2> kCalculatorsRows{{
    {.id = "cookbook",
     .title = "EleutherAI cookbook's calc_transformer_flops",
     .formula = "3 L [2h^2 (1 + 2K/H) + 4 h s + 2h^2 + 8g h^2] + 2 h V + 4h; checkpointed: 4 for 3",
     .leaves_out =
         "logits forward only; the MLP is 4h wide whatever --ffn-hidden-size says; attention "
         "not halved; heads are assumed to fill h",
     .source = "EleutherAI/cookbook calc/calc_transformer_flops.py at 827ee3b2",
     .date = "2025",
     .defaults = {{}, {}, {}, RecomputeCount::none, Trainable::all},
     .count = cookbook},
    {.id = "litgpt",
     .title = "litgpt's estimate_flops",
     .formula = "3 (2N + 4 L h s) + 2 (0 + 4 L h s); frozen: 2 (2N + 4 L h s) + 3 x 4 L h s",
     .leaves_out = "the attention term is added for trainable and for frozen parameters, so twice; "
                   "embeddings counted; all experts counted; about 10 % above what it measures",
     .source = "Lightning-AI/litgpt litgpt/utils.py, estimate_flops",
     .date = "2024",
     .defaults = {AttentionCount::full, {}, {}, {}, Trainable::all},
     .count = litgpt},
}};

}  // namespace

std::span<const Convention> calculator_rows() noexcept { return kCalculatorsRows; }

}  // namespace mfu
