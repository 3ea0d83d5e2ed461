#include <algorithm>
#include <array>
#include <cmath>

#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "model/family.hpp"
#include "model/parsed.hpp"

namespace mfu {
namespace {

bool any_key(const nlohmann::json& object, std::initializer_list<std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    const auto found = object.find(key);
    return found != object.end() && !found->is_null();
  });
}

bool is_object_of_ours(const nlohmann::json& object) {
  return any_key(object, {"layers", "hidden", "heads", "vocab", "pattern"});
}

bool is_config(const nlohmann::json& object) {
  return any_key(object, {"model_type", "architectures", "num_hidden_layers", "n_layer", "n_layers",
                          "num_layers", "hidden_size", "n_embd", "d_model", "dim", "text_config",
                          "llm_config", "language_config"});
}

// "8.03 B"
std::string shown(double parameters) {
  const bool billions = parameters >= 1e9;
  const double hundredths = std::round(parameters / (billions ? 1e7 : 1e4));
  const auto whole = static_cast<std::int64_t>(hundredths);
  const std::string rest = std::to_string(whole % 100);
  return std::to_string(whole / 100) + "." + (rest.size() < 2 ? "0" : "") + rest +
         (billions ? "B" : "M");
}

// The size that a name states, 0 when it states none: "llama-2-7b", "6_9b", "124M". "8x7b" counts
// experts and "a3b" what is active, so neither does.
double size_in_name(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto in_word = [digit](char c) {
    return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts = digit(name[i]) && (i == 0 || !in_word(name[i - 1]));
    if (!starts) continue;
    double value = 0.0;
    double unit = 1.0;
    std::size_t at = i;
    bool fraction = false;
    for (; at < name.size(); ++at) {
      if (digit(name[at])) {
        value = 10.0 * value + (name[at] - '0');
        if (fraction) unit *= 10.0;
      } else if ((name[at] == '.' || name[at] == '_') && !fraction && at + 1 < name.size() &&
                 digit(name[at + 1])) {
        fraction = true;
      } else {
        break;
      }
    }
    const bool ends = at + 1 == name.size() || (at + 1 < name.size() && !in_word(name[at + 1]));
    if (at < name.size() && ends) {
      const char letter = name[at];
      if (letter == 'b' || letter == 'B') return value / unit * 1e9;
      if (letter == 'm' || letter == 'M') return value / unit * 1e6;
    }
    i = at;
  }
  return 0.0;
}

void compare_counts(const Fields& fields, const ModelShape& model, Notes& notes) {
  const double derived = count_parameters(model).total;
  if (model.given_params && std::fabs(*model.given_params - derived) > 0.02 * derived) {
    notes.add(NoteCode::params_differ,
              "params says " + shown(*model.given_params) + ", the shape has " + shown(derived) +
                  " parameters",
              fields.place("params"));
  }
  const double named = size_in_name(model.name);
  constexpr double kMostApart = 1.5;  // names round: Gemma 7B has 8.5
  if (named > 0.0 && (named > kMostApart * derived || derived > kMostApart * named)) {
    notes.add(NoteCode::model_name_differs,
              "the name '" + model.name + "' says " + shown(named) + ", the shape has " +
                  shown(derived) + " parameters",
              fields.place());
  }
}

std::string listed(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

std::int64_t usual_ffn(const ModelShape& model) {
  if (!model.gated_mlp) return 4 * model.hidden;
  return (8 * model.hidden / 3 + 255) / 256 * 256;
}

void complete_heads(const Fields& fields, std::string_view kv_heads_key, ModelShape& model,
                    std::vector<std::string>& missing) {
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.mla || model.heads == 0) return;
  if (model.heads % model.kv_heads != 0) {
    fields.fail(kv_heads_key, std::to_string(model.heads) + " heads do not share " +
                                  std::to_string(model.kv_heads) + " key/value heads evenly");
  }
  if (model.head_dim > 0 || model.hidden == 0) return;
  if (model.hidden % model.heads == 0) {
    model.head_dim = model.hidden / model.heads;
    return;
  }
  missing.push_back("head_dim (hidden " + std::to_string(model.hidden) + " is not a multiple of " +
                    std::to_string(model.heads) + " heads)");
}

