// Rows of facts about FLOPs, as the tests keep them: a shape, a length, a convention with switches,
// and what came out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "mfu/error.hpp"
#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace flops_rows {

using Json = nlohmann::json;

inline std::optional<Json> read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return Json::parse(file);
}

// The keys of the model object (formats), with seq_len and params beside them.
inline mfu::ModelShape shape_of(const Json& model) {
  const auto number = [&](const char* key) -> std::int64_t {
    return model.contains(key) ? model[key].get<std::int64_t>() : 0;
  };
  const auto flag = [&](const char* key, bool otherwise) {
    return model.contains(key) && model[key].is_boolean() ? model[key].get<bool>() : otherwise;
  };
  mfu::ModelShape shape;
  shape.name = model.value("name", "");
  shape.family = model.value("family", "");
  shape.pattern = model.value("pattern", "");
  shape.mtp_pattern = model.value("mtp_pattern", "");
  shape.layers =
      shape.pattern.empty() ? number("layers") : static_cast<std::int64_t>(shape.pattern.size());
  shape.hidden = number("hidden");
  shape.ffn_hidden = number("ffn_hidden");
  // Stacks by pattern have squared ReLU, hence two matrices.
  shape.gated_mlp = flag("gated_mlp", shape.pattern.empty());
  shape.heads = number("heads");
  shape.kv_heads = model.contains("kv_heads") ? number("kv_heads") : shape.heads;
  shape.head_dim = number("head_dim");
  if (shape.head_dim == 0 && shape.heads > 0) shape.head_dim = shape.hidden / shape.heads;
  shape.vocab = number("vocab");
  shape.tied_embeddings = flag("tied_embeddings", false);
  shape.learned_positions = flag("learned_pos_emb", false) ? number("seq_len") : 0;
  shape.experts = number("experts");
  shape.top_k = number("top_k");
  shape.moe_ffn = number("moe_ffn");
  shape.shared_ffn = number("shared_ffn");
  if (shape.experts > 0 && shape.pattern.empty()) {
    shape.moe_layers = shape.layers - number("dense_layers");
  } else {
    shape.moe_layers = std::count(shape.pattern.begin(), shape.pattern.end(), 'E');
  }
  if (model.contains("mla")) {
    const Json& mla = model["mla"];
    shape.mla =
        mfu::LatentAttention{mla.value("q_lora", 0), mla.value("kv_lora", 0),
                             mla.value("qk_nope", 0), mla.value("qk_rope", 0), mla.value("v", 0)};
  }
  shape.window = number("window");
  shape.local_layers = number("local_layers");
  shape.mamba_heads = number("mamba_heads");
  shape.mamba_head_dim = number("mamba_head_dim");
  shape.mamba_state = number("mamba_state");
  shape.mamba_groups = number("mamba_groups");
  shape.latent = number("latent");
  shape.qk_norm = flag("qk_norm", false);
  shape.mtp_layers = number("mtp_layers");
  if (model.contains("params")) shape.given_params = model["params"].get<double>();
  return shape;
}

inline mfu::Switches switches_of(const Json& object) {
  mfu::Switches switches;
  for (const auto& [key, value] : object.items()) {
    const std::string text = value.get<std::string>();
    if (key == "attention") {
      switches.attention = text == "none"     ? mfu::AttentionCount::none
                           : text == "full"   ? mfu::AttentionCount::full
                           : text == "causal" ? mfu::AttentionCount::causal
                                              : mfu::AttentionCount::exact;
    } else if (key == "window") {
      switches.honour_window = text == "honour";
    } else if (key == "router") {
      switches.count_router = text == "count";
    } else if (key == "recompute") {
      switches.recompute = text == "none"        ? mfu::RecomputeCount::none
                           : text == "selective" ? mfu::RecomputeCount::selective
                           : text == "full"      ? mfu::RecomputeCount::full
                           : text == "palm"      ? mfu::RecomputeCount::palm
                                                 : mfu::RecomputeCount::palm_attention;
    } else if (key == "trainable") {
      switches.trainable = text == "all"    ? mfu::Trainable::all
                           : text == "lora" ? mfu::Trainable::lora
                                            : mfu::Trainable::none;
    }
  }
  return switches;
}

inline double off_by(double got, double wanted) {
  return std::abs(got - wanted) / std::abs(wanted);
}

// Within 1 % or half a unit of the last digit that was printed.
inline bool reproduces(double got, const Json& printed) {
  const auto wanted = printed.get<double>();
  if (off_by(got, wanted) <= 0.01) return true;
  const std::string text = printed.dump();
  const std::size_t point = text.find('.');
  const auto digits = point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
  return std::abs(got - wanted) <= 0.5 * std::pow(10.0, -digits) * (1.0 + 1e-9);
}

}  // namespace flops_rows
