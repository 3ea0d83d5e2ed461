// A Hugging Face config.json, and the parameter files of Meta and DeepSeek that look alike.
#include <algorithm>
#include <array>

#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "model/family.hpp"
#include "model/parsed.hpp"

namespace mfu {
namespace {

struct RefusedType {
  std::string_view model_type;
  std::string_view why;
};

constexpr std::string_view kEncoderDecoder = "an encoder-decoder";
constexpr std::string_view kEncoder = "an encoder that is not trained token by token";
constexpr std::string_view kMixer = "a stack with linear attention or another mixer";

constexpr RefusedType kRefused[] = {
    {"t5", kEncoderDecoder},
    {"mt5", kEncoderDecoder},
    {"umt5", kEncoderDecoder},
    {"longt5", kEncoderDecoder},
    {"switch_transformers", kEncoderDecoder},
    {"bart", kEncoderDecoder},
    {"mbart", kEncoderDecoder},
    {"pegasus", kEncoderDecoder},
    {"marian", kEncoderDecoder},
    {"m2m_100", kEncoderDecoder},
    {"whisper", kEncoderDecoder},
    {"bert", kEncoder},
    {"roberta", kEncoder},
    {"xlm-roberta", kEncoder},
    {"deberta-v2", kEncoder},
    {"electra", kEncoder},
    {"modernbert", kEncoder},
    {"vit", kEncoder},
    {"mamba", kMixer},
    {"mamba2", kMixer},
    {"falcon_mamba", kMixer},
    {"rwkv", kMixer},
    {"jamba", kMixer},
    {"zamba", kMixer},
    {"zamba2", kMixer},
    {"bamba", kMixer},
    {"falcon_h1", kMixer},
    {"granitemoehybrid", kMixer},
    {"recurrent_gemma", kMixer},
    {"lfm2", kMixer},
    {"qwen3_next", kMixer},
    {"qwen3_5", kMixer},
    {"qwen3_5_moe", kMixer},
    {"kimi_linear", kMixer},
    {"minimax", kMixer},
    {"xlstm", kMixer},
    {"deepseek_v32", "sparse attention with an indexer"},
    {"glm_moe_dsa", "sparse attention with an indexer"},
    {"gemma3n", "layers that share keys and values, and per-layer embeddings"},
    {"llama4", "chunked attention"},
    {"llama4_text", "chunked attention"},
};

void refuse_kind(const Fields& config, const std::string& type) {
  if (config.flag("is_encoder_decoder").value_or(false)) {
    config.refuse("is_encoder_decoder", "an encoder-decoder" +
                                            (type.empty() ? "" : " ('" + type + "')") +
                                            " cannot be counted: only decoders can");
  }
  for (const RefusedType& refused : kRefused) {
    if (type != refused.model_type) continue;
    config.refuse("model_type",
                  "'" + type + "' is " + std::string(refused.why) + ", which cannot be counted");
  }
}

// The text half of a multimodal model.
std::string_view text_key(const Fields& config) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    const nlohmann::json* const inner = config.find(key);
    if (inner != nullptr && inner->is_object()) return key;
  }
  return {};
}

std::optional<bool> gated_by_activation(const Fields& config) {
  if (const auto given = config.flag("is_gated_act")) return given;
  const std::string_view key =
      config.first_of({"feed_forward_proj", "hidden_act", "hidden_activation",
                       "activation_function", "mlp_hidden_act", "activation"});
  if (key.empty() || !config.find(key)->is_string()) return std::nullopt;
  const std::string act = config.text(key).value_or("");
  if (act.starts_with("gated")) return true;
  constexpr std::array<std::string_view, 5> kPlain{"gelu", "gelu_new", "gelu_fast", "relu",
                                                   "relu2"};
  return std::find(kPlain.begin(), kPlain.end(), act) == kPlain.end();
}

