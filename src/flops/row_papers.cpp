// Conventions that papers defined.
#include <array>

#include "flops/closed_forms.hpp"
#include "flops/rows.hpp"
#include "flops/switches.hpp"

namespace mfu {
namespace {

FlopCount palm(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_count(model, work, resolved, {.id = "palm"});
}

FlopCount six_n(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_only(model, work, resolved, "6n", ParamsTaken::active);
}

FlopCount six_n_kaplan(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_only(model, work, resolved, "6n-kaplan", ParamsTaken::without_embeddings);
}

// 96 B s L h^2 (1 + s/(6h) + V/(16 L h)): the layers four times (forward, twice backward, forward
// again), the logits three times.
FlopCount narayanan(const ModelShape& model, const Work& work, const Switches& resolved) {
  if (resolved.recompute != RecomputeCount::full) {
    refuse("narayanan-2021", resolved.recompute.value_or(RecomputeCount::none));
  }
  const SquareForm form = square_form(model, work, "narayanan-2021");
  FlopCount count;
  count.hardware_flops = 4.0 * (form.layers + form.attention) + 3.0 * form.logits;
  return count;
}

FlopCount korthikanti(const ModelShape& model, const Work& work, const Switches& resolved) {
  const SquareForm form = square_form(model, work, "korthikanti-2022");
  const double model_flops = 3.0 * (form.layers + form.attention + form.logits);
  FlopCount count;
  count.model_flops = model_flops;
  switch (resolved.recompute.value_or(RecomputeCount::none)) {
    case RecomputeCount::none:
      count.hardware_flops = model_flops;
      break;
    case RecomputeCount::selective:
      // As printed: s/(6h) becomes s/(3h). That is three times the forward pass of the attention
      // core, which is recomputed once; the paper's own HFU column follows the printed form.
      count.hardware_flops = model_flops + 3.0 * form.attention;
      break;
    case RecomputeCount::full:
      count.hardware_flops = model_flops + form.layers + form.attention;
      break;
    case RecomputeCount::palm:
    case RecomputeCount::palm_attention:
      refuse("korthikanti-2022", *resolved.recompute);
  }
  return count;
}

// With a stated N (the runs on V100 took the size label) 8N; else 12 L h^2 stands for N.
FlopCount bigscience(const ModelShape& model, const Work& work, const Switches& resolved) {
  if (resolved.recompute != RecomputeCount::full) {
    refuse("bigscience-2021", resolved.recompute.value_or(RecomputeCount::none));
  }
  FlopCount count;
  if (work.params) {
    count.params = *work.params;
  } else if (model.given_params) {
    count.params = *model.given_params;
  } else {
    Work any = work;
    any.seq_len = 1.0;  // takes no part
    ModelShape shape = model;
    shape.vocab = 1;  // nor does the vocabulary
    count.params = square_form(shape, any, "bigscience-2021").layers / 2.0;
  }
  count.hardware_flops = 8.0 * count.params;
  return count;
}

const Switches kParamsOnly{{}, {}, {}, RecomputeCount::none, Trainable::all};
const Switches kFullRecompute{{}, {}, {}, RecomputeCount::full, {}};
const Switches kPaperSquares{{}, {}, {}, RecomputeCount::none, {}};

const std::array<Convention, 6> kPapersRows{{
    {.id = "palm",
     .title = "PaLM: MFU as it was defined",
     .formula = "6N + 12 L H Q T; recomputed: 7.5N + 16 L H Q T (palm), 6N + 16 L H Q T "
                "(palm-attention), 8N + 16 L H Q T (full)",
     .leaves_out =
         "N is all parameters, active ones of a mixture of experts: norms are counted, an "
         "untied input embedding and learned positions too; no causal halving, no window",
     .source = "Chowdhery et al. 2022, PaLM, arXiv:2204.02311, appendix B",
     .date = "2022-04",
     .defaults = params_switches(AttentionCount::full, false),
     .count = palm},
    {.id = "6n",
     .title = "6N: two FLOPs forward, four backward, for each parameter",
     .formula = "6N; recomputed in full: 8N",
     .leaves_out = "attention scores and values; N is all parameters, active ones of a mixture of "
                   "experts, embeddings included",
     .source = "Hoffmann et al. 2022, Chinchilla, arXiv:2203.15556, section 3.3",
     .date = "2022-03",
     .defaults = kParamsOnly,
     .count = six_n},
    {.id = "6n-kaplan",
     .title = "6N without the embeddings",
     .formula = "6 (N - embedding, output and position tables); recomputed in full: 8 of them",
     .leaves_out = "attention scores and values, logits; norm weights stay in N (the paper's table "
                   "leaves them out, 1e-4)",
     .source = "Kaplan et al. 2020, arXiv:2001.08361, section 2.1 and table 1",
     .date = "2020-01",
     .defaults = kParamsOnly,
     .count = six_n_kaplan},
    {.id = "narayanan-2021",
     .title = "Megatron-LM with full recomputation: a hardware count",
     .formula = "96 L h^2 (1 + s/(6h) + V/(16 L h))",
     .leaves_out = "counts the recomputed forward pass, so its utilisation is HFU; f = 4h, no "
                   "grouped queries, no gated MLP, attention not halved",
     .source = "Narayanan et al. 2021, arXiv:2104.04473, section 5.1",
     .date = "2021-04",
     .defaults = kFullRecompute,
     .hardware_count = true,
     .count = narayanan},
    {.id = "korthikanti-2022",
     .title = "Megatron-LM, model FLOPs of the closed form",
     .formula = "72 L h^2 (1 + s/(6h) + V/(12 L h)); recomputed selectively: s/(3h) for s/(6h); in "
                "full: 96 L h^2 (1 + s/(6h) + V/(16 L h))",
     .leaves_out =
         "f = 4h, no grouped queries, no gated MLP, attention not halved; the selective form "
         "as printed adds three forward passes of the attention core, not one",
     .source = "Korthikanti et al. 2022, arXiv:2205.05198, appendix A",
     .date = "2022-05",
     .defaults = kPaperSquares,
     .count = korthikanti},
    {.id = "bigscience-2021",
     .title = "BigScience's first estimate: a hardware count",
     .formula = "8 x 12 L h^2, or 8N with a stated N",
     .leaves_out =
         "attention scores and values, logits; counts the recomputed forward pass, so its "
         "utilisation is HFU",
     .source = "BigScience, experiments/gpt2.md and the chronicles of BLOOM 176B",
     .date = "2021-08",
     .defaults = kFullRecompute,
     .hardware_count = true,
     .count = bigscience},
}};

}  // namespace

std::span<const Convention> paper_rows() noexcept { return kPapersRows; }

}  // namespace mfu
