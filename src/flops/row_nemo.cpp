// NeMo: one formula a model family, with its oddities.
#include <array>

#include "flops/exact.hpp"
#include "flops/rows.hpp"

namespace mfu {
namespace {

FlopCount nemo_2407(const ModelShape& model, const Work& work, const Switches& resolved) {
  return exact_count(model, work, resolved, {});
}

FlopCount nemo(const ModelShape& model, const Work& work, const Switches& resolved) {
  ExactRules rules;
  rules.scan_per_state = 6.0;
  Switches switches = resolved;
  const std::string_view family = model.family;
  if (family.starts_with("qwen3")) {
    // Takes every layer for MoE and d for h/H: a fifth to a quarter too low for Qwen3.
    rules.heads_fill_hidden = true;
    rules.all_layers_moe = true;
  } else if (family == "gpt_oss" && switches.attention == AttentionCount::causal) {
    // Counts the pairs under the mask: s(s+1)/2, and w(w+1)/2 + (s-w)w in layers with a window.
    switches.attention = AttentionCount::exact;
    switches.honour_window = true;
  } else if ((family == "bert" || family == "transformer") &&
             switches.attention == AttentionCount::causal) {
    switches.attention = AttentionCount::full;
  }
  return exact_count(model, work, switches, rules);
}

const std::array<Convention, 2> kNemoRows{{
    {.id = "nemo-24.07",
     .title = "NeMo's performance tables of 24.07",
     .formula = "exact count, full attention, no router, no window",
     .leaves_out =
         "router left out; attention not halved: Llama 3 8B at 8k is 11 % above later tables",
     .source = "NVIDIA/NeMo docs/source/performance/performance_summary.md at 070a0bb1",
     .date = "2024-07",
     .defaults = exact_switches(AttentionCount::full, false, false),
     .count = nemo_2407},
    {.id = "nemo",
     .title = "NeMo's flops_formulas",
     .formula = "exact count, attention halved, no router, no window; BERT and plain transformer: "
                "full attention; "
                "gpt-oss: "
                "exact pairs and window; Qwen3: d = h/H and every layer MoE; Mamba scan 6 D S",
     .leaves_out = "router left out; Qwen3 comes out 20 to 27 % low; vocabularies are built in by "
                   "family there, the model's own is used here",
     .source = "NVIDIA/NeMo nemo/utils/flops_formulas.py at 8cfedd72",
     .date = "2025",
     .defaults = exact_switches(AttentionCount::causal, false, false),
     .count = nemo},
}};

}  // namespace

std::span<const Convention> nemo_rows() noexcept { return kNemoRows; }

}  // namespace mfu
