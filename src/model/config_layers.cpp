// Which layers of a config.json have experts, and which a window: several keys, one rule a family.
#include <algorithm>
#include <vector>

#include "model/family.hpp"
#include "model/parsed.hpp"

namespace mfu {
namespace {

using nlohmann::json;

// One entry a layer, true where the layer has experts.
class Placement {
 public:
  Placement(const Fields& config, std::int64_t layers)
      : config_(config), sparse_(static_cast<std::size_t>(layers), true) {}

  template <typename Keep>
  void keep_if(Keep keep) {
    for (std::size_t i = 0; i < sparse_.size(); ++i) {
      if (!keep(static_cast<std::int64_t>(i))) sparse_[i] = false;
    }
  }
  // Every step-th layer, counted from the first or so that the first is skipped.
  void keep_every(std::string_view key, bool from_first) {
    const auto step = config_.whole(key, 1);
    if (!step) return;
    const std::int64_t shift = from_first ? 0 : 1;
    keep_if([&](std::int64_t i) { return (i + shift) % *step == 0; });
  }
  void frequency(std::string_view key) {
    const json* const value = config_.find(key);
    if (value == nullptr) return;
    if (!value->is_array()) {
      keep_every(key, true);
      return;
    }
    if (value->size() != sparse_.size()) {
      config_.fail(key, "it has " + std::to_string(value->size()) + " entries for " +
                            std::to_string(sparse_.size()) + " layers");
    }
    for (std::size_t i = 0; i < sparse_.size(); ++i) {
      const json& entry = value->at(i);
      const bool plain = entry.is_number_integer() || entry.is_boolean();
      if (!plain) config_.fail(key, "expected 0 or 1 per layer");
      const bool on = entry.is_boolean() ? entry.get<bool>() : entry.get<std::int64_t>() != 0;
      if (!on) sparse_[i] = false;
    }
  }
  void drop_listed(std::string_view key) {
    const json* const value = config_.find(key);
    if (value == nullptr) return;
    if (!value->is_array()) config_.fail(key, "expected a list of layers");
    for (const json& entry : *value) {
      const bool fits = entry.is_number_integer() && entry.get<std::int64_t>() >= 0 &&
                        entry.get<std::int64_t>() < static_cast<std::int64_t>(sparse_.size());
      if (!fits) config_.fail(key, "no such layer: " + entry.dump());
      sparse_[entry.get<std::size_t>()] = false;
    }
  }
  [[nodiscard]] std::int64_t count() const {
    return std::count(sparse_.begin(), sparse_.end(), true);
  }

 private:
  const Fields& config_;
  std::vector<bool> sparse_;
};

std::int64_t windowed_by_types(const Fields& config, const json& types, std::int64_t layers) {
  if (!types.is_array()) config.fail("layer_types", "expected one kind per layer");
  if (static_cast<std::int64_t>(types.size()) != layers) {
    config.fail("layer_types", "it has " + std::to_string(types.size()) + " entries for " +
                                   std::to_string(layers) + " layers");
  }
  std::int64_t windowed = 0;
  for (const json& entry : types) {
    const std::string kind = entry.is_string() ? entry.get<std::string>() : entry.dump();
    if (kind == "sliding_attention") {
      ++windowed;
    } else if (kind != "full_attention") {
      config.refuse("layer_types", "layers of kind '" + kind + "' cannot be counted",
                    "full_attention and sliding_attention are known");
    }
  }
  return windowed;
}

std::int64_t windowed_by_family(const Fields& config, const ModelShape& model) {
  const auto pattern = config.whole({"sliding_window_pattern", "_sliding_window_pattern"}, 1);
  const Family* const family = find_family(model.family);
  const Window rule = family == nullptr ? Window::all_layers : family->window;
  const auto from = config.whole("max_window_layers", 0);
  const std::int64_t layers = model.layers;
  if (pattern) return layers - layers / *pattern;
  switch (rule) {
    case Window::alternate:
      return (layers + 1) / 2;
    case Window::five_of_six:
      return layers - layers / 6;
    case Window::switched:
      return std::max<std::int64_t>(0, layers - from.value_or(layers));
    case Window::all_layers:
      break;
  }
  return layers;
}

}  // namespace

void place_experts(const Fields& config, ModelShape& model) {
  const std::int64_t experts =
      config.whole({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0)
          .value_or(0);
  const std::string_view top_key = config.first_of(
      {"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_top_k",
       "topk", "n_activated_experts", "top_k_experts", "moe_k"});
  const auto width = config.whole({"moe_intermediate_size", "moe_inter_dim",
                                   "expert_ffn_hidden_size", "expert_intermediate_size"},
                                  1);
  const auto shared =
      config.whole({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"}, 0);
  const auto shared_width =
      config.whole({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                    "shared_intermediate_size"},
                   0);
  Placement layers(config, model.layers);
  const auto first_dense =
      config.whole({"first_k_dense_replace", "n_dense_layers", "num_dense_layers"}, 0);
  if (first_dense) layers.keep_if([&](std::int64_t i) { return i >= *first_dense; });
  layers.drop_listed("mlp_only_layers");
  layers.keep_every("decoder_sparse_step", false);
  layers.keep_every("interleave_moe_layer_step", false);
  layers.keep_every("moe_layer_interval", false);
  layers.frequency("moe_layer_freq");
  if (const auto from = config.whole("moe_layer_start_index", 0)) {
    layers.keep_if([&](std::int64_t i) { return i >= *from; });
  }
  model.latent = config.whole("moe_latent_size", 0).value_or(0);
  if (experts <= 1) {
    model.latent = 0;
    return;
  }
  if (top_key.empty()) {
    config.fail("num_experts_per_tok", "num_experts_per_tok is missing: experts per token");
  }
  model.experts = experts;
  model.top_k = config.whole(top_key, 1).value_or(0);
  if (model.top_k > model.experts) config.fail(top_key, "more than there are experts");
  model.moe_ffn = width.value_or(model.ffn_hidden);
  if (shared_width) {
    model.shared_ffn = *shared_width * (shared && *shared > 0 ? *shared : 1);
  } else {
    model.shared_ffn = shared.value_or(0) * model.moe_ffn;
  }
  model.moe_layers = model.pattern.empty()
                         ? layers.count()
                         : std::count(model.pattern.begin(), model.pattern.end(), 'E');
}

void place_windows(const Fields& config, ModelShape& model) {
  const json* const types = config.find("layer_types");
  const std::int64_t by_types =
      types == nullptr ? 0 : windowed_by_types(config, *types, model.layers);
  const std::int64_t width = config.whole({"sliding_window", "sliding_window_size"}, 0).value_or(0);
  const Family* const family = find_family(model.family);
  const bool switched = family != nullptr && family->window == Window::switched;
  const bool on = config.flag("use_sliding_window").value_or(!switched);
  const std::int64_t by_family = windowed_by_family(config, model);
  if (types != nullptr && by_types > 0 && width == 0) {
    config.fail("layer_types", "sliding_attention needs a sliding_window");
  }
  if (width == 0 || (!on && types == nullptr)) return;
  model.local_layers = types == nullptr ? by_family : by_types;
  if (model.local_layers > 0) model.window = width;
}

}  // namespace mfu
