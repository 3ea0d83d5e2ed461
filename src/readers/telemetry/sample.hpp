// One sample of one device, whichever tool wrote it, and how a cell of a table becomes part of it.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "readers/telemetry/telemetry.hpp"
#include "timings/device_health.hpp"

namespace mfu {

inline constexpr double kDay = 86400.0;  // seconds

// What is measured at the moment of the sample. SI units, degrees Celsius, MHz, per cent.
enum class Gauge : unsigned char {
  sm_clock,
  max_clock,
  temperature,
  margin,
  memory_temperature,
  slowdown,
  power,
  power_limit,
  power_default,
  power_max,
  utilization,
};
inline constexpr std::size_t kGauges = 11;

struct TelemetrySample {
  std::string node, uuid, pci_bus, name;
  std::string instance;  // of a device that is cut into slices
  std::optional<int> index;
  std::optional<std::uint32_t> pci_device;
  std::optional<double> memory_bytes;
  std::optional<double> time_s;
  bool mig = false;
  // NaN: not there.
  std::array<double, kGauges> gauges;
  std::array<double, kDeviceCounters> counters;
  std::array<double, kThrottleReasons> reasons;  // how much of the sample it acted in, 0 to 1
  std::optional<std::int64_t> last_xid;          // the latest that the device has; 0: none
  std::optional<std::int64_t> xid_code;          // an Xid that is counted in this sample
  std::string recovery_action;
  bool remap_pending = false;
  bool remap_failed = false;
  bool unreadable = false;  // a cell of it is not a number

  TelemetrySample() {
    constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
    gauges.fill(kAbsent);
    counters.fill(kAbsent);
    reasons.fill(kAbsent);
  }
  [[nodiscard]] double gauge(Gauge which) const { return gauges[static_cast<std::size_t>(which)]; }
};

// What a column holds. A reason, gauge or counter is told by `which` beside it.
enum class Cell : unsigned char {
  name,
  index,
  uuid,
  node,
  pci_bus,
  pci_device,
  memory_mib,
  date,       // 20261130, 2026/11/30
  time,       // 06:47:24
  timestamp,  // both
  mig,
  gauge,
  ratio,  // a gauge that is written as 0 to 1; what is above 1 is per cent already
  counter,
  reason,       // "Active", "Not Active"
  reason_part,  // per cent of the sample
  reason_flag,  // 0 or not
  reason_mask,  // NVML's bits, hexadecimal or decimal
  last_xid,
  recovery,
  pending,
  failed,
};

struct TelemetryColumn {
  std::string_view name;  // without the unit in brackets
  Cell cell;
  std::size_t which = 0;
  double scale = 1.0;  // to the unit that is kept
};
constexpr TelemetryColumn gauge_column(std::string_view name, Gauge which) {
  return {name, Cell::gauge, static_cast<std::size_t>(which), 1.0};
}
constexpr TelemetryColumn counter_column(std::string_view name, DeviceCounter which,
                                         double scale = 1.0) {
  return {name, Cell::counter, static_cast<std::size_t>(which), scale};
}
constexpr TelemetryColumn reason_column(std::string_view name, Cell cell, ThrottleReason which) {
  return {name, cell, static_cast<std::size_t>(which), 1.0};
}

// Every spelling of a value that is not there.
[[nodiscard]] bool absent(std::string_view cell) noexcept;

// "1980 MHz", "1980", "631.95 W", "100 %"; nothing: not there, or no number that is 0 or more.
[[nodiscard]] std::optional<double> number_in(std::string_view cell);

// "00000000:CB:00.0", "0000:cb:00", "CB:00.0" (domain 0): "0000:cb:00". Empty: none of these.
[[nodiscard]] std::string bus_of(std::string_view text);

// Seconds of "2026/07/14 08:12:53.353", "2026-07-14T08:12:53", "20260714 08:12:53" from 1970-01-01
// on, in the writer's time zone; nothing: none of these.
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);

// The same of the stamp that a line of a kernel log begins with: "2026-07-14T08:12:53+00:00",
// "<6>1 2026-07-14T08:12:53Z", "[Tue Jul 14 08:12:53 2026]". Nothing: it has none, or one without a
// year.
[[nodiscard]] std::optional<double> seconds_of_log_line(std::string_view line);

// Puts a cell that is there into the sample. The first column of a quantity counts, where several
// tell it.
void take_cell(const TelemetryColumn& column, std::string_view cell, TelemetrySample& sample);

}  // namespace mfu
