// The JSON of peak.
#include "render/json/sections.hpp"
#include "report/measure/peak_section.hpp"

namespace mfu::render {
namespace {

std::string_view name_of(ClockBasis basis) {
  switch (basis) {
    case ClockBasis::documented:
      return "documented";
    case ClockBasis::implied:
      return "implied";
    case ClockBasis::unknown:
      return "unknown";
  }
  return "";
}

Json rate_of(const PeakEntry& entry) {
  Json object = {
      {"precision", entry.precision},
      {"peak_flops", number(entry.peak.flops)},
      {"clock_mhz", entry.peak.clock_mhz > 0.0 ? number(entry.peak.clock_mhz) : Json(nullptr)},
      {"clock", to_string(entry.clock)},
      {"clock_basis", name_of(entry.peak.basis)},
      {"dense", entry.dense},
      {"peak_flops_at_max_clock", number(entry.flops_at_max)},
      {"flop_per_clock_per_unit", number(entry.flop_per_clock_per_unit)},
      {"ridge_flops_per_byte", number(entry.ridge_flops_per_byte)},
      {"achievable", nullptr}};
  if (entry.achievable != nullptr) {
    object["achievable"] = {
        {"flops", entry.achievable->flops},
        {"ratio", number(entry.achievable_ratio)},
        {"clock_mhz",
         entry.achievable->clock_mhz > 0.0 ? number(entry.achievable->clock_mhz) : Json(nullptr)},
        {"note", text(entry.achievable->note)},
        {"source", text(entry.achievable->source)}};
  }
  return object;
}

Json chip_of(const PeakEntry& entry) {
  const Chip& chip = *entry.chip;
  Json object = {{"id", chip.id}, {"name", chip.name}};
  object.update(rate_of(entry));
  object["memory_bytes"] = positive(chip.memory_bytes);
  object["bandwidth_bytes_per_s"] = positive(chip.bandwidth_bytes_per_s);
  object["source"] = chip.source;
  object["unconfirmed"] = Json::array();
  for (const std::string_view field : chip.unconfirmed) object["unconfirmed"].push_back(field);
  object["units"] = chip.units > 0 ? Json(chip.units) : Json(nullptr);
  object["unit_kind"] = chip.unit_kind;
  object["base_mhz"] = positive(chip.base_mhz);
  object["max_mhz"] = positive(chip.max_mhz);
  object["power_w"] = positive(chip.power_w);
  object["package_devices"] = chip.package.devices;
  object["package"] = text(chip.package.name);
  object["not_scaled"] = text(chip.not_scaled);
  object["trap"] = text(chip.trap);
  object["user_defined"] = chip.user_defined;
  Json missing = Json::object();
  const auto reason = [&](const char* key, std::string_view why) {
    if (object.at(key).is_null()) missing[key] = why;
  };
  reason("clock_mhz", "no clock gives the figure, or its parts mean different ones");
  reason("peak_flops_at_max_clock", !chip.not_scaled.empty() ? chip.not_scaled
                                    : chip.max_mhz > 0.0
                                        ? std::string_view("the rate per clock is not known")
                                        : std::string_view("the maximum clock is not known"));
  reason("flop_per_clock_per_unit", "not known, or several precisions");
  reason("achievable", "no measured result is known");
  reason("memory_bytes", "not known");
  reason("bandwidth_bytes_per_s", "not known");
  reason("ridge_flops_per_byte", "the bandwidth is not known");
  object["missing"] = missing;
  return object;
}

}  // namespace

void json_peak(Json& object, const PeakSection& section) {
  object["chips"] = Json::array();
  for (const PeakEntry& entry : section.entries) object["chips"].push_back(chip_of(entry));
  if (!section.rates.empty()) {
    Json rates = Json::array();
    for (const PeakEntry& entry : section.rates) rates.push_back(rate_of(entry));
    object["chips"].front()["rates"] = rates;
  }
  if (section.inverse) {
    object["inverse"] = {{"flops", section.inverse->flops},
                         {"clock_mhz", number(section.inverse->clock_mhz)},
                         {"reading", section.inverse->reading}};
  }
  if (section.devices_in_name > 0) object["devices_in_name"] = section.devices_in_name;
  object["remarks"] = section.remarks;
  if (!section.left_out.empty()) object["left_out"] = section.left_out;
}

}  // namespace mfu::render
