// Where a chip, its clock and its peak come from on the command line: a name, the user's own table
// (--chips), what the device says about itself (--telemetry).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"

namespace mfu::app {

// The rows of --chips; empty without it. They live as long as the program. `files`: gets the file.
[[nodiscard]] std::span<const Chip> user_chips(const std::string& path, Notes& notes,
                                               std::vector<InputInfo>& files);

// The chip that an option names. `instead`: the option that takes a peak where the chip is not
// known.
[[nodiscard]] ChipMatch chip_of(const std::string& name, std::string_view option,
                                std::string_view instead, std::span<const Chip> user = {});

// What the devices of a telemetry file say.
struct ObservedDevices {
  struct Device {
    ChipMatch match;                  // chip: nothing: it has neither a name nor an id
    std::optional<double> clock_mhz;  // median of its clocks under load
  };
  std::vector<Device> devices;
  std::vector<std::string> conflicts;  // of the devices with their rows
  std::size_t idle_samples = 0;
  bool sliced = false;  // a device is cut into slices (MIG)
  std::string path;
  // Median over the devices that are `chip` (or of no name) of their clocks; nothing: none had one.
  [[nodiscard]] std::optional<double> measured_mhz(const Chip* chip) const;
};
[[nodiscard]] ObservedDevices observe(const std::string& path, std::span<const Chip> user,
                                      Notes& notes, std::vector<InputInfo>& files);

// datasheet, base, max, measured or a number of MHz. Throws Error{usage}: measured, and no
// telemetry that has a clock under load.
// `chip`: whose clock is meant; nothing: of all devices.
[[nodiscard]] Clock parse_clock(const std::string& text, const ObservedDevices& observed,
                                const Chip* chip);

// What to say of telemetry that is not of this chip, and of slices. One sentence each.
[[nodiscard]] std::vector<std::string> doubts(const ObservedDevices& observed, const Chip& chip);

// The one chip that the devices are. Throws Error{usage}: they are several, or none is named.
[[nodiscard]] ChipMatch only_chip(const ObservedDevices& observed);

}  // namespace mfu::app