void take_attention(const Fields& config, const std::string& type, ModelShape& model,
                    std::vector<std::string>& missing) {
  const std::string_view heads_key =
      config.first_of({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  if (!heads_key.empty()) model.heads = config.whole(heads_key, 1).value_or(0);
  std::string_view kv_key = config.first_of(
      {"num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv", "multi_query_group_num"});
  const bool new_falcon = config.flag("new_decoder_architecture").value_or(false);
  const bool multi_query = config.flag("multi_query").value_or(type == "gpt_bigcode");
  if (type == "falcon" && multi_query && !new_falcon) {
    model.kv_heads = 1;  // num_kv_heads stands beside it and is not used
  } else if (!kv_key.empty()) {
    model.kv_heads = config.whole(kv_key, 1).value_or(0);
  } else if (multi_query && !new_falcon) {
    model.kv_heads = 1;
  }
  model.head_dim =
      config.whole({"head_dim", "d_kv", "kv_channels", "attention_head_dim"}, 1).value_or(0);
  const auto latent = config.whole("kv_lora_rank", 1);
  if (latent) {
    LatentAttention mla;
    mla.kv_lora = *latent;
    mla.q_lora = config.whole("q_lora_rank", 0).value_or(0);
    const auto need = [&](std::string_view key) {
      const auto value = config.whole(key, 1);
      if (!value) config.fail("kv_lora_rank", "latent attention needs " + std::string(key));
      return *value;
    };
    mla.qk_nope = need("qk_nope_head_dim");
    mla.qk_rope = need("qk_rope_head_dim");
    mla.v = need("v_head_dim");
    model.mla = mla;
    // head_dim, where a config of this kind has one, is the rotary part alone.
    model.head_dim = mla.qk_nope + mla.qk_rope;
  }
  complete_heads(config, kv_key.empty() ? heads_key : kv_key, model, missing);
}

void take_biases(const Fields& config, const std::string& type, ModelShape& model) {
  const bool only_qkv = type.starts_with("glm4") || type == "glm" || type == "chatglm";
  // Of gpt-oss the switch restates what its family has.
  const auto attention = config.flag("attention_bias");
  if (attention && type != "gpt_oss") {
    if (type == "gpt_neox") {
      model.bias = false;
      model.mlp_bias = true;
    }
    model.qkv_bias = *attention;
    model.output_bias = *attention && !only_qkv;
  }
  for (const std::string_view key : {"qkv_bias", "use_qkv_bias", "add_qkv_bias"}) {
    if (const auto given = config.flag(key)) model.qkv_bias = *given;
  }
  if (const auto given = config.flag("mlp_bias")) model.mlp_bias = *given;
  for (const std::string_view key : {"use_bias", "enable_bias", "bias", "add_bias_linear"}) {
    if (const auto given = config.flag(key)) model.bias = *given;
  }
  if (const auto given = config.flag("no_bias")) {
    model.bias = !*given;
    model.norm_bias = !*given;
  }
  for (const std::string_view key : {"use_qk_norm", "qk_layernorm", "qk_norm"}) {
    const auto given = config.flag(key);
    if (given && !model.qk_norm_wide) model.qk_norm = *given;
  }
  if (type == "falcon") {
    const bool parallel = config.flag("parallel_attn").value_or(true);
    const bool newer = config.flag("new_decoder_architecture").value_or(false);
    const std::int64_t in_parallel = config.whole("num_ln_in_parallel_attn", 1).value_or(2);
    if (newer) {
      model.layer_norms = in_parallel;
    } else {
      model.layer_norms = parallel ? 1 : 2;
    }
  }
}

void take_width(const Fields& config, ModelShape& model, Notes& notes) {
  const auto given = config.whole(
      {"intermediate_size", "ffn_dim", "n_inner", "d_ff", "ffn_hidden_size", "inter_dim"}, 0);
  const auto multiple = config.whole("multiple_of", 1);
  const auto stretch = config.positive("ffn_dim_multiplier");
  const auto ratio = config.positive("expansion_ratio");
  if (given && *given > 0) {
    model.ffn_hidden = *given;
  } else if (multiple && model.hidden > 0) {
    // Meta's params.json: 8h/3, stretched, rounded up.
    const std::int64_t usual = 8 * model.hidden / 3;
    auto width = static_cast<double>(usual);
    if (stretch) width *= *stretch;
    model.ffn_hidden = (static_cast<std::int64_t>(width) + *multiple - 1) / *multiple * *multiple;
  } else if (ratio && model.hidden > 0) {
    model.ffn_hidden = static_cast<std::int64_t>(*ratio * static_cast<double>(model.hidden));
  } else if (model.hidden > 0) {
    model.ffn_hidden = usual_ffn(model);
    if (model.gated_mlp) {
      notes.add(
          NoteCode::ffn_hidden_assumed,
          "intermediate_size is not given: " + std::to_string(model.ffn_hidden) + " is assumed",
          config.place());
    }
  }
}

void take_positions(const Fields& config, const Family* family, ModelShape& model) {
  const auto rows =
      config.whole({"n_positions", "max_position_embeddings", "max_seq_len", "n_ctx"}, 1);
  bool learned = family != nullptr && family->extra_positions >= 0;
  if (const auto given = config.flag("learned_pos_emb")) learned = *given;
  if (config.flag("alibi").value_or(false)) learned = false;
  if (!learned || !rows) return;
  const std::int64_t extra =
      family == nullptr ? 0 : std::max<std::int64_t>(0, family->extra_positions);
  model.learned_positions = *rows + extra;
}

// Mamba-2 hybrids as Nemotron-H has them.
void take_hybrid(const Fields& config, ModelShape& model) {
  const auto pattern = config.text("hybrid_override_pattern");
  if (!pattern) return;
  const std::size_t other = pattern->find_first_not_of("M*E-");
  if (other != std::string::npos) {
    config.refuse("hybrid_override_pattern",
                  "'" + pattern->substr(other, 1) + "' is not a known kind of layer",
                  "M Mamba-2, * attention, E experts, - MLP");
  }
  model.pattern = *pattern;
  if (model.layers > 0 && model.layers != static_cast<std::int64_t>(pattern->size())) {
    config.fail("hybrid_override_pattern", "it has " + std::to_string(pattern->size()) +
                                               " letters for " + std::to_string(model.layers) +
                                               " layers");
  }
  model.layers = static_cast<std::int64_t>(pattern->size());
  model.mtp_pattern = config.text("mtp_hybrid_override_pattern").value_or("");
  const auto need = [&](std::initializer_list<std::string_view> keys) {
    const auto value = config.whole(keys, 1);
    if (!value) {
      config.fail("hybrid_override_pattern", "M layers need " + std::string(*keys.begin()));
    }
    return *value;
  };
  if (pattern->find('M') == std::string::npos) return;
  model.mamba_heads = need({"mamba_num_heads", "mamba_n_heads"});
  model.mamba_head_dim = need({"mamba_head_dim", "mamba_d_head"});
  model.mamba_state = need({"ssm_state_size", "mamba_d_state"});
  model.mamba_groups = need({"n_groups", "mamba_n_groups"});
  model.mamba_conv = config.whole({"conv_kernel", "mamba_d_conv"}, 1).value_or(4);
  // Settings of the same mixer that leave the count alone.
  (void)config.first_of({"mamba_hidden_act", "mamba_proj_bias", "mamba_ssm_cache_dtype",
                         "mamba_num_groups", "ssm_state_dtype"});
}

ModelShape decoder(const Fields& config, const std::string& type, Notes& notes,
                   std::vector<std::string>& missing) {
  ModelShape model;
  const Family* const family = find_family(type);
  model.family = type;
  if (family != nullptr) {
    apply_family(*family, model);
  } else if (!type.empty()) {
    model.tied_embeddings = true;  // what a config that says nothing has always meant
    notes.add(NoteCode::model_family_unknown,
              "model_type '" + type + "' is not known: the layers of Llama are assumed",
              config.place("model_type"));
  }
  if (family == nullptr) model.gated_mlp = gated_by_activation(config).value_or(true);

  model.layers =
      config.whole({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, 1).value_or(0);
  model.hidden =
      config.whole({"hidden_size", "n_embd", "d_model", "dim", "model_dim", "n_embed"}, 1)
          .value_or(0);
  model.vocab = config.whole({"padded_vocab_size", "vocab_size"}, 1).value_or(0);
  take_hybrid(config, model);
  take_attention(config, type, model, missing);
  take_width(config, model, notes);
  take_biases(config, type, model);
  take_positions(config, family, model);
  place_experts(config, model);
  place_windows(config, model);
  if (const auto tied = config.flag("tie_word_embeddings")) model.tied_embeddings = *tied;
  model.mtp_layers = config.whole({"num_nextn_predict_layers", "mtp_num_layers"}, 0).value_or(0);
  model.given_params = config.positive("params");
  // OPT-350m embeds into a narrower space.
  const auto narrow = config.whole("word_embed_proj_dim", 1);
  if (narrow && *narrow != model.hidden) {
    config.refuse("word_embed_proj_dim", "embeddings narrower than the layers cannot be counted");
  }
  for (const std::string_view key : {"attn_config", "ffn_config"}) {
    const nlohmann::json* const nested = config.find(key);
    const auto inner = nested != nullptr && nested->is_object() ? config.object(key) : std::nullopt;
    if (!inner) continue;
    for (const std::string_view width :
         {"kv_n_heads", "moe_num_experts", "ffn_hidden_size", "moe_top_k"}) {
      if (inner->has(width)) {
        inner->refuse(width, "a nested " + std::string(width) + " cannot be counted");
      }
    }
    if (key == "attn_config" && inner->text("attn_type").value_or("") == "multiquery_attention") {
      inner->refuse("attn_type", "multi-query attention in a nested config cannot be counted");
    }
  }

  if (model.layers == 0) missing.emplace_back("num_hidden_layers");
  if (model.hidden == 0) missing.emplace_back("hidden_size");
  if (model.heads == 0) missing.emplace_back("num_attention_heads");
  if (model.vocab == 0) missing.emplace_back("vocab_size");
  refuse_unknown_parts(config);
  return model;
}

// "meta-llama/Llama-3.1-8B" and a path are known by their last part.
std::string name_of(const Fields& config, const std::string& type) {
  std::string name = config.text("_name_or_path").value_or("");
  while (name.ends_with('/')) name.pop_back();
  const std::size_t owner = name.rfind('/');
  if (owner != std::string::npos) name.erase(0, owner + 1);
  return name.empty() ? type : name;
}

}  // namespace

ModelShape model_from_config(const Fields& config, Notes& notes,
                             std::vector<std::string>& missing) {
  const std::string outer_type = config.text("model_type").value_or("");
  refuse_kind(config, outer_type);
  const std::string_view nested = text_key(config);
  ModelShape model;
  if (nested.empty()) {
    model = decoder(config, outer_type, notes, missing);
  } else {
    const Fields inner = *config.object(nested);
    const std::string type = inner.text("model_type").value_or(outer_type);
    refuse_kind(inner, type);
    model = decoder(inner, type, notes, missing);
    // Said outside, where the inner object does not say it.
    const auto tied = config.flag("tie_word_embeddings");
    if (tied && !inner.has("tie_word_embeddings")) model.tied_embeddings = *tied;
    for (std::string& key : missing) key = std::string(nested) + "." + key;
  }
  if (!nested.empty() || config.has("vision_config") || config.has("audio_config")) {
    notes.add(NoteCode::text_tower_only,
              "only the text model is counted: image and audio towers are left out",
              nested.empty() ? config.place() : config.place(nested));
  }
  model.name = name_of(config, outer_type.empty() ? model.family : outer_type);
  return model;
}

}  // namespace mfu
