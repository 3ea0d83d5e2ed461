#include "inputs/chip_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "chips/no_chip.hpp"
#include "mfu/quantity.hpp"
#include "options.hpp"
#include "readers/telemetry/telemetry.hpp"
#include "readers/user_chips.hpp"
#include "statistics/robust.hpp"

namespace mfu::app {
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
    // The chip table does not know option names.
    const std::string peak = fmt::format("{} 165.2T (dense, per GPU)", instead);
    const auto* none = dynamic_cast<const NoChip*>(&error);
    throw Error(error.kind(), error.message(), error.place(),
                none != nullptr ? none->hint_with(peak) : error.hint() + "; or " + peak);
  }
}

ObservedDevices observe(const std::string& path, std::span<const Chip> user, Notes& notes,
                        std::vector<InputInfo>& files) {
  ObservedDevices observed;
  if (path.empty()) return observed;
  const Telemetry telemetry = read_telemetry({{path, {}, {}, 0}}, notes);
  const std::vector<DeviceReading>& readings = telemetry.devices;
  files.push_back({path, telemetry.files.front().format, telemetry.files.front().bytes});
  observed.path = path;
  for (const DeviceReading& reading : readings) {
    ObservedDevices::Device& device = observed.devices.emplace_back();
    if (!reading.sm_clock_mhz.empty()) device.clock_mhz = median(reading.sm_clock_mhz);
    observed.idle_samples += reading.idle_samples;
    observed.sliced = observed.sliced || reading.mig;
    if (reading.facts.name.empty() && !reading.facts.pci_device) continue;
    device.match = match_device(reading.facts, at("--telemetry"), user);
    for (std::string& conflict : conflicts(*device.match.chip, reading.facts)) {
      if (std::find(observed.conflicts.begin(), observed.conflicts.end(), conflict) ==
          observed.conflicts.end()) {
        observed.conflicts.push_back(std::move(conflict));
      }
    }
  }
  return observed;
}

std::optional<double> ObservedDevices::measured_mhz(const Chip* chip) const {
  std::vector<double> clocks;
  for (const Device& device : devices) {
    const bool other =
        chip != nullptr && device.match.chip != nullptr && device.match.chip != chip &&
        std::find(device.match.same_peak_ids.begin(), device.match.same_peak_ids.end(), chip->id) ==
            device.match.same_peak_ids.end();
    if (!other && device.clock_mhz) clocks.push_back(*device.clock_mhz);
  }
  if (clocks.empty()) return {};
  return median_inplace(clocks);
}

std::vector<std::string> doubts(const ObservedDevices& observed, const Chip& chip) {
  std::vector<std::string> found = observed.conflicts;
  for (const ObservedDevices::Device& seen : observed.devices) {
    if (seen.match.chip == nullptr || seen.match.chip == &chip) continue;
    // A slice of it is named by its own row.
    if (chip.id.starts_with(seen.match.chip->id)) continue;
    found.push_back(fmt::format("The telemetry is from {}, not {}", seen.match.chip->id, chip.id));
    break;
  }
  if (observed.sliced && chip.id.find("-mig-") == std::string_view::npos) {
    found.push_back(
        fmt::format("The device is cut into slices (MIG): a job on one has a share of this peak; "
                    "name it, as in "
                    "\"{} MIG 3g.40gb\"",
                    chip.name));
  }
  return found;
}

Clock parse_clock(const std::string& text, const ObservedDevices& observed, const Chip* chip) {
  if (text.empty() || text == "datasheet") return {ClockRule::datasheet, 0.0};
  if (text == "max") return {ClockRule::max, 0.0};
  if (text == "base") return {ClockRule::base, 0.0};
  if (text != "measured") return {ClockRule::mhz, parse_megahertz(text, "--clock")};
  if (const std::optional<double> mhz = observed.measured_mhz(chip)) {
    return {ClockRule::measured, *mhz};
  }
  if (observed.path.empty()) {
    throw Error(ErrorKind::usage, "a measured clock needs telemetry under load", at("--clock"),
                "--telemetry smi.csv (nvidia-smi --query-gpu=index,name,clocks.sm,utilization.gpu "
                "--format=csv -l 1), or the clock in MHz: 1755");
  }
  throw Error(ErrorKind::usage,
              observed.idle_samples > 0
                  ? fmt::format("the telemetry has no SM clock under load: {} samples are idle",
                                observed.idle_samples)
                  : std::string("the telemetry has no SM clock under load of this chip"),
              at("--telemetry"), "record clocks.sm and utilization.gpu while the job runs");
}

ChipMatch only_chip(const ObservedDevices& observed) {
  const ObservedDevices::Device* first = nullptr;
  for (const ObservedDevices::Device& device : observed.devices) {
    if (device.match.chip == nullptr) continue;
    if (first == nullptr) first = &device;
    if (device.match.chip == first->match.chip) continue;
    throw Error(ErrorKind::usage,
                fmt::format("the devices in the file are {} and {}", first->match.chip->id,
                            device.match.chip->id),
                at("--telemetry"), "name the chip that is meant");
  }
  if (first != nullptr) return first->match;
  throw Error(ErrorKind::usage, "no device in the file has a name", at("--telemetry"),
              "query the name too: nvidia-smi --query-gpu=index,name,... --format=csv; or name the "
              "chip");
}

}  // namespace mfu::app
