// The screens of flops, list and explain.
#include <fmt/format.h>

#include <algorithm>

#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/shown_sums.hpp"
#include "render/text/sections.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/flops_section.hpp"

namespace mfu::render {
namespace {

struct ComponentRow {
  std::string label, forward, backward, step, share;
};

std::string giga_per_token(double flops) {
  const double value = flops / 1e9;
  return value >= 0.1 || value == 0.0 ? fmt::format("{:.3f}", value) : fmt::format("{:.4g}", value);
}

void row_of(Screen& screen, const ComponentRow& row, bool steps,
            Emphasis emphasis = Emphasis::none) {
  std::string text = "    " + pad_right(fit(row.label, 23), 24) + pad_left(row.forward, 11) +
                     pad_left(row.backward, 11) + pad_left(row.share, 9);
  if (steps) text += pad_left(row.step, 16);
  screen.line(text, emphasis);
}

void components(Screen& screen, const FlopsSection& section) {
  if (section.components.empty() || !section.components_total) return;
  const double total = *section.components_total;
  const bool steps = section.tokens_per_step.has_value();
  const double tokens = section.tokens_per_step.value_or(0.0);
  screen.line(fmt::format("  Components ({})", section.components_line), Emphasis::strong);
  row_of(screen, {"  GFLOP per token", "forward", "backward", "a step", "share"}, steps,
         Emphasis::quiet);
  std::vector<double> shares;
  double forward = 0.0;
  double backward = 0.0;
  for (const Component& component : section.components) {
    shares.push_back(100 * (component.forward + component.backward) / total);
    forward += component.forward;
    backward += component.backward;
  }
  const std::vector<std::int64_t> shown = shown_units(shares, 100.0, 1);
  for (std::size_t i = 0; i < section.components.size(); ++i) {
    const Component& component = section.components[i];
    row_of(screen,
           {section.component_texts[i], giga_per_token(component.forward),
            giga_per_token(component.backward),
            format_si((component.forward + component.backward) * tokens, "FLOP"),
            unit_text(shown[i], 1) + " %"},
           steps);
  }
  screen.line("    " + std::string(steps ? 71 : 55, '-'));
  row_of(screen,
         {"total", giga_per_token(forward), giga_per_token(backward),
          format_si(total * tokens, "FLOP"), "100.0 %"},
         steps);
}

void totals(Screen& screen, const FlopsSection& section) {
  std::vector<FlopsTotal> rows{section.total};
  rows.insert(rows.end(), section.others.begin(), section.others.end());
  std::size_t id = 15;
  for (const FlopsTotal& row : rows) id = std::max(id, row.convention->id.size() + 2);
  const bool steps = section.tokens_per_step.has_value();
  const std::size_t numbers = 11 + (steps ? 16 : 0);
  const std::size_t title = std::min<std::size_t>(
      27, screen.width() > 4 + id + numbers ? screen.width() - 4 - id - numbers : 0);
  std::string heading = "  By convention";
  heading += pad_left("GFLOP/token", 4 + id + title + 11 - columns_of(heading));
  if (steps) heading += pad_left("a step", 16);
  screen.line(heading, Emphasis::strong);
  for (const FlopsTotal& row : rows) {
    const std::optional<double> each =
        row.flops_per_token ? row.flops_per_token : row.hardware_flops_per_token;
    if (!each) continue;
    std::string text = "    " + pad_right(row.convention->id, id);
    if (title > 1) text += pad_right(fit(row.text, title - 1), title);
    text += pad_left(giga_per_token(*each), 11);
    if (steps) text += pad_left(format_si(*each * *section.tokens_per_step, "FLOP"), 16);
    screen.line(text);
  }
}

}  // namespace

void text_flops(Screen& screen, const FlopsSection& section) {
  screen.wrapped(section.title, 0);
  screen.blank();
  const FlopsTotal& total = section.total;
  std::vector<std::string> pieces;
  if (total.flops_per_token)
    pieces.push_back(giga_per_token(*total.flops_per_token) + " GFLOP/token");
  if (total.hardware_flops_per_token && total.hardware_flops_per_token != total.flops_per_token) {
    pieces.push_back(giga_per_token(*total.hardware_flops_per_token) + " with recomputation");
  }
  const std::optional<double> each =
      total.flops_per_token ? total.flops_per_token : total.hardware_flops_per_token;
  if (each && section.tokens_per_step) {
    pieces.push_back(format_si(*each * *section.tokens_per_step, "FLOP") + " a step");
  }
  screen.pieces(pieces, Emphasis::strong);
  screen.wrapped(fmt::format("convention={}{}{}", total.convention->id,
                             section.settings.empty() ? "" : " ", section.settings),
                 2, Emphasis::quiet);
  screen.blank();
  components(screen, section);
  screen.blank();
  totals(screen, section);
  for (const std::string& line : section.advice) screen.wrapped(line, 2);
}

void text_list(Screen& screen, const ListSection& section) {
  if (section.detailed) {
    bool first = true;
    for (const Item& item : section.items) {
      if (!first) screen.blank();
      first = false;
      screen.wrapped(item.id + (item.title.empty() ? "" : ": " + item.title), 0, Emphasis::strong);
      screen.wrapped(item.text, 2);
      if (!item.source.empty()) screen.wrapped("Source: " + item.source, 2, Emphasis::quiet);
    }
    return;
  }
  std::size_t id = 0;
  std::size_t title = 0;
  for (const Item& item : section.items) {
    id = std::max(id, columns_of(item.id));
    title = std::max(title, columns_of(item.title));
  }
  const bool texts = title < 30;
  for (const Item& item : section.items) {
    std::string text = "  " + pad_right(item.id, id + 2);
    text += texts ? pad_right(item.title, title + 2) + item.text : item.title;
    screen.line(text);
  }
}

}  // namespace mfu::render
