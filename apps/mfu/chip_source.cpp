#include "chip_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/robust.hpp"
#include "mfu/quantity.hpp"
#include "mfu/telemetry.hpp"
#include "mfu/user_chips.hpp"

namespace mfu::app {
namespace {

Place at(std::string_view option) {
  Place place;
  place.what = std::string(option);
  return place;
}

}  // namespace

std::span<const Chip> user_chips(const std::string& path, Notes& notes,
                                 std::vector<InputInfo>& files) {
  if (path.empty()) return {};
  // `calc --rows` asks once a row.
  static std::map<std::string, UserChips> tables;
  auto found = tables.find(path);
  if (found == tables.end()) {
    found = tables.emplace(path, read_user_chips(path, notes)).first;
    InputInfo info;
    info.path = path;
    info.format = "mfu.chips/1";
    info.bytes = found->second.bytes();
    files.push_back(std::move(info));
  }
  return found->second.rows();
}

ChipMatch chip_of(const std::string& name, std::string_view option, std::string_view instead,
                  std::span<const Chip> user) {
  try {
    return match_chip(name, at(option), user);
  } catch (const Error& error) {
    // The table does not know the names of options.
    constexpr std::string_view kGeneral = "the peak itself (dense, per GPU)";
    std::string hint = error.hint();
    if (const std::size_t found = hint.find(kGeneral); found != std::string::npos) {
      const bool give = hint.substr(0, found).ends_with("give ");
      hint.replace(found - (give ? 5 : 0), kGeneral.size() + (give ? 5 : 0),
                   fmt::format("{} 165.2T (dense, per GPU)", instead));
    } else {
      hint += fmt::format("; or {} 165.2T (dense, per GPU)", instead);
    }
    throw Error(error.kind(), error.message(), error.place(), std::move(hint));
  }
}

ObservedDevices observe(const std::string& path, std::span<const Chip> user, Notes& notes,
                        std::vector<InputInfo>& files) {
  ObservedDevices observed;
  if (path.empty()) return observed;
  const std::vector<DeviceReading> readings = read_device_readings({path}, notes);
  InputInfo info;
  info.path = path;
  info.format = "nvidia-smi";
  files.push_back(std::move(info));
  std::vector<double> clocks;
  for (const DeviceReading& reading : readings) {
    if (!reading.sm_clock_mhz.empty()) clocks.push_back(median(reading.sm_clock_mhz));
    if (reading.facts.name.empty() && !reading.facts.pci_device) continue;
    observed.chips.push_back(match_device(reading.facts, at("--telemetry"), user));
    for (std::string& conflict : conflicts(*observed.chips.back().chip, reading.facts)) {
      if (std::find(observed.conflicts.begin(), observed.conflicts.end(), conflict) ==
          observed.conflicts.end()) {
        observed.conflicts.push_back(std::move(conflict));
      }
    }
  }
  if (!clocks.empty()) observed.measured_mhz = median_inplace(clocks);
  return observed;
}

Clock parse_clock(const std::string& text, const std::optional<double>& measured_mhz) {
  if (text.empty() || text == "datasheet") return {ClockRule::datasheet, 0.0};
  if (text == "max") return {ClockRule::max, 0.0};
  if (text == "base") return {ClockRule::base, 0.0};
  if (text == "measured") {
    if (measured_mhz) return {ClockRule::measured, *measured_mhz};
    throw Error(ErrorKind::usage, "a measured clock needs telemetry under load", at("--clock"),
                "--telemetry smi.csv (nvidia-smi --query-gpu=name,clocks.sm,utilization.gpu "
                "--format=csv -l 1), or the clock in MHz: 1755");
  }
  return {ClockRule::mhz, parse_megahertz(text, "--clock")};
}

ChipMatch only_chip(const ObservedDevices& observed) {
  if (observed.chips.empty()) {
    throw Error(
        ErrorKind::usage, "no device in the file has a name", at("--telemetry"),
        "query the name too: nvidia-smi --query-gpu=name,... --format=csv; or name the chip");
  }
  for (const ChipMatch& match : observed.chips) {
    if (match.chip == observed.chips.front().chip) continue;
    throw Error(ErrorKind::usage,
                fmt::format("the devices in the file are {} and {}",
                            observed.chips.front().chip->id, match.chip->id),
                at("--telemetry"), "name the chip that is meant");
  }
  return observed.chips.front();
}

}  // namespace mfu::app
