// Telemetry beside a run on the command line: --telemetry FILE, or NODE=FILE.
#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/read.hpp"
#include "options.hpp"
#include "readers/telemetry/telemetry.hpp"

namespace mfu::app {

void add_telemetry_option(CLI::App& command, std::vector<std::string>& texts);
// `runs`: the files of the run; standard input can be read once.
[[nodiscard]] std::vector<TelemetryFile> parse_telemetry(const std::vector<std::string>& texts,
                                                         const std::vector<std::string>& runs,
                                                         Problems& problems);

// Reads the files and joins them to the ranks; returns the name of the device, where one is given.
// `inputs`: gets the files.
[[nodiscard]] std::string add_telemetry(RunTimings& run, std::vector<TelemetryFile> files,
                                        Notes& notes, std::vector<InputInfo>& inputs);
// The device names the chip, where the run has work to hold against a peak and names none; a chip
// that the run states and the device contradicts is noted. `chips`: rows of --chips.
void name_chip(RunTimings& run, const std::string& device, std::span<const Chip> chips,
               Notes& notes);

}  // namespace mfu::app
