#include "chips/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "chips/names.hpp"
#include "chips/no_chip.hpp"
#include "chips/rows.hpp"

namespace mfu {
namespace chips_detail {
namespace {

// Devices report a little less memory than they are sold with (ECC, firmware), and some less than
// that: 46068 MiB of an L40S's 48 GiB. Vendors also count in GB of 10^9 bytes.
bool memory_fits(const Chip& chip, double bytes) {
  return chip.memory_bytes > 0.0 && bytes > 0.90 * chip.memory_bytes &&
         bytes < 1.03 * chip.memory_bytes;
}

std::optional<double> number_before(std::string_view token, std::string_view unit) {
  if (!token.ends_with(unit)) return {};
  token.remove_suffix(unit.size());
  if (!all_digits(token) || token.size() > 6) return {};
  int value = 0;
  std::from_chars(token.data(), token.data() + token.size(), value);
  return value;
}

std::string_view architecture(std::string_view gfx) { return gfx.substr(0, gfx.find(':')); }

}  // namespace

std::optional<DeviceFacts> facts_in(const std::vector<std::string>& tokens) {
  DeviceFacts facts;
  bool generic = tokens.empty();
  for (const std::string& token : tokens) {
    if (token.starts_with("gfx")) {
      facts.gfx = architecture(token);
    } else if (const std::optional<double> units = number_before(token, "cu")) {
      if (facts.units) return {};  // said twice
      facts.units = static_cast<int>(*units);
    } else if (const std::optional<double> memory = number_before(token, "gb")) {
      if (facts.memory_bytes) return {};
      facts.memory_bytes = *memory * kGiB;
    } else if (const std::optional<double> clock = number_before(token, "mhz")) {
      facts.max_mhz = *clock;
    } else if (token == "radeon" || token == "graphics" || token == "device" ||
               token.starts_with("xnack") || token.starts_with("sramecc")) {
      generic = generic || token == "radeon" || token == "device";
    } else {
      return {};
    }
  }
  if (facts.gfx.empty() && !generic) return {};
  return facts;
}

ChipMatch match_architecture(const DeviceFacts& facts, std::string_view name, const Place& place,
                             std::span<const Chip> user) {
  if (facts.gfx.empty()) {
    throw Error(
        ErrorKind::unsupported,
        name.find_first_not_of(" \t") == std::string_view::npos
            ? std::string("the chip has an empty name")
            : quoted(name) + " is what a driver prints for a device that it has no name for",
        place, "give the chip, or its architecture, units and memory: \"gfx942 304 CU 192 GB\"");
  }
  std::vector<const Chip*> rows;
  const auto look_at = [&](const Chip& chip) {
    if (chip.gfx != architecture(facts.gfx)) return;
    if (facts.units && *facts.units != chip.units) return;
    if (facts.memory_bytes && !memory_fits(chip, *facts.memory_bytes)) return;
    if (facts.max_mhz && chip.max_mhz > 0.0 && std::fabs(*facts.max_mhz / chip.max_mhz - 1) > 0.01)
      return;
    rows.push_back(&chip);
  };
  for (const Chip& chip : user) look_at(chip);
  for (const Chip& chip : chips()) look_at(chip);
  if (rows.empty()) {
    std::vector<std::string_view> same;
    for (const Chip& chip : chips()) {
      if (chip.gfx == architecture(facts.gfx)) same.push_back(chip.id);
    }
    throw NoChip(
        NoChip::Why::unknown_device,
        "no known chip is " + facts.gfx +
            (facts.units ? fmt::format(" with {} CUs", *facts.units) : std::string()) +
            (facts.memory_bytes ? fmt::format(" and {:.0f} GiB", *facts.memory_bytes / kGiB)
                                : std::string()),
        place,
        (same.empty() ? "mfu list chips shows the known ones"
                      : "of this architecture: " + listed(same)) +
            "; or ");
  }
  ChipMatch match = one_of(rows, name, place);
  match.remark = "Known by " + facts.gfx + (facts.units ? ", its units" : "") +
                 (facts.memory_bytes ? ", its memory" : "") +
                 (facts.max_mhz ? ", its maximum clock" : "") + ", not by a name";
  return match;
}

}  // namespace chips_detail

namespace {

using namespace chips_detail;

// 0x233010DE is device 2330 of vendor 10DE; 0x2330 is the device alone.
std::uint16_t nvidia_device(std::uint32_t pci) {
  constexpr std::uint32_t kNvidia = 0x10DE;
  if ((pci & 0xFFFF) == kNvidia) return static_cast<std::uint16_t>(pci >> 16);
  return pci <= 0xFFFF ? static_cast<std::uint16_t>(pci) : 0;
}

// Sold under the bare name "H100", with clocks and memory of its own that nobody has published.
constexpr std::uint16_t kCustomH100 = 0x2339;

const Chip* row_of_pci(std::uint16_t device, std::span<const Chip> user) {
  for (const std::span<const Chip> table : {user, chips()}) {
    for (const Chip& chip : table) {
      if (std::find(chip.pci_devices.begin(), chip.pci_devices.end(), device) !=
          chip.pci_devices.end()) {
        return &chip;
      }
    }
  }
  return nullptr;
}

}  // namespace

ChipMatch match_device(const DeviceFacts& facts, const Place& place, std::span<const Chip> user) {
  const std::vector<std::string> tokens = tokens_of(facts.name);
  const bool slice = std::any_of(tokens.begin(), tokens.end(),
                                 [](const std::string& token) { return token == "mig"; });
  const std::uint16_t device = facts.pci_device ? nvidia_device(*facts.pci_device) : 0;
  if (device == kCustomH100) {
    throw NoChip(NoChip::Why::unknown_device,
                 "PCI device 2339 is a custom H100 whose clocks and units are not published", place,
                 "");
  }
  if (const Chip* row = device != 0 && !slice ? row_of_pci(device, user) : nullptr) {
    ChipMatch match;
    match.chip = row;
    if (!facts.name.empty()) {
      try {
        const ChipMatch named = match_chip(facts.name, place, user);
        if (named.chip != row && std::find(named.same_peak_ids.begin(), named.same_peak_ids.end(),
                                           row->id) == named.same_peak_ids.end()) {
          match.remark = fmt::format("PCI device {:04X} is {}, though the name {} would be {}",
                                     device, row->id, quoted(facts.name), named.chip->id);
        }
      } catch (const Error&) {
        // The id decides; a name that means nothing takes nothing from it.
        match.remark = fmt::format("Known by PCI device {:04X}", device);
      }
    }
    return match;
  }
  std::optional<DeviceFacts> generic = facts_in(tokens);
  if (!generic) return match_chip(facts.name, place, user);
  if (!facts.gfx.empty()) generic->gfx = facts.gfx;
  if (facts.units) generic->units = facts.units;
  if (facts.memory_bytes) generic->memory_bytes = facts.memory_bytes;
  if (facts.max_mhz) generic->max_mhz = facts.max_mhz;
  return match_architecture(*generic, facts.name, place, user);
}

std::vector<std::string> conflicts(const Chip& chip, const DeviceFacts& facts) {
  std::vector<std::string> found;
  if (facts.units && *facts.units != chip.units && chip.unit_kind != "MXU") {
    found.push_back(fmt::format("The device has {} {}s, {} has {}", *facts.units, chip.unit_kind,
                                chip.id, chip.units));
  }
  if (facts.memory_bytes && chip.memory_bytes > 0.0 && !memory_fits(chip, *facts.memory_bytes)) {
    found.push_back(fmt::format("The device has {:.1f} GiB of memory, {} has {:.0f}",
                                *facts.memory_bytes / kGiB, chip.id, chip.memory_bytes / kGiB));
  }
  if (facts.max_mhz && chip.max_mhz > 0.0 && std::fabs(*facts.max_mhz / chip.max_mhz - 1) > 0.01) {
    found.push_back(fmt::format("The device's maximum clock is {:.0f} MHz, {}'s is {:.0f}",
                                *facts.max_mhz, chip.id, chip.max_mhz));
  }
  // Boards are sold with several limits, so only a large difference says something.
  if (facts.power_limit_w && chip.power_w > 0.0 &&
      std::fabs(*facts.power_limit_w / chip.power_w - 1) > 0.2) {
    found.push_back(fmt::format("The device's power limit is {:.0f} W, {}'s is {:.0f}",
                                *facts.power_limit_w, chip.id, chip.power_w));
  }
  return found;
}

}  // namespace mfu
