// Which preset a name means: by its words and numbers, never by a part of one.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "mfu/model.hpp"
#include "model/family.hpp"
#include "model/preset_row.hpp"

namespace mfu {
namespace {

std::array<std::span<const PresetRow>, 4> tables() noexcept {
  return {gpt_presets(), llama_presets(), open_presets(), moe_presets()};
}

// Words that people and hubs add and that leave the shape alone.
bool says_nothing(std::string_view token) noexcept {
  constexpr std::array<std::string_view, 9> kWords{"instruct", "chat", "base", "hf",  "it",
                                                   "pt",       "meta", "text", "bf16"};
  return std::find(kWords.begin(), kWords.end(), token) != kWords.end();
}

enum class Kind : unsigned char { letter, digit, between };
Kind kind_of(char c) noexcept {
  if (c >= '0' && c <= '9') return Kind::digit;
  if (c == '-' || c == '_' || c == '.' || c == ' ' || c == '\t') return Kind::between;
  return Kind::letter;
}

// "Llama-3.1-8B" is llama, 3, 1, 8, b: "llama3" and "llama-3" are one name, 1.3b and 13b are two.
std::vector<std::string> tokens_of(std::string_view name) {
  const std::size_t owner = name.rfind('/');
  if (owner != std::string_view::npos) name.remove_prefix(owner + 1);
  std::vector<std::string> tokens;
  std::string token;
  Kind last = Kind::between;
  const auto flush = [&] {
    if (!token.empty() && !says_nothing(token)) tokens.push_back(token);
    token.clear();
  };
  for (const char c : name) {
    const Kind kind = kind_of(c);
    if (kind != last) flush();
    last = kind;
    if (kind == Kind::between) continue;
    token.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  flush();
  return tokens;
}

std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : "-") + token;
  return text;
}

std::vector<std::string_view> names_of(const PresetRow& row) {
  std::vector<std::string_view> names{row.name};
  names.insert(names.end(), row.aliases.begin(), row.aliases.end());
  return names;
}

template <typename Take>
void each_row(Take take) {
  for (const std::span<const PresetRow> table : tables()) {
    for (const PresetRow& row : table) take(row);
  }
}

// The wanted tokens stand in a name in this order, with others before, between or behind.
bool leaves_open(const std::vector<std::string>& wanted, const std::vector<std::string>& name) {
  auto at = wanted.begin();
  for (const std::string& token : name) {
    if (at != wanted.end() && *at == token) ++at;
  }
  return at == wanted.end();
}

std::string listed(const std::vector<std::string_view>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

// Several may be meant: all that are near, nearest first.
std::vector<std::string_view> near_names(const std::string& typed) {
  if (typed.size() > 64) return {};  // not a misspelling, and the distance is quadratic
  std::vector<std::pair<std::size_t, std::string_view>> found;
  each_row([&](const PresetRow& row) {
    std::size_t best = typed.size();
    for (const std::string_view name : names_of(row)) {
      best = std::min(best, edit_distance(typed, joined(tokens_of(name))));
    }
    if (best <= std::max<std::size_t>(1, typed.size() / 3)) found.emplace_back(best, row.name);
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string_view> names;
  for (const auto& [distance, name] : found) names.push_back(name);
  if (names.size() > 4) names.resize(4);
  return names;
}

[[noreturn]] void refuse(std::string_view name, const std::vector<std::string>& wanted) {
  const std::string shown(name.substr(0, 80));
  std::vector<std::string_view> variants;
  if (!wanted.empty()) {
    each_row([&](const PresetRow& row) {
      const std::vector<std::string_view> names = names_of(row);
      if (std::any_of(names.begin(), names.end(), [&](std::string_view candidate) {
            return leaves_open(wanted, tokens_of(candidate));
          })) {
        variants.push_back(row.name);
      }
    });
  }
  constexpr std::string_view kElse =
      "; or give a config.json, or the shape (mfu list models has all names)";
  if (!variants.empty()) {
    throw Error(ErrorKind::unsupported, "'" + shown + "' does not say which model is meant", {},
                "say which: " + listed(variants, 12) + std::string(kElse));
  }
  const std::vector<std::string_view> near = near_names(joined(wanted));
  throw Error(
      ErrorKind::unsupported, "unknown model '" + shown + "'", {},
      (near.empty() ? "no name is near" : "near names: " + listed(near, 4)) + std::string(kElse));
}

ModelShape shape_of(const PresetRow& row) {
  ModelShape model;
  if (const Family* const family = find_family(row.family)) apply_family(*family, model);
  model.name = std::string(row.name);
  model.layers = row.core.layers;
  model.hidden = row.core.hidden;
  model.ffn_hidden = row.core.ffn_hidden;
  model.heads = row.core.heads;
  model.kv_heads = row.core.kv_heads;
  model.head_dim = row.core.head_dim;
  model.vocab = row.core.vocab;
  if (row.tying != Tying::by_family) model.tied_embeddings = row.tying == Tying::tied;
  model.learned_positions = row.positions;
  model.window = row.window;
  model.local_layers = row.local_layers;
  if (row.layer_norms > 0) model.layer_norms = row.layer_norms;
  model.mtp_layers = row.mtp_layers;
  if (row.moe.experts > 0) {
    model.experts = row.moe.experts;
    model.top_k = row.moe.top_k;
    model.moe_ffn = row.moe.moe_ffn;
    model.shared_ffn = row.moe.shared_ffn;
    model.latent = row.moe.latent;
    model.moe_layers = model.layers - row.moe.dense_layers;
  }
  if (row.mla.kv_lora > 0) {
    model.mla = row.mla;
    model.head_dim = row.mla.qk_nope + row.mla.qk_rope;
  }
  if (!row.mamba.pattern.empty()) {
    model.pattern = std::string(row.mamba.pattern);
    model.mtp_pattern = std::string(row.mamba.mtp_pattern);
    model.mamba_heads = row.mamba.heads;
    model.mamba_head_dim = row.mamba.head_dim;
    model.mamba_state = row.mamba.state;
    model.mamba_groups = row.mamba.groups;
    model.moe_layers = std::count(model.pattern.begin(), model.pattern.end(), 'E');
  }
  return model;
}

std::vector<ModelPreset> listed_presets() {
  std::vector<ModelPreset> presets;
  each_row([&](const PresetRow& row) { presets.push_back({row.name, row.aliases, row.source}); });
  return presets;
}

}  // namespace

std::span<const ModelPreset> model_presets() noexcept {
  static const std::vector<ModelPreset> presets = listed_presets();
  return presets;
}

ModelShape find_model(std::string_view name) {
  const std::vector<std::string> wanted = tokens_of(name);
  const PresetRow* found = nullptr;
  if (!wanted.empty()) {
    each_row([&](const PresetRow& row) {
      const std::vector<std::string_view> names = names_of(row);
      if (found == nullptr &&
          std::any_of(names.begin(), names.end(),
                      [&](std::string_view candidate) { return tokens_of(candidate) == wanted; })) {
        found = &row;
      }
    });
  }
  if (found == nullptr) refuse(name, wanted);
  return shape_of(*found);
}

}  // namespace mfu
