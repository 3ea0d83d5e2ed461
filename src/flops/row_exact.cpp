// The exact count under three ways of counting attention. Sources of its terms: flops/exact_*.cpp.
#include <array>

#include "flops/exact.hpp"
#include "flops/rows.hpp"

namespace mfu {
namespace {

FlopCount count(const ModelShape& model, const Work& work, const Switches& resolved) {
  return exact_count(model, work, resolved, {});
}

constexpr std::string_view kLeavesOut =
    "embedding look-up, norms, softmax, rotary embedding, activations, optimizer";

const std::array<Convention, 3> kExactRows{{
    {.id = "exact-full",
     .title = "every matrix multiplication, attention over the whole sequence",
     .formula = "6 [sum over layers (attention + MLP weights) + h V] + 6 sum over layers W s, "
                "W = H (d_qk + d_v)",
     .leaves_out = "embedding look-up, norms, softmax, rotary embedding, activations, optimizer; "
                   "scores that a causal mask hides are counted",
     .source = "Chinchilla, arXiv:2203.15556, appendix F, without the embedding and softmax terms",
     .date = "2022-03",
     .defaults = exact_switches(AttentionCount::full, true, true),
     .count = count},
    {.id = "exact-causal",
     .title = "every matrix multiplication, half of the attention",
     .formula = "6 [sum over layers (attention + MLP weights) + h V] + 6 sum over layers W s/2, "
                "W = H (d_qk + d_v); window w: w - w(w-1)/(2s)",
     .leaves_out = kLeavesOut,
     .source = "the count of Megatron-LM, MaxText and NeMo today, with the router",
     .date = "2025-07",
     .defaults = exact_switches(AttentionCount::causal, true, true),
     .count = count},
    {.id = "exact",
     .title = "every matrix multiplication, attention by exact pairs",
     .formula =
         "6 [sum over layers (attention + MLP weights) + h V] + 6 sum over layers W (s+1)/2, "
         "W = H (d_qk + d_v); window w: w - w(w-1)/(2s); documents weighted by tokens",
     .leaves_out = kLeavesOut,
     .source = "pairs of a causal mask, itself included",
     .date = "2025-07",
     .defaults = exact_switches(AttentionCount::exact, true, true),
     .count = count},
}};

}  // namespace

std::span<const Convention> exact_rows() noexcept { return kExactRows; }

}  // namespace mfu
