#include "flops/required.hpp"

#include <algorithm>
#include <string>

#include "flops/exact.hpp"
#include "mfu/error.hpp"

namespace mfu {

void Missing::need(std::string_view key, std::int64_t value) {
  if (value <= 0) add(key);
}

void Missing::need_seq_len(const Work& work, bool ignores_packing) {
  const bool packed = !work.lengths.empty() && !ignores_packing;
  if (!packed && !(work.seq_len > 0.0)) add("seq_len");
}

void Missing::add(std::string_view key) {
  if (!keys_.empty()) keys_ += ", ";
  keys_ += key;
}

void Missing::check(std::string_view who) const {
  if (keys_.empty()) return;
  throw Error(ErrorKind::insufficient, std::string(who) + " needs what was not given: " + keys_);
}

void require_layers(const ModelShape& model, Missing& missing) {
  const bool hybrid = !model.pattern.empty();
  if (!hybrid) missing.need("layers", model.layers);
  missing.need("hidden", model.hidden);
  const LayerCounts layers = count_layers(model);
  if (layers.attention > 0.0 || !hybrid) {
    missing.need("heads", model.heads);
    // h/H stands for it where that is a whole number.
    const bool implied = model.mla || model.heads <= 0 || model.hidden % model.heads == 0;
    if (model.head_dim <= 0 && !implied) missing.add("head_dim");
  }
  if (layers.dense > 0.0 || (!hybrid && model.layers <= 0 && model.experts == 0)) {
    missing.need("ffn_hidden", model.ffn_hidden);
  }
  if (layers.moe > 0.0) {
    missing.need("experts", model.experts);
    missing.need("top_k", model.top_k);
    missing.need("moe_ffn", model.moe_ffn);
  }
  if (layers.mamba > 0.0) {
    missing.need("mamba_heads", model.mamba_heads);
    missing.need("mamba_head_dim", model.mamba_head_dim);
    missing.need("mamba_state", model.mamba_state);
    missing.need("mamba_groups", model.mamba_groups);
  }
  if (model.mla) {
    missing.need("mla.kv_lora", model.mla->kv_lora);
    missing.need("mla.qk_nope", model.mla->qk_nope + model.mla->qk_rope);
    missing.need("mla.v", model.mla->v);
  }
}

void require_seq_len(const Work& work) {
  Missing missing;
  missing.need_seq_len(work, true);
  missing.check("the attention term");
}

}  // namespace mfu
