#include "report/list/terms.hpp"

#include <array>
#include <vector>

namespace mfu {
namespace {

constexpr std::string_view kPalm = "Chowdhery et al. 2022, PaLM, arXiv:2204.02311, appendix B";

constexpr std::array kTerms{
    Term{"mfu", "model FLOPs utilization",
         "MFU = R F / P: tokens per second per GPU, times the FLOPs that the model needs per token "
         "(forward and backward, no recomputation), over the GPU's peak FLOP/s. It compares runs "
         "only under the same convention for F and the same peak P.",
         kPalm},
    Term{"hfu", "hardware FLOPs utilization",
         "HFU = R F_hw / P: as MFU, but with the FLOPs that the hardware actually did, recomputed "
         "activations included. HFU is never below MFU; without recomputation they are equal.",
         kPalm},
    Term{"convention", "how the FLOPs of a token are counted",
         "Which products are counted: attention in full, its causal half or not at all; embeddings "
         "and logits; the router; recomputation. The same run differs by 30 % or more between "
         "conventions. `mfu list conventions` lists them.",
         "README.md"},
    Term{"peak", "the most FLOP/s that a GPU can do",
         "peak = units x FLOP per unit per clock x clock, dense, in one precision. The datasheet's "
         "figure is the default; the clock that it means is shown.",
         "`mfu explain CHIP` names the source of each chip"},
    Term{"sparse", "2:4 structured sparsity",
         "Headline figures on datasheets often assume 2:4 sparsity: twice the dense peak. "
         "Training is dense: an MFU against the sparse figure is half of what it should be.",
         "NVIDIA datasheets, footnotes"},
    Term{"clock", "which clock a peak means",
         "datasheet: the clock that the published figure means; max: the highest clock; base: the "
         "guaranteed one; or a number in MHz, as telemetry shows it.",
         "--clock"},
    Term{"fingerprint", "what two numbers must share to be comparable",
         "Convention with all switches, peak, precision and clock as one line. Two MFUs with "
         "different fingerprints are not comparable.",
         "--json: setup.fingerprint"},
    Term{"busy", "a rank computes",
         "At least one compute kernel runs on its GPU (`compute`). Communication at the same time "
         "is hidden: it costs the step nothing. Busy is not fast: kernels can be below the peak.",
         "mfu.run/1: compute"},
    Term{"idle", "nothing runs on a rank's GPU",
         "No kernel and no copy. The rank stopped by itself (own stall: input, checkpoint, garbage "
         "collection, host), waits for a peer on the host, or is in the pipeline bubble.",
         "mfu.run/1: stall, less exposed copies"},
    Term{"wait", "a rank is ready before its peers",
         "The time until the last rank of the group arrives, recorded as communication, as stall "
         "or as a series of its own (waits_in). What a rank takes beyond the minimum of its group: "
         "per collective where traces pair them, else per group and step.",
         "Lin et al. 2025, arXiv:2505.05713: latest start of the group less own start"},
    Term{
        "transfer", "communication without the wait",
        "The minimum over the group's ranks: per collective where traces pair them, else per group "
        "and step. It is exposed where no compute kernel hides it, and only exposed transfer "
        "lengthens a step.",
        "Lin et al. 2025, arXiv:2505.05713; TraceLens: minimum duration over the group's ranks"},
    Term{"recompute", "activations computed a second time in the backward pass",
         "none; selective: the attention core once more; full: every layer's forward pass once "
         "more (4/3); palm and palm-attention: the two settings of the PaLM paper. It raises HFU "
         "and leaves MFU unchanged.",
         "Korthikanti et al. 2022, arXiv:2205.05198"},
    Term{"tokens-per-step", "tokens of one optimizer step of the whole job",
         "sequences per step x sequence length; sequences per step = microbatch x accumulation x "
         "data-parallel size. Tensor-, pipeline- and context-parallel GPUs share the same tokens.",
         "--batch, --seq-len, --tokens-per-step"},
    Term{"active-parameters", "what one token goes through",
         "In a mixture of experts a token passes through top_k of the experts and the shared ones: "
         "its FLOPs follow from those, not from all parameters.",
         "`mfu explain MODEL`"},
    Term{"window", "sliding-window attention",
         "A token sees the last w tokens, itself included: w - w(w-1)/(2s) on average under a "
         "causal mask. Not w/2.",
         "--window honour|ignore"},
    Term{"packing", "several documents in one sequence",
         "Attention does not cross documents: its work is the sum of the squares of their lengths, "
         "not the square of the sum.",
         "--lengths FILE"},
    Term{"lora", "training adapters on frozen weights",
         "Frozen weights need no weight gradient: 4 FLOPs per weight and token instead of 6. "
         "Attention scores have no weights: they stay at forward and twice backward.",
         "--trainable lora"},
};

}  // namespace

std::span<const Term> terms() noexcept {
  static const std::vector<Term> all = [] {
    std::vector<Term> joined(kTerms.begin(), kTerms.end());
    joined.insert(joined.end(), plan_terms().begin(), plan_terms().end());
    return joined;
  }();
  return all;
}

}  // namespace mfu
