// Telemetry files to devices: which format a file is, and which of its devices another file has
// too.
#include "readers/telemetry/telemetry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/note_code.hpp"
#include "readers/registry.hpp"
#include "readers/telemetry/format.hpp"
#include "statistics/robust.hpp"

namespace mfu {
namespace {

std::optional<double> level(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(median(values));
}

// What a counter gained while the device was under load. A counter that falls began anew (the
// driver was loaded again): what it had before is not of this record.
struct Gain {
  double value = 0.0;
  double seconds = 0.0;
  bool timed = false;
  bool known = false;
};
Gain gain_of(std::vector<CounterSample> series, bool under_load) {
  const auto is_break = [](const CounterSample& sample) { return std::isnan(sample.value); };
  const bool timed = std::none_of(series.begin(), series.end(), [&](const CounterSample& sample) {
    return !is_break(sample) && std::isnan(sample.time_s);
  });
  // Lines of two loggers in one file are not in the order of time.
  if (timed) {
    std::erase_if(series, is_break);
    std::stable_sort(
        series.begin(), series.end(),
        [](const CounterSample& a, const CounterSample& b) { return a.time_s < b.time_s; });
  }
  Gain gain;
  gain.timed = timed;
  Sum value;
  Sum seconds;
  for (std::size_t i = 1; i < series.size(); ++i) {
    if (is_break(series[i - 1]) || is_break(series[i])) continue;
    if (under_load && !(series[i - 1].load && series[i].load)) continue;
    gain.known = true;
    value.add(std::max(0.0, series[i].value - series[i - 1].value));
    if (timed) seconds.add(series[i].time_s - series[i - 1].time_s);
  }
  gain.value = value.value();
  gain.seconds = seconds.value();
  return gain;
}

constexpr std::array<ThrottleReason, 7> kCountedReasons{
    ThrottleReason::sw_power_cap,     ThrottleReason::sync_boost,
    ThrottleReason::sw_thermal,       ThrottleReason::hw_thermal,
    ThrottleReason::hw_power_brake,   ThrottleReason::power_violation,
    ThrottleReason::thermal_violation};

void take_reasons(const DeviceReading& reading, DeviceHealth& health) {
  for (std::size_t r = 0; r < kThrottleReasons; ++r) {
    const auto reason = static_cast<ThrottleReason>(r);
    ThrottleShare share{reason, {}, {}};
    const DeviceReading::Tally& tally = reading.reasons[r];
    if (tally.of > 0) {
      health.reasons_known = true;
      share.share = tally.on / static_cast<double>(tally.of);
    }
    // Flags are a moment of the sample and miss short events; a counter does not.
    for (std::size_t c = 0; c < kCountedReasons.size(); ++c) {
      if (kCountedReasons[c] != reason) continue;
      const Gain gain = gain_of(reading.counters[c], true);
      if (!gain.known) continue;
      health.reasons_known = true;
      share.seconds = gain.value;
      if (gain.timed && gain.seconds > 0.0) {
        share.share = std::max(share.share.value_or(0.0), std::min(1.0, gain.value / gain.seconds));
      }
    }
    if (share.share.value_or(0.0) > 0.0 || share.seconds.value_or(0.0) > 0.0) {
      health.reasons.push_back(share);
    }
  }
}

std::optional<std::int64_t> new_errors(const DeviceReading& reading, DeviceCounter first,
                                       DeviceCounter second) {
  std::optional<std::int64_t> errors;
  for (const DeviceCounter which : {first, second}) {
    const Gain gain = gain_of(reading.counters[static_cast<std::size_t>(which)], false);
    if (!gain.known) continue;
    constexpr double kMost = 9e15;
    const auto count = static_cast<std::int64_t>(std::min(kMost, gain.value));
    errors = std::max(errors.value_or(0), count);
  }
  return errors;
}

}  // namespace

void note_line(const TelemetryJob& job, const Place& place) {
  job.notes.add(NoteCode::telemetry_line,
                "lines of the telemetry that are cut off, or have more or fewer cells than the "
                "header, are left out",
                place);
}

void read_telemetry_file(ByteSource& bytes, TelemetryFile& file, Telemetry& all, Notes& notes) {
  const std::string_view head = bytes.peek(kHeadBytes);
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) {
    throw Error(ErrorKind::format, "is UTF-16 text", Place{.file = file.path},
                "save it as UTF-8 (PowerShell: ... | Out-File -Encoding utf8 FILE)");
  }
  const FormatRow& format = telemetry_row(head);
  DeviceTable table(file.path, notes);
  TelemetryJob job{bytes, table, all.logs, notes};
  format.read_telemetry(job);
  if (bytes.cut_off()) {
    notes.add(NoteCode::truncated_tail, "the gzip data is cut off; what came before was read",
              Place{.file = file.path});
  }
  file.format = std::string(format.name) + (bytes.gzip() ? " (gzip)" : "");
  file.bytes = bytes.raw_bytes();

