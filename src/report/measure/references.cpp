#include "report/measure/references.hpp"

#include <fmt/format.h>

#include <utility>

#include "diagnose/detail.hpp"
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
  if (point.convention.empty()) return "convention not stated";
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

std::string_view position_text(int position) {
  return position < 0 ? "below" : position > 0 ? "above" : "within";
}

ReferencesSection section_of(double mfu, ReferencePlacement placement) {
  ReferencesSection section;
  for (const PlacedReference& placed : placement.nearest) {
    const ReferencePoint& point = *placed.point;
    const std::string basis =
        placed.restated ? fmt::format("{} by this convention", format_percent(*placed.restated))
                        : convention_text(point);
    section.texts.push_back(
        fmt::format("{}: {} ({})", scale_text(point), format_percent(point.mfu), basis));
  }
  if (!section.texts.empty()) {
    section.line = fmt::format("MFU {} is {} the usual {:.0f} to {:.0f} % of LLM training; {}",
                               format_percent(mfu), position_text(placement.position),
                               100 * kUsualLow, 100 * kUsualHigh, fmt::join(section.texts, "; "));
  }
  section.placement = std::move(placement);
  return section;
}

}  // namespace

ListSection list_references() {
  ListSection section;
  section.title = "reference points: for calibration, not proof";
  for (const ReferencePoint& point : references()) section.items.push_back(item_of(point));
  section.items.push_back({"usual-range", "MFU 30 to 60 %",
                           "what LLM training on many GPUs usually reaches, in this table too",
                           ""});
  section.items.push_back({"hearsay-diverged", "MFU 23 %",
                           "reported of one of two identical clusters that diverged: hearsay",
                           "no source found"});
  return section;
}

std::optional<ReferencesSection> placed_among_references(const CalcSection& section) {
  const Calculation& c = section.calculation;
  const std::optional<double> mfu = c.mfu();
  if (!mfu || section.status != CalcStatus::ok || section.what_if) return {};
  std::optional<double> params = c.input.params;
  if (!params && c.parameters) params = c.parameters->total;
  const std::string_view chip =
      c.input.peak && c.input.peak->chip != nullptr ? c.input.peak->chip->id : std::string_view();
  const Convention* convention = c.results.empty() ? nullptr : c.results.front().convention;
  return section_of(*mfu,
                    place_among(*mfu, c.input.gpus, params, chip, convention, c.input.switches));
}

std::optional<ReferencesSection> placed_among_references(const DiagnoseSection& section) {
  const Diagnosis& diagnosis = section.diagnosis;
  if (!diagnosis.headline.mfu || diagnosis.headline.impossible) return {};
  const Convention* convention = nullptr;
  // The name alone: a published count may have used other switches.
  for (const Convention& one : conventions()) {
    if (one.id == diagnosis.detail->setup.convention) convention = &one;
  }
  std::optional<double> gpus;
  if (diagnosis.detail->setup.gpus > 0) gpus = static_cast<double>(diagnosis.detail->setup.gpus);
  return section_of(*diagnosis.headline.mfu,
                    place_among(*diagnosis.headline.mfu, gpus, section.params,
                                diagnosis.detail->setup.chip_id, convention, {}));
}

}  // namespace mfu
