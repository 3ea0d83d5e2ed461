// FLOPs of training a transformer: one exact count per component, and conventions, which are named
// settings of that count or closed forms that the field uses.
//
// One multiply-add is 2 FLOPs. Unless said otherwise a value is per token, forward and backward.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/model.hpp"

namespace mfu {

enum class AttentionCount {
  none,    // scores and values are not counted
  full,    // every query sees the whole sequence
  causal,  // half of that: mean context s/2
  exact,   // exact pairs: (s+1)/2, windows, packed lengths
};
enum class RecomputeCount { none, selective, full, palm, palm_attention };
enum class Trainable {
  all,
  lora,  // frozen linear weights cost forward 2 and input gradient 2 instead of 6
  none,  // forward only
};

// What the command line can override. Nothing: as the convention has it.
struct Switches {
  std::optional<AttentionCount> attention{};
  std::optional<bool> honour_window{};
  std::optional<bool> count_router{};
  std::optional<RecomputeCount> recompute{};
  std::optional<Trainable> trainable{};
};

struct Work {
  double seq_len = 0.0;            // tokens of a sequence, as the run has it
  std::vector<double> lengths{};   // packed documents; empty: each sequence is one document
  std::optional<double> params{};  // stated N, for the closed forms that take it
};

struct Component {
  std::string id;  // qkv, scores_values, attention_output, mlp, experts, shared_experts, router,
                   // logits, mtp, mamba; where a convention counts them: embedding, softmax, norms
  double forward = 0.0;  // FLOPs a token
  double backward = 0.0;
};

struct FlopCount {
  std::optional<double> model_flops;     // a token; nothing for a hardware count
  std::optional<double> hardware_flops;  // a token; nothing where recomputation is not defined
  double params = 0.0;                   // N that was used, where the formula has one
  std::vector<Component> components;     // empty for closed forms
  std::string settings;  // the switches as they stood: "attention=causal window=honour ..."
};

struct Convention {
  std::string_view id;
  std::string_view title;
  std::string_view formula;     // for people
  std::string_view leaves_out;  // or counts twice; known quirks
  std::string_view source;      // whose number it is, where it is written
  std::string_view date;        // of that source, or of the change
  Switches defaults;            // one that is not set has no meaning for the convention
  bool hardware_count = false;  // the figure is HFU-like: model_flops stays empty
  FlopCount (*count)(const ModelShape&, const Work&, const Switches& resolved);
};

[[nodiscard]] std::span<const Convention> conventions() noexcept;

// Throws Error{usage} with the nearest ids.
[[nodiscard]] const Convention& find_convention(std::string_view id);

// The count under a convention with switches overridden. Throws Error{insufficient} naming every
// key of the model that the formula needs and the shape lacks, Error{unsupported} where the
// convention has no meaning for the shape or the switch.
[[nodiscard]] FlopCount count_flops(const ModelShape& model, const Work& work,
                                    const Convention& convention, const Switches& overrides = {});

}  // namespace mfu
