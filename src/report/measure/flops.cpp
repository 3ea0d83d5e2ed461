// What one convention counts, by component, and the totals of other conventions for the same model.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "measure/work_of.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/measure/calc_wording.hpp"
#include "report/measure/flops_section.hpp"

namespace mfu {
namespace {

std::string component_name(std::string_view id) {
  struct Words {
    std::string_view id, text;
  };
  static constexpr Words kWords[]{{"qkv", "query, key, value"},
                                  {"scores_values", "scores and values"},
                                  {"attention_output", "attention output"},
                                  {"mlp", "MLP"},
                                  {"experts", "experts"},
                                  {"shared_experts", "shared experts"},
                                  {"router", "router"},
                                  {"logits", "logits"},
                                  {"mtp", "multi-token prediction"},
                                  {"mamba", "Mamba mixers"}};
  for (const Words& words : kWords) {
    if (words.id == id) return std::string(words.text);
  }
  return std::string(id);
}

FlopsTotal total_of(const Convention& convention, const FlopCount& count) {
  return {&convention, count.model_flops, count.hardware_flops, short_title(convention)};
}

void take_components(FlopsSection& section, const ModelShape& model, const CalcInput& input,
                     FlopCount count) {
  section.components_line = std::string(section.convention->id);
  if (count.components.empty()) {
    // A closed form has no parts of its own: those of the exact count over the whole sequence.
    const Convention& exact = find_convention("exact-full");
    count = count_flops(model, work_of(input), exact, switches_for(input, exact));
    section.components_line =
        fmt::format("exact-full; {} is a closed form", section.convention->id);
  }
  section.components = std::move(count.components);
  double sum = 0.0;
  for (const Component& component : section.components) {
    section.component_texts.push_back(component_name(component.id));
    sum += component.forward + component.backward;
  }
  section.components_total = sum;
}

}  // namespace

FlopsSection describe_flops(const ModelShape& model, const CalcInput& input,
                            std::span<const Convention* const> others) {
  FlopsSection section;
  section.convention = input.convention;
  section.model = model.name.empty() ? "model not named" : model.name;
  section.seq_len = input.seq_len;
  section.tokens_per_step = input.tokens_per_step;
  if (!section.tokens_per_step && input.batch && input.seq_len) {
    section.tokens_per_step = *input.batch * *input.seq_len;
  }
  FlopCount count = count_flops(model, work_of(input), *input.convention, input.switches);
  section.settings = count.settings;
  section.params = count.params;
  section.total = total_of(*input.convention, count);
  if (model.layers > 0) {
    section.parameters = count_parameters(model);
    try {
      take_components(section, model, input, std::move(count));
    } catch (const Error&) {
      section.components.clear();  // the total stands without them
    }
  }
  for (const Convention* other : others) {
    if (other == input.convention) continue;
    try {
      section.others.push_back(total_of(
          *other, count_flops(model, work_of(input), *other, switches_for(input, *other))));
    } catch (const Error&) {
      continue;  // it has no meaning for this model
    }
  }
  section.title = section.model;
  if (section.parameters) {
    const ParameterCount& counted = *section.parameters;
    section.title += fmt::format("   {} parameters", format_grouped(counted.total));
    if (counted.active != counted.total) {
      section.title += fmt::format(", {} active", format_grouped(counted.active));
    }
  }
  if (input.seq_len) section.title += fmt::format("   s = {}", format_grouped(*input.seq_len));
  if (!input.lengths.empty()) {
    section.title += fmt::format(", {} packed documents", input.lengths.size());
  }
  return section;
}

}  // namespace mfu
