#include "inputs/telemetry_source.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/note_code.hpp"

namespace mfu::app {

void add_telemetry_option(CLI::App& command, std::vector<std::string>& texts) {
  command.add_option("--telemetry", texts, "From nvidia-smi, DCGM, kernel logs; NODE=FILE")
      ->type_name("FILE");
}

std::vector<TelemetryFile> parse_telemetry(const std::vector<std::string>& texts,
                                           const std::vector<std::string>& runs,
                                           Problems& problems) {
  std::vector<TelemetryFile> files;
  auto pipes = std::count(runs.begin(), runs.end(), "-");
  for (const std::string& text : texts) {
    TelemetryFile file;
    file.path = text;
    std::error_code ignored;
    const std::size_t equal = text.find('=');
    if (equal != std::string::npos && !std::filesystem::exists(text, ignored)) {
      file.node = text.substr(0, equal);
      file.path = text.substr(equal + 1);
    }
    if (file.path.empty() || (equal == 0 && file.node.empty() && file.path != text)) {
      problems.add(Error(ErrorKind::usage, "'" + text.substr(0, 80) + "' names no file",
                         at("--telemetry"), "write FILE, or NODE=FILE"));
      continue;
    }
    pipes += file.path == "-";
    const bool twice = std::any_of(files.begin(), files.end(), [&file](const TelemetryFile& other) {
      return other.path == file.path;
    });
    if (twice && file.path != "-") {
      problems.add(Error(ErrorKind::usage, "a file is named twice", at("--telemetry"),
                         "name " + file.path.substr(0, 80) + " once"));
      continue;
    }
    files.push_back(std::move(file));
  }
  if (!texts.empty() && pipes > 1) {
    problems.add(Error(ErrorKind::usage, "standard input is named twice", at("--telemetry"),
                       "- can be read only once"));
  }
  if (runs.empty() && texts.size() > 1) {
    problems.add(Error(ErrorKind::usage, "all files were taken as telemetry", at("--telemetry"),
                       "name the run first: mfu diagnose run.json --telemetry a.csv b.csv"));
  }
  return files;
}

std::string add_telemetry(RunTimings& run, std::vector<TelemetryFile> files, Notes& notes,
                          std::vector<InputInfo>& inputs) {
  if (files.empty()) return {};
  const Telemetry telemetry = read_telemetry(std::move(files), notes);
  for (const TelemetryFile& file : telemetry.files) {
    inputs.push_back({file.path, file.format, file.bytes});
  }
  join_telemetry(run, telemetry, notes);
  for (const DeviceReading& device : telemetry.devices) {
    if (!device.facts.name.empty()) return device.facts.name;
  }
  return {};
}

namespace {

// The peak of the wrong chip would silently make every figure of the report wrong.
void warn_of_other_chip(const std::string& chip, const std::string& device,
                        std::span<const Chip> chips, Notes& notes) {
  try {
    const ChipMatch stated = match_chip(chip, at("hardware.chip"), chips);
    const ChipMatch seen = match_chip(device, at("--telemetry"), chips);
    const auto could_be = [](const ChipMatch& match, const ChipMatch& other) {
      return match.chip == other.chip ||
             std::find(match.same_peak_ids.begin(), match.same_peak_ids.end(), other.chip->id) !=
                 match.same_peak_ids.end();
    };
    if (stated.chip == nullptr || seen.chip == nullptr) return;
    if (could_be(stated, seen) || could_be(seen, stated)) return;
  } catch (const Error&) {
    return;  // a name that is not in the table is told where the peak is looked up
  }
  notes.add(NoteCode::chip_contradicts_telemetry,
            "the run states the chip '" + chip + "' and the telemetry shows '" + device +
                "': peak and MFU are for the run's chip",
            at("--telemetry"));
}

}  // namespace

void name_chip(RunTimings& run, const std::string& device, std::span<const Chip> chips,
               Notes& notes) {
  Hardware& hardware = run.hardware;
  if (device.empty()) return;
  if (!hardware.chip.empty()) {
    warn_of_other_chip(hardware.chip, device, chips, notes);
    return;
  }
  if (hardware.peak_tflops) return;
  if (!run.workload.flops_per_step) return;
  hardware.chip = device;
  notes.add(NoteCode::chip_from_telemetry,
            "the run names no chip: it is the one that the telemetry names", at("--telemetry"));
}

}  // namespace mfu::app
