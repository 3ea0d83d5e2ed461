// Frameworks on PyTorch whose count has the parameters in it, and verl and nanotron.
#include <array>

#include "flops/closed_forms.hpp"
#include "flops/exact.hpp"
#include "flops/rows.hpp"

namespace mfu {
namespace {

FlopCount nanogpt(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_count(
      model, work, resolved,
      {.id = "nanogpt", .taken = ParamsTaken::without_positions, .ignores_packing = true});
}

FlopCount llm_foundry(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_count(model, work, resolved,
                      {.id = "llm-foundry",
                       .width_is_hidden = true,
                       .ignores_packing = true,
                       .full_recompute_only = true});
}

FlopCount torchtitan(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_count(
      model, work, resolved,
      {.id = "torchtitan", .taken = ParamsTaken::without_input_table, .ignores_packing = true});
}

FlopCount torchtitan_2024_02(const ModelShape& model, const Work& work, const Switches& resolved) {
  return params_count(model, work, resolved, {.id = "torchtitan-2024-02", .ignores_packing = true});
}

FlopCount verl(const ModelShape& model, const Work& work, const Switches& resolved) {
  ExactRules rules{.window = WindowCount::half, .embedding_as_matmul = true, .skips_mtp = true};
  rules.query_key_norms = model.family == "apertus";
  return exact_count(model, work, resolved, rules);
}

FlopCount nanotron(const ModelShape& model, const Work& work, const Switches& resolved) {
  return exact_count(model, work, resolved,
                     {.ignores_packing = true, .always_gated = true, .skips_mtp = true});
}

// Every tensor that is not the weight of an embedding module, experts that no token meets included.
// An output head of its own is a linear layer and stays; a tied one goes with the embedding.
FlopCount hf_trainer(const ModelShape& model, const Work& work, const Switches& resolved) {
  FlopCount count =
      params_only(model, work, resolved, "hf-trainer", ParamsTaken::total_without_lookup);
  count.hardware_flops.reset();
  return count;
}

const std::array<Convention, 7> kPytorchRows{{
    {.id = "nanogpt",
     .title = "nanoGPT's estimate_mfu",
     .formula = "6 (N - learned positions) + 12 L H Q T",
     .leaves_out =
         "logits are counted (tied table), learned positions are not, norms are; T is always "
         "the block size; its peak is fixed at 312 TFLOP/s",
     .source = "karpathy/nanoGPT model.py, estimate_mfu",
     .date = "2023-01",
     .defaults = params_switches(AttentionCount::full, false),
     .count = nanogpt},
    {.id = "llm-foundry",
     .title = "llm-foundry's MFU and HFU (MPT)",
     .formula = "6N + 12 L h s; checkpointed: 8N + 16 L h s",
     .leaves_out =
         "learned positions are in N and dominate small models at long context; attention not "
         "halved; padding counts as tokens; knows no selective recomputation",
     .source = "mosaicml/llm-foundry scripts/train/benchmarking/README.md at 8c8dd48f",
     .date = "2023-11",
     .defaults = {{}, {}, {}, RecomputeCount::none, Trainable::all},
     .count = llm_foundry},
    {.id = "torchtitan",
     .title = "torchtitan's MFU",
     .formula = "6 (N - input embedding, unless tied) + 6 L H (d_qk + d_v) s",
     .leaves_out =
         "norms are counted; attention not halved; windows ignored; no MFU under quantised "
         "training",
     .source = "pytorch/torchtitan models/utils.py at b5bcd76c (since pull request 280)",
     .date = "2025",
     .defaults = params_switches(AttentionCount::full, false),
     .count = torchtitan},
    {.id = "torchtitan-2024-02",
     .title = "torchtitan before the embedding left N",
     .formula = "6N + 12 L H Q T, both embeddings in N",
     .leaves_out = "the input embedding counts as a matrix multiplication; attention not halved",
     .source = "pytorch/torchtitan docs/performance.md at 04133643 (before pull request 280)",
     .date = "2024-02",
     .defaults = params_switches(AttentionCount::full, false),
     .count = torchtitan_2024_02},
    {.id = "verl",
     .title = "verl's FlopsCounter",
     .formula =
         "6 (layer weights + router + 2 h V) + 6 L H d sum s_i^2 / sum s_i; window: s min(s, w) "
         "halved",
     .leaves_out =
         "the input embedding counts as a matrix multiplication; Apertus: 2 H d per layer for "
         "query and key norms; before pull request 6389 attention was not halved",
     .source = "volcengine/verl verl/utils/flops_counter.py at b178a3cd",
     .date = "2026",
     .defaults = exact_switches(AttentionCount::causal, true, true),
     .count = verl},
    {.id = "nanotron",
     .title = "nanotron's model TFLOP/s",
     .formula = "exact count with a gated MLP, full attention",
     .leaves_out =
         "a plain MLP counts three matrices; attention not halved; its hardware figure is the "
         "model figure",
     .source = "huggingface/nanotron src/nanotron/models/llama.py, get_flops, at 2411b022",
     .date = "2025",
     .defaults = exact_switches(AttentionCount::full, false, false),
     .count = nanotron},
    {.id = "hf-trainer",
     .title = "Hugging Face Trainer's total_flos",
     .formula = "6 (N - input embedding - learned positions)",
     .leaves_out =
         "attention scores and values; logits too where the output is tied; all experts are in "
         "N, not the active ones",
     .source = "huggingface/transformers modeling_utils.py, floating_point_ops",
     .date = "2020",
     .defaults = {},
     .count = hf_trainer},
}};

}  // namespace

std::span<const Convention> pytorch_rows() noexcept { return kPytorchRows; }

}  // namespace mfu
