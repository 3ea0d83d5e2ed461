// Megatron's arguments block: "  name ....... value" between two dashed lines, or an excerpt of it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/note_code.hpp"
#include "logs/megatron/megatron.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

bool of_an_argument(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// What a shape is made of, and what tells apart two runs in one file.
constexpr std::size_t kMostArguments = 4000;

class ShapeText {
 public:
  void whole(const char* key, std::optional<double> value) {
    if (value && *value == std::floor(*value) && *value >= 0.0 && *value < 1e12) {
      put(key, std::to_string(static_cast<std::int64_t>(*value)));
    }
  }
  void flag(const char* key, bool value) { put(key, value ? "true" : "false"); }
  void put(const char* key, const std::string& json) {
    text_ += (text_.empty() ? "{\"" : ",\"") + std::string(key) + "\":" + json;
  }
  [[nodiscard]] std::string str() const { return text_.empty() ? text_ : text_ + "}"; }

 private:
  std::string text_;
};

// Layers with experts: an interval n (every nth), or a list of zeros and ones.
std::optional<double> expert_layers(std::string_view frequency, double layers) {
  if (frequency.starts_with("[")) {
    double count = 0.0;
    for (const char c : frequency) count += c == '1' ? 1.0 : 0.0;
    return count;
  }
  const std::optional<double> interval = LogText(frequency).number();
  if (!interval || *interval < 1.0) return std::nullopt;
  return std::ceil(layers / *interval);
}

}  // namespace

bool MegatronArguments::take(const LogLine& line) {
  if (line.text.find("padded vocab") != std::string_view::npos) {
    if (const auto size = number_after(line.text, "new size:")) {
      padded_vocab_ = size;
      vocab_line_ = line.number;
    }
    return true;
  }
  const std::string_view text = trimmed(line.text);
  std::size_t at = 0;
  while (at < text.size() && of_an_argument(text[at])) ++at;
  if (at == 0 || at + 3 >= text.size() || text[at] != ' ') return false;
  const std::string_view name = text.substr(0, at);
  std::size_t dots = ++at;
  while (dots < text.size() && text[dots] == '.') ++dots;
  if (dots - at < 3 || (dots < text.size() && text[dots] != ' ')) return false;
  if (values_.size() >= kMostArguments) return true;
  if (values_.empty()) first_line_ = line.number;
  const std::string_view value = trimmed(text.substr(dots)).substr(0, 4096);
  const auto [at_name, added] = values_.try_emplace(std::string(name), value);
  if (!added && at_name->second != value) {
    // The last of several runs in one file is the one that its end is about.
    if (differing_++ == 0) first_differing_ = line.number;
    at_name->second = value;
  }
  return true;
}

std::string_view MegatronArguments::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() || found->second == "None" ? std::string_view() : found->second;
}

bool MegatronArguments::flag(std::string_view name) const { return text(name) == "True"; }

std::optional<double> MegatronArguments::number(std::string_view name) const {
  return LogText(text(name)).number();
}

std::string MegatronArguments::model_json() const {
  const auto layers = number("num_layers");
  if (!layers) return {};
  ShapeText shape;
  shape.whole("layers", layers);
  shape.whole("hidden", number("hidden_size"));
  shape.whole("ffn_hidden", number("ffn_hidden_size"));
  shape.flag("gated_mlp", flag("swiglu"));
  shape.whole("heads", number("num_attention_heads"));
  if (flag("group_query_attention")) {
    shape.whole("kv_heads", number("num_query_groups"));
  } else {
    shape.whole("kv_heads", number("num_attention_heads"));
  }
  if (!flag("multi_latent_attention")) shape.whole("head_dim", number("kv_channels"));
  shape.whole("vocab", padded_vocab_ ? padded_vocab_ : number("padded_vocab_size"));
  shape.flag("tied_embeddings", !flag("untie_embeddings_and_output_weights"));
  // Up to 2021 there was no other kind of position.
  if (text("position_embedding_type") == "learned_absolute" ||
      (text("position_embedding_type").empty() && !flag("use_rotary_position_embeddings"))) {
    shape.whole("max_positions", number("max_position_embeddings"));
    if (number("max_position_embeddings")) shape.flag("learned_pos_emb", true);
  }
  if (const auto experts = number("num_experts"); experts && *experts > 1.0) {
    shape.whole("experts", experts);
    const auto top_k = number("moe_router_topk");
    shape.whole("top_k", top_k ? top_k : std::optional<double>(2.0));
    const auto width = number("moe_ffn_hidden_size");
    shape.whole("moe_ffn", width ? width : number("ffn_hidden_size"));
    shape.whole("shared_ffn", number("moe_shared_expert_intermediate_size"));
    const std::string_view frequency = text("moe_layer_freq");
    shape.whole("moe_layers", expert_layers(frequency.empty() ? "1" : frequency, *layers));
  }
  if (flag("multi_latent_attention")) {
    ShapeText latent;
    latent.whole("q_lora", number("q_lora_rank").value_or(0.0));
    latent.whole("kv_lora", number("kv_lora_rank"));
    latent.whole("qk_nope", number("qk_head_dim"));
    latent.whole("qk_rope", number("qk_pos_emb_head_dim"));
    latent.whole("v", number("v_head_dim"));
    shape.put("mla", latent.str());
  }
  const std::string_view pattern = text("hybrid_override_pattern");
  if (!pattern.empty() && pattern.find_first_not_of("M*E-") == std::string_view::npos) {
    shape.put("pattern", "\"" + std::string(pattern) + "\"");
    shape.whole("mamba_heads", number("mamba_num_heads"));
    shape.whole("mamba_head_dim", number("mamba_head_dim"));
    shape.whole("mamba_state", number("mamba_state_dim"));
    shape.whole("mamba_groups", number("mamba_num_groups"));
  }
  shape.whole("mtp_layers", number("mtp_num_layers"));
  return shape.str();
}

