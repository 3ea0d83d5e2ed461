// dcgmi dmon -e FIELDS: "#Entity" and the short names of the fields, then a line a device and
// sample. Headers come again, devices in any order, and first samples have no values.
#include <array>
#include <optional>
#include <vector>

#include "readers/telemetry/format.hpp"

namespace mfu {
namespace {

constexpr std::array kDcgmDmonColumns{
    gauge_column("SMCLK", Gauge::sm_clock),                                               // 100
    gauge_column("SMMAX", Gauge::max_clock),                                              // 113
    TelemetryColumn{"DVCCTR", Cell::reason_mask},                                         // 112
    gauge_column("MMTMP", Gauge::memory_temperature),                                     // 140
    gauge_column("TMPTR", Gauge::temperature),                                            // 150
    gauge_column("POWER", Gauge::power),                                                  // 155
    gauge_column("SDTMP", Gauge::slowdown),                                               // 158
    gauge_column("PMLMT", Gauge::power_limit),                                            // 160
    gauge_column("EPLMT", Gauge::power_limit),                                            // 164
    gauge_column("GPUTL", Gauge::utilization),                                            // 203
    TelemetryColumn{"XIDER", Cell::last_xid},                                             // 230
    counter_column("PVIOL", DeviceCounter::power_violation, kNanoseconds),                // 240
    counter_column("TVIOL", DeviceCounter::thermal_violation, kNanoseconds),              // 241
    counter_column("ESVTL", DeviceCounter::ecc_corrected_volatile),                       // 310
    counter_column("EDVTL", DeviceCounter::ecc_uncorrected_volatile),                     // 311
    counter_column("ESATL", DeviceCounter::ecc_corrected_aggregate),                      // 312
    counter_column("EDATL", DeviceCounter::ecc_uncorrected_aggregate),                    // 313
    TelemetryColumn{"GRACT", Cell::ratio, static_cast<std::size_t>(Gauge::utilization)},  // 1001
};

std::optional<TelemetryColumn> dcgm_dmon_column(std::string_view heading) {
  for (const TelemetryColumn& column : kDcgmDmonColumns) {
    if (column.name == heading) return column;
  }
  return {};
}

// The line that begins a table: "#Entity   GRACT ...", "# Entity ...".
bool is_header(std::string_view line) {
  return line.starts_with('#') && stripped(line.substr(1)).starts_with("Entity");
}

}  // namespace

bool sniff_dcgm_dmon(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && is_header(head.substr(first));
}

void read_dcgm_dmon(TelemetryJob& job) {
  TextLines lines(job.bytes);
  std::vector<std::optional<TelemetryColumn>> columns;
  std::vector<std::string_view> words;
  std::string_view line;
  while (lines.next(line)) {
    if (is_header(line)) {
      split_at_blanks(stripped(line.substr(1)), words);
      columns.clear();
      for (std::size_t i = 1; i < words.size(); ++i) columns.push_back(dcgm_dmon_column(words[i]));
      continue;
    }
    split_at_blanks(line, words);
    if (words.front() == "ID") continue;  // the second line of the header
    // "GPU 0", "GPU-I 3" (a slice of one; which one's is not said), "Switch 0".
    if (words.front() != "GPU") continue;
    if (words.size() != columns.size() + 2) {
      note_line(job, lines.place());
      continue;
    }
    TelemetrySample sample;
    take_cell({"", Cell::index}, words[1], sample);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string_view word = words[i + 2];
      if (columns[i] && !absent(word)) take_cell(*columns[i], word, sample);
    }
    job.devices.add(sample, lines.place());
  }
}

}  // namespace mfu