  // The index counts the devices of one host: another file is another host, unless a UUID says
  // otherwise.
  for (DeviceReading& device : table.take()) {
    if (device.mig) {
      notes.add(NoteCode::mig_enabled,
                "a device of the telemetry is cut into slices (MIG): its peak is the whole "
                "device's, a job on a slice has a share of it",
                Place{.file = file.path});
    }
    const auto same =
        std::find_if(all.devices.begin(), all.devices.end(), [&device](const DeviceReading& known) {
          return !device.uuid.empty() && known.uuid == device.uuid;
        });
    if (same != all.devices.end()) {
      absorb(*same, std::move(device));
    } else {
      all.devices.push_back(std::move(device));
    }
  }
}

Telemetry read_telemetry(std::vector<TelemetryFile> files, Notes& notes) {
  // So that the order on the command line does not matter.
  std::stable_sort(files.begin(), files.end(),
                   [](const TelemetryFile& a, const TelemetryFile& b) { return a.path < b.path; });
  Telemetry all;
  for (TelemetryFile& file : files) {
    ByteSource bytes = ByteSource::open(file.path);
    read_telemetry_file(bytes, file, all, notes);
  }
  all.files = std::move(files);
  return all;
}

std::vector<DeviceReading> read_device_readings(const std::vector<std::string>& paths,
                                                Notes& notes) {
  std::vector<TelemetryFile> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) files.push_back({path, {}, {}, 0});
  return read_telemetry(std::move(files), notes).devices;
}

DeviceHealth health_of(const DeviceReading& reading) {
  DeviceHealth health;
  health.name = reading.facts.name;
  health.samples = reading.samples;
  health.idle_samples = reading.idle_samples;
  health.sm_clock_mhz = level(reading.sm_clock_mhz);
  health.max_clock_mhz = reading.facts.max_mhz;
  health.temperature_c = level(reading.temperature_c);
  if (!reading.temperature_c.empty()) health.hottest_c = quantile(reading.temperature_c, 0.95);
  health.margin_c = level(reading.margin_c);
  if (!reading.margin_c.empty()) health.least_margin_c = quantile(reading.margin_c, 0.05);
  health.slowdown_c = reading.slowdown_c;
  health.memory_temperature_c = level(reading.memory_temperature_c);
  health.power_w = level(reading.power_w);
  health.power_limit_w = level(reading.power_limit_w);
  health.power_default_w = reading.power_default_w;
  take_reasons(reading, health);
  health.ecc_uncorrected = new_errors(reading, DeviceCounter::ecc_uncorrected_volatile,
                                      DeviceCounter::ecc_uncorrected_aggregate);
  health.ecc_corrected = new_errors(reading, DeviceCounter::ecc_corrected_volatile,
                                    DeviceCounter::ecc_corrected_aggregate);
  health.xid_known = reading.xid_known;
  health.xid = reading.xid;
  health.remap_pending = reading.remap_pending;
  health.remap_failed = reading.remap_failed;
  health.recovery_action = reading.recovery_action;
  return health;
}

}  // namespace mfu
