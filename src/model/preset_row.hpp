// One model that people name, as a row: its shape beside its family's defaults, and where it is
// written.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mfu/model.hpp"

namespace mfu {

struct PresetCore {
  std::int64_t layers, hidden, ffn_hidden, heads, kv_heads, head_dim, vocab;
};

struct PresetExperts {
  std::int64_t experts = 0, top_k = 0, moe_ffn = 0, shared_ffn = 0, dense_layers = 0, latent = 0;
};

struct PresetMamba {
  std::string_view pattern;
  std::int64_t heads = 0, head_dim = 0, state = 0, groups = 0;
  std::string_view mtp_pattern = {};
};

enum class Tying : unsigned char { by_family, tied, untied };

struct PresetRow {
  std::string_view name;
  std::string_view family;
  PresetCore core;
  std::string_view source;
  std::span<const std::string_view> aliases = {};
  Tying tying = Tying::by_family;
  std::int64_t positions = 0;
  std::int64_t window = 0;
  std::int64_t local_layers = 0;
  std::int64_t layer_norms = 0;  // 0: the family's
  std::int64_t mtp_layers = 0;
  PresetExperts moe = {};
  LatentAttention mla = {};  // kv_lora 0: ordinary attention
  PresetMamba mamba = {};
};

[[nodiscard]] std::span<const PresetRow> gpt_presets() noexcept;
[[nodiscard]] std::span<const PresetRow> llama_presets() noexcept;
[[nodiscard]] std::span<const PresetRow> open_presets() noexcept;
[[nodiscard]] std::span<const PresetRow> moe_presets() noexcept;

}  // namespace mfu