void refuse_unknown_parts(const Fields& fields) {
  // Beginnings of keys of attention kinds and mixers that have no count here.
  constexpr std::array<std::string_view, 29> kStarts{"linear_",
                                                     "index_",
                                                     "kda_",
                                                     "gdn_",
                                                     "mamba_",
                                                     "ssm_",
                                                     "rwkv",
                                                     "lru_",
                                                     "xlstm",
                                                     "conv_L",
                                                     "short_conv",
                                                     "altup_",
                                                     "laurel_",
                                                     "compress_",
                                                     "hc_mult",
                                                     "block_config",
                                                     "attn_layer",
                                                     "attention_chunk",
                                                     "attn_output_gate",
                                                     "full_attention_interval",
                                                     "num_kv_shared",
                                                     "hidden_size_per_layer",
                                                     "cross_attention",
                                                     "sparse_attention",
                                                     "attn_type_list",
                                                     "layers_block_type",
                                                     "global_attn_every",
                                                     "hybrid_layer",
                                                     "moba_"};
  for (const std::string& key : fields.unasked()) {
    const nlohmann::json& value = fields.members().at(key);
    const bool off = (value.is_boolean() && !value.get<bool>()) ||
                     (value.is_number() && value.get<double>() == 0.0) ||
                     (value.is_structured() && value.empty()) ||
                     (value.is_string() && value.get_ref<const std::string&>().empty());
    if (off) continue;
    const bool speaks = std::any_of(kStarts.begin(), kStarts.end(),
                                    [&](std::string_view start) { return key.starts_with(start); });
    if (!speaks) continue;
    fields.refuse(key, "'" + key + "' changes the count in a way that this version does not know",
                  "a shape that is counted wrongly would give a wrong MFU; --params N with the "
                  "convention 6n needs no shape");
  }
}

ModelShape parse_model(std::string_view json_text, const std::string& source, Notes& notes,
                       MissingKeys missing_keys) {
  const JsonText text = read_model_text(json_text, source);
  const nlohmann::json json = parse_model_text(text);
  const Fields fields(json, text);
  const bool ours = is_object_of_ours(json);
  const bool config = !ours && is_config(json);
  if (!ours && !config) {
    if (!any_key(json, {"name", "params"})) {
      throw Error(ErrorKind::format, "neither a model's shape nor a config.json", fields.place(),
                  "layers, hidden, heads and vocab are what a shape needs");
    }
    if (!any_key(json, {"params"})) {
      const std::string name = fields.text("name").value_or("");
      try {
        return find_model(name);
      } catch (const Error& problem) {
        if (missing_keys == MissingKeys::refuse) {
          throw Error(problem.kind(), problem.message(), fields.place("name"), problem.hint());
        }
        // A rate that is already in FLOP/s needs no shape.
        notes.add(NoteCode::model_unknown, problem.message(), fields.place("name"));
        ModelShape unknown;
        unknown.name = name;
        return unknown;
      }
    }
  }
  std::vector<std::string> missing;
  ModelShape model = config ? model_from_config(fields, notes, missing)
                            : model_from_object(fields, notes, missing);
  if (missing.empty()) {
    compare_counts(fields, model, notes);
    return model;
  }
  if (missing_keys == MissingKeys::refuse) {
    throw Error(ErrorKind::format,
                listed(missing) + (missing.size() == 1 ? " is missing" : " are missing"),
                fields.place(), config ? "" : "layers, hidden, heads and vocab are needed");
  }
  notes.add(NoteCode::model_keys_missing, "the model's shape lacks " + listed(missing),
            fields.place());
  return model;
}

}  // namespace mfu