void MegatronArguments::apply(TrainingLog& log, Notes& notes) const {
  if (values_.empty()) return;
  if (differing_ > 0) {
    Place place;
    place.line = first_differing_;
    notes.add(NoteCode::arguments_differ, "several arguments blocks that differ: the last is used",
              std::move(place), differing_);
  }
  const std::string where = "arguments block, line " + std::to_string(first_line_);
  const auto set = [&](std::optional<double>& field, const char* what,
                       std::optional<double> value) {
    if (!positive(value)) return;
    field = value;
    log.said_by[what] = where;
  };
  set(log.gpus, "gpus", number("world_size"));
  set(log.global_batch, "global_batch", number("global_batch_size"));
  set(log.seq_len, "seq_len", number("seq_length"));
  const auto degree = [&](const char* key, std::string_view name) {
    if (const auto value = number(name); value && *value >= 1.0 && *value < 1e9) {
      log.parallel[key] = static_cast<int>(*value);
      log.said_by["parallel"] = where;
    }
  };
  degree("tp", values_.contains("tensor_model_parallel_size") ? "tensor_model_parallel_size"
                                                              : "model_parallel_size");
  degree("pp", "pipeline_model_parallel_size");
  degree("cp", "context_parallel_size");
  degree("ep", "expert_model_parallel_size");
  degree("dp", "data_parallel_size");
  degree("vpp", "virtual_pipeline_model_parallel_size");
  const auto of = [&log](const char* key) {
    const auto found = log.parallel.find(key);
    return found == log.parallel.end() ? 0 : found->second;
  };
  // Megatron of 2020: batch_size is that of a data-parallel replica, and there is no accumulation.
  const auto batch_2020 = number("batch_size");
  if (!log.global_batch && batch_2020 && log.gpus && of("tp") > 0 &&
      !values_.contains("micro_batch_size")) {
    const double replicas = *log.gpus / of("tp") / std::max(1, of("pp"));
    if (replicas >= 1.0 && replicas < 1e9) {
      log.parallel.try_emplace("dp", static_cast<int>(replicas));
    }
    set(log.global_batch, "global_batch", *batch_2020 * replicas);
    notes.add(NoteCode::batch_of_2020,
              "the arguments are those of Megatron in 2020: global batch taken as batch_size times "
              "data-parallel replicas, without accumulation");
  }
  if (const auto micro = number("micro_batch_size"); micro && log.global_batch && of("dp") > 0) {
    set(log.microbatches, "microbatches", *log.global_batch / (*micro * of("dp")));
  }
  if (!text("fp8").empty() && text("fp8") != "False") {
    log.precision = "fp8";
  } else if (flag("bf16")) {
    log.precision = "bf16";
  } else if (flag("fp16")) {
    log.precision = "fp16";
  }
  if (!log.precision.empty()) log.said_by["precision"] = where;
  if (values_.contains("recompute_granularity")) {
    const std::string_view granularity = text("recompute_granularity");
    log.recompute = granularity.empty() ? "none" : std::string(granularity);
    log.said_by["recompute"] = where;
  } else if (flag("checkpoint_activations")) {
    log.recompute = "full";
    log.said_by["recompute"] = where;
  }
  log.model_json = model_json();
  if (!log.model_json.empty()) {
    log.said_by["model"] = where;
    if (padded_vocab_) log.said_by["model"] += "; vocabulary, line " + std::to_string(vocab_line_);
  }
}

}  // namespace mfu
