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
  std::vector<ChipMatch> chips;        // of each device that has a name or an id
  std::optional<double> measured_mhz;  // median over the devices of their clocks under load
  std::vector<std::string> conflicts;  // of the devices with their rows
};
[[nodiscard]] ObservedDevices observe(const std::string& path, std::span<const Chip> user,
                                      Notes& notes, std::vector<InputInfo>& files);

// datasheet, base, max, measured or a number of MHz. Throws Error{usage}: measured, and no
// telemetry that has a clock under load.
[[nodiscard]] Clock parse_clock(const std::string& text, const std::optional<double>& measured_mhz);

// The one chip that the devices are. Throws Error{usage}: they are several, or none is named.
[[nodiscard]] ChipMatch only_chip(const ObservedDevices& observed);

}  // namespace mfu::app
