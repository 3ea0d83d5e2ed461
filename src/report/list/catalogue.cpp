// Conventions, models, chips and terms: as a list, or one of them in full.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/nearest.hpp"
#include "chips/no_chip.hpp"
#include "mfu/chip.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/list/list_section.hpp"
#include "report/list/terms.hpp"
#include "report/measure/calc_wording.hpp"

namespace mfu {
namespace {

std::string params_text(double params) {
  return params >= 1e9 ? fmt::format("{:.4g}B", params / 1e9)
                       : fmt::format("{:.4g}M", params / 1e6);
}

Item convention_item(const Convention& convention, bool detailed) {
  Item item{std::string(convention.id), std::string(convention.title), "",
            std::string(convention.source)};
  item.text = fmt::format("FLOPs per token: {}.", convention.formula);
  if (!detailed) return item;
  if (convention.hardware_count) item.text += " A hardware count: it gives an HFU, not an MFU.";
  if (!convention.leaves_out.empty()) {
    item.text += fmt::format(" Left out, or counted differently: {}.", convention.leaves_out);
  }
  const Switches& defaults = convention.defaults;
  std::string can;
  const auto add = [&](bool has, std::string_view option) {
    if (has) can += (can.empty() ? "" : ", ") + std::string(option);
  };
  add(defaults.attention.has_value(), "--attention");
  add(defaults.honour_window.has_value(), "--window");
  add(defaults.count_router.has_value(), "--router");
  add(defaults.recompute.has_value(), "--recompute");
  add(defaults.trainable.has_value(), "--trainable");
  if (!can.empty()) item.text += " Takes: " + can + ".";
  if (!convention.date.empty()) item.source += fmt::format(" ({})", convention.date);
  return item;
}

Item model_item(const ModelPreset& preset, bool detailed) {
  Item item{std::string(preset.name), "", "", std::string(preset.source)};
  const ModelShape shape = find_model(preset.name);
  const ParameterCount counted = count_parameters(shape);
  item.title = params_text(counted.total);
  if (counted.active != counted.total) {
    item.title += fmt::format(", {} active", params_text(counted.active));
  }
  item.text =
      fmt::format("{} layers, hidden {}, {} heads", shape.layers, shape.hidden, shape.heads);
  if (shape.kv_heads != shape.heads && shape.kv_heads > 0) {
    item.text += fmt::format(" ({} of keys and values)", shape.kv_heads);
  }
  if (!detailed) return item;
  item.text +=
      fmt::format(" of {}, MLP {}{}, vocabulary {}{}. {} parameters, {} active.", shape.head_dim,
                  shape.ffn_hidden, shape.gated_mlp ? " gated" : "",
                  format_grouped(double(shape.vocab)), shape.tied_embeddings ? ", tied" : "",
                  format_grouped(counted.total), format_grouped(counted.active));
  if (shape.experts > 0) {
    item.text += fmt::format(" {} of {} experts of width {} in {} layers{}.", shape.top_k,
                             shape.experts, shape.moe_ffn, shape.moe_layers,
                             shape.shared_ffn > 0
                                 ? fmt::format(", shared experts of width {}", shape.shared_ffn)
                                 : std::string());
  }
  if (shape.window > 0) {
    item.text += fmt::format(" Window {} in {} layers.", shape.window, shape.local_layers);
  }
  if (!preset.aliases.empty()) {
    item.text += fmt::format(" Also: {}.", fmt::join(preset.aliases, ", "));
  }
  return item;
}

Item chip_item(const Chip& chip, bool detailed) {
  Item item{std::string(chip.id), std::string(chip.name), "", std::string(chip.source)};
  const Precision main = rate_of(chip, Precision::bf16) ? Precision::bf16 : Precision::fp16;
  for (const PrecisionRate& rate : chip.rates) {
    if (!detailed && rate.precision != main && rate.precision != Precision::fp8) continue;
    item.text += fmt::format("{}{} {:.5g}", item.text.empty() ? "" : ", ",
                             to_string(rate.precision), rate.datasheet_flops / 1e12);
    if (detailed && rate.datasheet_mhz > 0.0) {
      item.text += fmt::format(" at {:.6g} MHz{}", rate.datasheet_mhz,
                               rate.basis == ClockBasis::implied ? " (implied)" : "");
    }
  }
  item.text += " TFLOP/s dense";
  if (!detailed) return item;
  item.text += fmt::format(". {} {}s", chip.units, chip.unit_kind);
  if (chip.max_mhz > 0) item.text += fmt::format(", {:.6g} MHz at most", chip.max_mhz);
  if (chip.base_mhz > 0) item.text += fmt::format(", base {:.6g} MHz", chip.base_mhz);
  if (chip.memory_bytes > 0) {
    item.text += fmt::format(", {:.4g} GiB", chip.memory_bytes / (1024.0 * 1024 * 1024));
  }
  if (chip.bandwidth_bytes_per_s > 0) {
    item.text += fmt::format(", {:.4g} TB/s", chip.bandwidth_bytes_per_s / 1e12);
  }
  item.text += ".";
  if (chip.package.devices > 1) {
    item.text +=
        fmt::format(" One of the {} devices of a {}.", chip.package.devices, chip.package.name);
  }
  if (!chip.trap.empty()) item.text += fmt::format(" {}.", chip.trap);
  if (!chip.not_scaled.empty())
    item.text += fmt::format(" Not scaled by a clock: {}.", chip.not_scaled);
  if (!chip.unconfirmed.empty()) {
    item.text += fmt::format(" Not confirmed: {}.", fmt::join(chip.unconfirmed, ", "));
  }
  return item;
}

Item term_item(const Term& term) {
  return {std::string(term.id), std::string(term.title), std::string(term.text),
          std::string(term.source)};
}

bool same_word(std::string_view a, std::string_view b) {
  const auto folded = [](char c) {
    if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
    return c == ' ' || c == '_' ? '-' : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return folded(x) == folded(y); });
}

const ModelPreset* preset_of(std::string_view id) {
  for (const ModelPreset& preset : model_presets()) {
    if (same_word(preset.name, id)) return &preset;
    for (const std::string_view alias : preset.aliases) {
      if (same_word(alias, id)) return &preset;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse(std::string_view id) {
  std::vector<std::string_view> names;
  for (const Term& term : terms()) names.push_back(term.id);
  for (const Convention& convention : conventions()) names.push_back(convention.id);
  for (const Chip& chip : chips()) names.push_back(chip.id);
  for (const ModelPreset& preset : model_presets()) names.push_back(preset.name);
  const std::string_view near = nearest_name(id, names);
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is not a convention, chip, model or term", id.substr(0, 80)), {},
              near.empty() ? "mfu list conventions, models, chips or terms shows what there is"
                           : fmt::format("did you mean '{}'?", near));
}

}  // namespace

ListSection list_items(Catalogue catalogue) {
  ListSection section;
  switch (catalogue) {
    case Catalogue::conventions:
      section.title = "conventions";
      for (const Convention& row : conventions()) {
        section.items.push_back(convention_item(row, false));
      }
      break;
    case Catalogue::models:
      section.title = "models";
      for (const ModelPreset& preset : model_presets()) {
        section.items.push_back(model_item(preset, false));
      }
      break;
    case Catalogue::chips:
      section.title = "chips";
      for (const Chip& chip : chips()) section.items.push_back(chip_item(chip, false));
      break;
    case Catalogue::terms:
      section.title = "terms";
      for (const Term& term : terms()) section.items.push_back(term_item(term));
      break;
  }
  return section;
}

ListSection explain_item(std::string_view id) {
  ListSection section;
  section.detailed = true;
  for (const Term& term : terms()) {
    if (same_word(term.id, id)) section.items.push_back(term_item(term));
  }
  for (const Convention& convention : conventions()) {
    if (same_word(convention.id, id)) section.items.push_back(convention_item(convention, true));
  }
  if (const ModelPreset* preset = preset_of(id)) {
    section.items.push_back(model_item(*preset, true));
  }
  if (!section.items.empty()) return section;
  try {
    section.items.push_back(chip_item(find_chip(id), true));
  } catch (const NoChip& error) {
    // An ambiguous chip name is answered as such.
    if (error.why() != NoChip::Why::unknown_name) throw;
    refuse(id);
  }
  return section;
}

}  // namespace mfu
