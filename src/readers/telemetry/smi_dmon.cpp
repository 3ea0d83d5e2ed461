// nvidia-smi dmon: a table with blanks between the cells, whose columns stand in a line with '#'
// and differ from driver to driver.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "readers/telemetry/format.hpp"
#include "timings/device_health.hpp"

namespace mfu {
namespace {

// "sm" is the utilisation, "pclk" the clock. The violations: "pviol" is per cent of the time,
// "tviol" a flag. "sbecc" and "dbecc" count the errors of memory.
constexpr std::array kSmiDmonColumns{
    TelemetryColumn{"gpu", Cell::index},
    TelemetryColumn{"Date", Cell::date},
    TelemetryColumn{"Time", Cell::time},
    gauge_column("pwr", Gauge::power),
    gauge_column("gtemp", Gauge::temperature),
    gauge_column("temp", Gauge::temperature),  // of old drivers
    gauge_column("mtemp", Gauge::memory_temperature),
    gauge_column("sm", Gauge::utilization),
    gauge_column("pclk", Gauge::sm_clock),
    reason_column("pviol", Cell::reason_part, ThrottleReason::power_violation),
    reason_column("tviol", Cell::reason_flag, ThrottleReason::thermal_violation),
    counter_column("sbecc", DeviceCounter::ecc_corrected_volatile),
    counter_column("dbecc", DeviceCounter::ecc_uncorrected_volatile),
};

std::optional<TelemetryColumn> smi_dmon_column(std::string_view heading) {
  for (const TelemetryColumn& column : kSmiDmonColumns) {
    if (column.name == heading) return column;
  }
  return {};
}

bool names_gpu(const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), "gpu") != words.end();
}

}  // namespace

bool sniff_smi_dmon(std::string_view head) {
  std::vector<std::string_view> words;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const std::string_view line = stripped(head.substr(0, end));
    if (!line.empty()) {
      if (!line.starts_with('#')) return false;
      split_at_blanks(line.substr(1), words);
      if (names_gpu(words)) return true;
    }
    if (end == std::string_view::npos) return false;
    head.remove_prefix(end + 1);
  }
  return false;
}

void read_smi_dmon(TelemetryJob& job) {
  TextLines lines(job.bytes);
  std::vector<std::optional<TelemetryColumn>> columns;
  std::vector<std::string_view> words;
  std::string_view line;
  while (lines.next(line)) {
    if (line.starts_with('#')) {
      // The second line has the units, which are the same everywhere.
      split_at_blanks(line.substr(1), words);
      if (!names_gpu(words)) continue;
      columns.clear();
      for (const std::string_view word : words) columns.push_back(smi_dmon_column(word));
      continue;
    }
    split_at_blanks(line, words);
    if (words.size() != columns.size()) {
      note_line(job, lines.place());
      continue;
    }
    TelemetrySample sample;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (columns[i] && !absent(words[i])) take_cell(*columns[i], words[i], sample);
    }
    job.devices.add(sample, lines.place());
  }
}

}  // namespace mfu
