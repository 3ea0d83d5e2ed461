// The `model` object of the formats: one key a property.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "model/family.hpp"
#include "model/parsed.hpp"

namespace mfu {
namespace {

constexpr std::array<std::string_view, 44> kKeys{"name",
                                                 "family",
                                                 "layers",
                                                 "hidden",
                                                 "ffn_hidden",
                                                 "gated_mlp",
                                                 "heads",
                                                 "kv_heads",
                                                 "head_dim",
                                                 "vocab",
                                                 "tied_embeddings",
                                                 "learned_pos_emb",
                                                 "max_positions",
                                                 "experts",
                                                 "top_k",
                                                 "moe_ffn",
                                                 "shared_ffn",
                                                 "dense_layers",
                                                 "moe_layers",
                                                 "mla",
                                                 "window",
                                                 "local_layers",
                                                 "pattern",
                                                 "mtp_pattern",
                                                 "mamba_heads",
                                                 "mamba_head_dim",
                                                 "mamba_state",
                                                 "mamba_groups",
                                                 "mamba_conv",
                                                 "latent",
                                                 "bias",
                                                 "qkv_bias",
                                                 "output_bias",
                                                 "mlp_bias",
                                                 "head_bias",
                                                 "qk_norm",
                                                 "qk_norm_wide",
                                                 "norm_bias",
                                                 "router_bias",
                                                 "layer_norms",
                                                 "attention_sinks",
                                                 "mtp_layers",
                                                 "params",
                                                 "sliding_window"};

void take_flag(const Fields& fields, std::string_view key, bool& target) {
  if (const auto given = fields.flag(key)) target = *given;
}

void take_count(const Fields& fields, std::string_view key, std::int64_t& target,
                std::int64_t least = 0) {
  if (const auto given = fields.whole(key, least)) target = *given;
}

void take_mla(const Fields& fields, ModelShape& model) {
  const auto given = fields.object("mla");
  if (!given) return;
  LatentAttention mla;
  const auto need = [&](std::string_view key, std::int64_t& target, std::int64_t least) {
    const auto value = given->whole(key, least);
    if (!value) fields.fail("mla", "mla." + std::string(key) + " is missing");
    target = *value;
  };
  mla.q_lora = given->whole("q_lora", 0).value_or(0);
  need("kv_lora", mla.kv_lora, 1);
  need("qk_nope", mla.qk_nope, 1);
  need("qk_rope", mla.qk_rope, 0);
  need("v", mla.v, 1);
  for (const std::string& key : given->unasked()) {
    given->refuse(key, "unknown key of mla", "q_lora, kv_lora, qk_nope, qk_rope and v are known");
  }
  model.mla = mla;
  model.head_dim = mla.qk_nope + mla.qk_rope;
}

void check_pattern(const Fields& fields, std::string_view key, const std::string& pattern) {
  const std::size_t other = pattern.find_first_not_of("M*E-");
  if (other == std::string::npos) return;
  fields.refuse(key, "'" + pattern.substr(other, 1) + "' is not a known kind of layer",
                "M Mamba-2, * attention, E experts, - MLP");
}

void take_pattern(const Fields& fields, ModelShape& model) {
  model.mtp_pattern = fields.text("mtp_pattern").value_or("");
  model.pattern = fields.text("pattern").value_or("");
  check_pattern(fields, "mtp_pattern", model.mtp_pattern);
  check_pattern(fields, "pattern", model.pattern);
  take_count(fields, "mamba_heads", model.mamba_heads);
  take_count(fields, "mamba_head_dim", model.mamba_head_dim);
  take_count(fields, "mamba_state", model.mamba_state);
  take_count(fields, "mamba_groups", model.mamba_groups);
  take_count(fields, "mamba_conv", model.mamba_conv);
  take_count(fields, "latent", model.latent);
  if (model.pattern.empty()) return;
  const auto size = static_cast<std::int64_t>(model.pattern.size());
  if (model.layers > 0 && model.layers != size) {
    fields.fail("pattern", "the pattern has " + std::to_string(size) + " letters for " +
                               std::to_string(model.layers) + " layers");
  }
  model.layers = size;
  if (model.pattern.find('M') == std::string::npos) return;
  for (const std::string_view key :
       {"mamba_heads", "mamba_head_dim", "mamba_state", "mamba_groups"}) {
    if (!fields.has(key)) fields.fail("pattern", "M layers need " + std::string(key));
  }
}

void take_experts(const Fields& fields, ModelShape& model) {
  take_count(fields, "experts", model.experts);
  take_count(fields, "top_k", model.top_k);
  take_count(fields, "moe_ffn", model.moe_ffn);
  take_count(fields, "shared_ffn", model.shared_ffn);
  const auto dense = fields.whole("dense_layers", 0);
  const auto sparse = fields.whole("moe_layers", 0);
  if (model.experts == 0) {
    for (const std::string_view key : {"top_k", "moe_ffn", "shared_ffn", "moe_layers"}) {
      if (fields.whole(key, 0).value_or(0) > 0)
        fields.fail(key, "it has no meaning without experts");
    }
    return;
  }
  if (model.top_k == 0) fields.fail("experts", "top_k is missing: experts per token");
  if (model.top_k > model.experts) fields.fail("top_k", "more than there are experts");
  if (model.moe_ffn == 0) model.moe_ffn = model.ffn_hidden;
  if (model.moe_ffn == 0) fields.fail("experts", "moe_ffn is missing: the width of an expert");
  if (!model.pattern.empty()) {
    model.moe_layers = std::count(model.pattern.begin(), model.pattern.end(), 'E');
    return;
  }
  model.moe_layers = sparse.value_or(model.layers - dense.value_or(0));
  const std::string_view key = sparse ? "moe_layers" : "dense_layers";
  if (model.layers > 0 && (model.moe_layers > model.layers || model.moe_layers < 0)) {
    fields.fail(key, "more than there are layers");
  }
  if (sparse && dense && *sparse + *dense != model.layers) {
    fields.fail("dense_layers", "dense_layers and moe_layers do not sum to layers");
  }
}

void take_window(const Fields& fields, ModelShape& model) {
  std::string_view key = "window";
  if (!fields.has("window")) {
    // True says that there is a window, and not how wide it is.
    const nlohmann::json* const other = fields.find("sliding_window");
    if (other != nullptr && other->is_boolean()) {
      if (other->get<bool>()) {
        fields.refuse("sliding_window", "a sliding window of unknown width",
                      "window is its width in tokens, the query's own included");
      }
    } else if (other != nullptr) {
      key = "sliding_window";
    }
  }
  model.window = fields.whole(key, 0).value_or(0);
  const auto local = fields.whole("local_layers", 0);
  if (model.window == 0) return;
  model.local_layers = local.value_or(model.layers);
  if (model.layers > 0 && model.local_layers > model.layers) {
    fields.fail("local_layers", "more than there are layers");
  }
}

void take_gating(const Fields& fields, ModelShape& model, const Family* family, Notes& notes) {
  if (const auto given = fields.flag("gated_mlp")) {
    model.gated_mlp = *given;
  } else if (family != nullptr) {
    model.gated_mlp = family->gated;
  } else if (!model.pattern.empty() || (!fields.has("ffn_hidden") && !fields.has("experts"))) {
    model.gated_mlp = false;  // Megatron's hybrids, and the classic 4h
  } else if (model.layers > 0) {
    notes.add(NoteCode::gating_assumed,
              "gated_mlp is not given: three matrices per MLP are assumed", fields.place());
  }
}

void take_widths(ModelShape& model) {
  const bool needs_dense = model.pattern.empty() ? model.layers > model.moe_layers
                                                 : model.pattern.find('-') != std::string::npos;
  if (model.ffn_hidden > 0 || !needs_dense || model.hidden == 0) return;
  model.ffn_hidden = usual_ffn(model);
}

void take_positions(const Fields& fields, const Family* family, ModelShape& model, Notes& notes) {
  const bool learned =
      fields.flag("learned_pos_emb").value_or(family != nullptr && family->extra_positions >= 0);
  const auto rows =
      fields.whole({"max_positions", "n_positions", "max_position_embeddings", "seq_len"}, 1);
  if (!learned) return;
  if (rows) {
    model.learned_positions = *rows;
    return;
  }
  notes.add(NoteCode::positions_unknown,
            "learned position embeddings of unknown length are not counted: give max_positions",
            fields.place());
}

// Keys of other formats that would change the count if they meant what they say.
constexpr std::string_view kMeaningful[] = {"attention",      "attention_type",     "attn_type",
                                            "encoder_layers", "num_encoder_layers", "model_type",
                                            "mixer",          "is_encoder_decoder"};

// A misspelt key would silently leave a default in place.
void look_at_unknown(const Fields& fields, Notes& notes) {
  std::string ignored;
  std::int64_t count = 0;
  for (const std::string& key : fields.unasked()) {
    if (std::find(std::begin(kMeaningful), std::end(kMeaningful), key) != std::end(kMeaningful)) {
      fields.refuse(key, "'" + key + "' can change the count, but is not a key of a model shape",
                    "leave it out if the model is a plain decoder; other kinds cannot be counted");
    }
    const std::string_view near = nearest_name(key, kKeys);
    if (!near.empty()) {
      fields.refuse(key, "unknown key '" + key + "'", "did you mean '" + std::string(near) + "'?");
    }
    ignored += (ignored.empty() ? "" : ", ") + key;
    ++count;
  }
  refuse_unknown_parts(fields);
  if (count == 0) return;
  notes.add(NoteCode::unknown_keys, "keys of the model that are ignored: " + ignored,
            fields.place(), count);
}

}  // namespace

ModelShape model_from_object(const Fields& fields, Notes& notes,
                             std::vector<std::string>& missing) {
  ModelShape model;
  const std::string type = fields.text("family").value_or("");
  const Family* const family = type.empty() ? nullptr : find_family(type);
  if (!type.empty() && family == nullptr) fields.refuse("family", "unknown family '" + type + "'");
  if (family != nullptr) apply_family(*family, model);
  model.name = fields.text("name").value_or("");

  take_count(fields, "layers", model.layers, 1);
  take_count(fields, "hidden", model.hidden, 1);
  take_count(fields, "ffn_hidden", model.ffn_hidden);
  take_count(fields, "heads", model.heads, 1);
  take_count(fields, "kv_heads", model.kv_heads, 1);
  take_count(fields, "head_dim", model.head_dim, 1);
  take_count(fields, "vocab", model.vocab, 1);
  take_pattern(fields, model);
  take_experts(fields, model);
  take_mla(fields, model);
  take_window(fields, model);
  take_gating(fields, model, family, notes);
  take_widths(model);
  take_positions(fields, family, model, notes);
  complete_heads(fields, "kv_heads", model, missing);

  take_flag(fields, "tied_embeddings", model.tied_embeddings);
  take_flag(fields, "bias", model.bias);
  take_flag(fields, "qkv_bias", model.qkv_bias);
  take_flag(fields, "output_bias", model.output_bias);
  take_flag(fields, "mlp_bias", model.mlp_bias);
  take_flag(fields, "head_bias", model.head_bias);
  take_flag(fields, "qk_norm", model.qk_norm);
  take_flag(fields, "qk_norm_wide", model.qk_norm_wide);
  take_flag(fields, "norm_bias", model.norm_bias);
  take_flag(fields, "router_bias", model.router_bias);
  take_flag(fields, "attention_sinks", model.attention_sinks);
  take_count(fields, "layer_norms", model.layer_norms);
  take_count(fields, "mtp_layers", model.mtp_layers);
  model.given_params = fields.positive("params");

  if (model.layers == 0) missing.emplace_back("layers");
  if (model.hidden == 0) missing.emplace_back("hidden");
  const bool attends = model.pattern.empty() || model.pattern.find('*') != std::string::npos;
  if (model.heads == 0 && attends) missing.emplace_back("heads");
  if (model.vocab == 0) missing.emplace_back("vocab");
  look_at_unknown(fields, notes);
  return model;
}

}  // namespace mfu
