#include "report/references.hpp"

#include <fmt/format.h>

#include <utility>

#include "mfu/quantity.hpp"

namespace mfu {
namespace {

std::string_view chip_name(std::string_view id) {
  for (const Chip& chip : chips()) {
    if (chip.id == id) return chip.name;
  }
  return id;
}

std::string scale_text(const ReferencePoint& point) {
  return fmt::format("{}, {} x {}", point.model, format_grouped(point.gpus), chip_name(point.chip));
}

std::string convention_text(const ReferencePoint& point) {
  if (point.convention.empty()) return "convention not told";
  if (point.standing == Standing::fitted) return fmt::format("{} fits", point.convention);
  if (point.standing == Standing::not_reproduced) {
    return fmt::format("{} does not reproduce it", point.convention);
  }
  return std::string(point.convention);
}

Item item_of(const ReferencePoint& point) {
  Item item;
  item.id = std::string(point.id);
  item.title =
      point.mfu > 0 ? "MFU " + format_percent(point.mfu) : "HFU " + format_percent(point.hfu);
  item.text = scale_text(point);
  if (!point.system.empty()) item.text += fmt::format(", {}", point.system);
  item.text +=
      fmt::format(", sequences of {} ({})", format_grouped(point.seq_len), convention_text(point));
  if (!point.note.empty()) item.text += fmt::format("; {}", point.note);
  item.source = std::string(point.source);
  if (!point.date.empty()) item.source += fmt::format(" ({})", point.date);
  return item;
}

std::vector<std::string> lines_of(double mfu, const ReferencePlacement& placement) {
  std::vector<std::string> lines;
  std::string text =
      fmt::format("MFU {} is {} the usual {:.0f} to {:.0f} % of LLM training", format_percent(mfu),
                  placement.position < 0   ? "below"
                  : placement.position > 0 ? "above"
                                           : "within",
                  100 * kUsualLow, 100 * kUsualHigh);
  for (const PlacedReference& placed : placement.nearest) {
    const ReferencePoint& point = *placed.point;
    text += fmt::format("; {}: {}", scale_text(point), format_percent(point.mfu));
    if (placed.restated) {
      text += fmt::format(" ({} by this convention)", format_percent(*placed.restated));
    } else {
      text += fmt::format(" ({})", convention_text(point));
    }
  }
  lines.push_back(std::move(text));
  return lines;
}

}  // namespace

ListSection list_references() {
  ListSection section;
  section.title = "reference points: they calibrate, and prove nothing";
  for (const ReferencePoint& point : references()) section.items.push_back(item_of(point));
  section.items.push_back({"usual-range", "MFU 30 to 60 %",
                           "what LLM training on many GPUs usually reaches, of this table, too",
                           ""});
  section.items.push_back({"hearsay-diverged", "MFU 23 %",
                           "told of one of two clusters of the same make that diverged: hearsay",
                           "not traced"});
  return section;
}

std::vector<std::string> placement_lines(const CalcSection& section) {
  const Calculation& c = section.calculation;
  const std::optional<double> mfu = c.mfu();
  if (!mfu || section.status != "ok" || section.what_if) return {};
  std::optional<double> params = c.input.params;
  if (!params && c.parameters) params = c.parameters->total;
  const std::string_view chip =
      c.input.peak && c.input.peak->chip != nullptr ? c.input.peak->chip->id : std::string_view();
  const Convention* convention = c.results.empty() ? nullptr : c.results.front().convention;
  const ReferencePlacement placement =
      place_among(*mfu, c.input.gpus, params, chip, convention, c.input.switches);
  if (placement.nearest.empty()) return {};
  return lines_of(*mfu, placement);
}

std::vector<std::string> placement_lines(const DiagnoseSection& section) {
  const Diagnosis& diagnosis = section.diagnosis;
  if (!diagnosis.headline.mfu || diagnosis.headline.impossible) return {};
  const Convention* convention = nullptr;
  // The name alone: a count that was given may have had other switches.
  for (const Convention& one : conventions()) {
    if (one.id == diagnosis.setup.convention) convention = &one;
  }
  std::optional<double> gpus;
  if (diagnosis.setup.gpus > 0) gpus = static_cast<double>(diagnosis.setup.gpus);
  const ReferencePlacement placement = place_among(*diagnosis.headline.mfu, gpus, section.params,
                                                   diagnosis.setup.chip_id, convention, {});
  if (placement.nearest.empty()) return {};
  return lines_of(*diagnosis.headline.mfu, placement);
}

}  // namespace mfu
