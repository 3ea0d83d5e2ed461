// nvidia-smi --query-gpu=... --format=csv: any set of columns, with units or without.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "readers/telemetry/format.hpp"
#include "timings/device_health.hpp"

namespace mfu {
namespace {

constexpr double kMicroseconds = 1e-6;

constexpr std::array kSmiCsvColumns{
    TelemetryColumn{"name", Cell::name},
    TelemetryColumn{"gpu_name", Cell::name},
    TelemetryColumn{"index", Cell::index},
    TelemetryColumn{"uuid", Cell::uuid},
    TelemetryColumn{"gpu_uuid", Cell::uuid},
    TelemetryColumn{"timestamp", Cell::timestamp},
    // nvidia-smi has no column for the host; people who gather several add one.
    TelemetryColumn{"hostname", Cell::node},
    TelemetryColumn{"host", Cell::node},
    TelemetryColumn{"node", Cell::node},
    TelemetryColumn{"nodename", Cell::node},
    TelemetryColumn{"pci.bus_id", Cell::pci_bus},
    TelemetryColumn{"gpu_bus_id", Cell::pci_bus},
    TelemetryColumn{"pci.device_id", Cell::pci_device},
    TelemetryColumn{"memory.total", Cell::memory_mib},
    TelemetryColumn{"mig.mode.current", Cell::mig},
    gauge_column("clocks.max.sm", Gauge::max_clock),
    gauge_column("clocks.max.graphics", Gauge::max_clock),
    gauge_column("clocks.sm", Gauge::sm_clock),
    gauge_column("clocks.current.sm", Gauge::sm_clock),
    gauge_column("temperature.gpu", Gauge::temperature),
    gauge_column("temperature.gpu.tlimit", Gauge::margin),
    gauge_column("temperature.memory", Gauge::memory_temperature),
    gauge_column("power.max_limit", Gauge::power_max),
    gauge_column("power.limit", Gauge::power_limit),
    gauge_column("enforced.power.limit", Gauge::power_limit),
    gauge_column("power.default_limit", Gauge::power_default),
    gauge_column("power.draw", Gauge::power),
    gauge_column("power.draw.average", Gauge::power),
    gauge_column("power.draw.instant", Gauge::power),
    gauge_column("utilization.gpu", Gauge::utilization),
    counter_column("ecc.errors.uncorrected.volatile.total",
                   DeviceCounter::ecc_uncorrected_volatile),
    counter_column("ecc.errors.uncorrected.aggregate.total",
                   DeviceCounter::ecc_uncorrected_aggregate),
    counter_column("ecc.errors.corrected.volatile.total", DeviceCounter::ecc_corrected_volatile),
    counter_column("ecc.errors.corrected.aggregate.total", DeviceCounter::ecc_corrected_aggregate),
    TelemetryColumn{"remapped_rows.pending", Cell::pending},
    TelemetryColumn{"remapped_rows.failure", Cell::failed},
    TelemetryColumn{"gpu_recovery_action", Cell::recovery},
};

// Under "clocks_event_reasons." and, before driver 535, "clocks_throttle_reasons.".
constexpr std::array kReasons{
    TelemetryColumn{"active", Cell::reason_mask},
    reason_column("gpu_idle", Cell::reason, ThrottleReason::gpu_idle),
    reason_column("applications_clocks_setting", Cell::reason, ThrottleReason::applications_clocks),
    reason_column("sw_power_cap", Cell::reason, ThrottleReason::sw_power_cap),
    reason_column("hw_slowdown", Cell::reason, ThrottleReason::hw_slowdown),
    reason_column("sync_boost", Cell::reason, ThrottleReason::sync_boost),
    reason_column("sw_thermal_slowdown", Cell::reason, ThrottleReason::sw_thermal),
    reason_column("hw_thermal_slowdown", Cell::reason, ThrottleReason::hw_thermal),
    reason_column("hw_power_brake_slowdown", Cell::reason, ThrottleReason::hw_power_brake),
};
constexpr std::array kReasonCounters{
    counter_column("sw_power_cap", DeviceCounter::sw_power_cap, kMicroseconds),
    counter_column("sync_boost", DeviceCounter::sync_boost, kMicroseconds),
    counter_column("sw_thermal_slowdown", DeviceCounter::sw_thermal, kMicroseconds),
    counter_column("hw_thermal_slowdown", DeviceCounter::hw_thermal, kMicroseconds),
    counter_column("hw_power_brake_slowdown", DeviceCounter::hw_power_brake, kMicroseconds),
};

constexpr std::string_view kQuery =
    "nvidia-smi --query-gpu=name,index,clocks.sm,utilization.gpu --format=csv -l 1";

template <std::size_t N>
std::optional<TelemetryColumn> column_in(const std::array<TelemetryColumn, N>& columns,
                                         std::string_view name) {
  for (const TelemetryColumn& column : columns) {
    if (column.name == name) return column;
  }
  return {};
}

std::optional<TelemetryColumn> smi_csv_column(std::string_view heading) {
  const std::string_view name = heading.substr(0, heading.find(" ["));
  for (const std::string_view prefix :
       {"clocks_event_reasons_counters.", "clocks_throttle_reasons_counters."}) {
    if (name.starts_with(prefix)) return column_in(kReasonCounters, name.substr(prefix.size()));
  }
  for (const std::string_view prefix : {"clocks_event_reasons.", "clocks_throttle_reasons."}) {
    if (name.starts_with(prefix)) return column_in(kReasons, name.substr(prefix.size()));
  }
  return column_in(kSmiCsvColumns, name);
}

bool is_header(const std::vector<std::string_view>& cells) {
  return std::any_of(cells.begin(), cells.end(),
                     [](std::string_view cell) { return smi_csv_column(cell).has_value(); });
}

}  // namespace

bool sniff_smi_csv(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  head.remove_prefix(first);
  std::vector<std::string_view> cells;
  split_at_commas(head.substr(0, head.find('\n')), cells);
  // "index" and "timestamp" are columns of many a table, "clocks.sm" of this one.
  return std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
    const std::optional<TelemetryColumn> column = smi_csv_column(cell);
    return column && column->name.find('.') != std::string_view::npos;
  });
}

void read_smi_csv(TelemetryJob& job) {
  TextLines lines(job.bytes);
  std::vector<std::optional<TelemetryColumn>> columns;
  std::vector<std::string_view> cells;
  std::string_view line;
  while (lines.next(line)) {
    split_at_commas(line, cells);
    // A logger that is started again writes its header again, and it may have other columns.
    if (is_header(cells)) {
      columns.clear();
      for (const std::string_view cell : cells) columns.push_back(smi_csv_column(cell));
      continue;
    }
    if (columns.empty()) {
      throw Error(ErrorKind::format, "not telemetry: it has no known nvidia-smi column",
                  lines.place(), std::string(kQuery) + "; without 'noheader'");
    }
    if (cells.size() != columns.size()) {
      note_line(job, lines.place());
      continue;
    }
    TelemetrySample sample;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns[i] && !absent(cells[i])) take_cell(*columns[i], cells[i], sample);
    }
    job.devices.add(sample, lines.place());
  }
  if (columns.empty()) {
    throw Error(ErrorKind::format, "the file is empty", lines.place(), std::string(kQuery));
  }
}

}  // namespace mfu
