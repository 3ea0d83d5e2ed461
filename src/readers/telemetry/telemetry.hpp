// What devices say about themselves, from files that were recorded beside a run: nvidia-smi
// --query-gpu=... --format=csv, nvidia-smi dmon, dcgmi dmon, dcgm-exporter's text, and the Xid
// lines of a kernel log. Which of them a file is, its first bytes tell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/error.hpp"
#include "mfu/timings.hpp"
#include "timings/device_health.hpp"

namespace mfu {

// Totals since the driver was loaded: only their differences say something about a run.
enum class DeviceCounter : unsigned char {
  sw_power_cap,  // seconds, as are all down to thermal_violation
  sync_boost,
  sw_thermal,
  hw_thermal,
  hw_power_brake,
  power_violation,
  thermal_violation,
  ecc_uncorrected_volatile,  // errors
  ecc_uncorrected_aggregate,
  ecc_corrected_volatile,
  ecc_corrected_aggregate,
};
inline constexpr std::size_t kDeviceCounters = 11;

struct CounterSample {
  double time_s = 0.0;  // NaN: not known; only differences mean something
  bool load = false;
  double value = 0.0;  // NaN: between the samples of two files
};

struct DeviceReading {
  DeviceFacts facts;  // the name, PCI device, memory, maximum clock and power limit, where queried
  std::optional<int> index;
  std::string uuid;
  std::string node;     // host, as the file names it (a column, a label); empty: it does not
  std::string pci_bus;  // "0000:cb:00"; empty: not known
  std::string file;     // of its first sample
  bool mig = false;     // the device is cut into slices; its facts are the whole device's
  // SM clock of each sample under load: an idle clock says nothing about a job. Load is a
  // utilisation of 50 % or more; where that is not given (MIG), a power draw over half the limit;
  // where neither is given, every sample, and a note says so. The other levels are of the same
  // samples.
  std::vector<double> sm_clock_mhz;
  std::vector<double> temperature_c;
  std::vector<double> margin_c;  // to throttling
  std::vector<double> memory_temperature_c;
  std::vector<double> power_w;
  std::vector<double> power_limit_w;
  std::size_t samples = 0;
  std::size_t idle_samples = 0;
  // Of the samples that have a date: from 1970-01-01 on, in the recorder's time zone.
  std::optional<double> first_s, last_s;
  bool apart = false;  // more than a day lies between two of its files

  // Of the samples under load that tell: in how many a reason acted (dmon: parts of one).
  struct Tally {
    double on = 0.0;
    std::size_t of = 0;
  };
  std::array<Tally, kThrottleReasons> reasons;
  std::array<std::vector<CounterSample>, kDeviceCounters> counters;  // in the order of the file
  std::optional<double> power_default_w;
  std::optional<double> slowdown_c;
  bool xid_known = false;
  std::vector<XidSeen> xid;
  std::optional<std::int64_t> last_xid;  // that the latest sample shows; 0: none
  bool remap_pending = false;
  bool remap_failed = false;
  std::string recovery_action;
};

// The Xid lines of one host's kernel log, by device.
struct KernelLog {
  std::string node;  // empty: the lines do not name the host
  std::string file;
  struct Event {
    std::string pci_bus;
    std::int64_t code = 0;
    std::int64_t count = 0;
    std::vector<double> dates_s;  // of those that have a date, as DeviceReading's; ascending or not
  };
  std::optional<double> last_s;  // the latest date of any of its lines
  std::vector<Event> events;     // each device and code once; empty: the log names none
};

struct TelemetryFile {
  std::string path;
  std::string node;  // that it is of, where the user says so; empty: to be found
  // Filled by read_telemetry():
  std::string format;  // "nvidia-smi CSV" ...
  std::uint64_t bytes = 0;
};

struct Telemetry {
  std::vector<TelemetryFile> files;
  std::vector<DeviceReading> devices;  // in the order of their first sample
  std::vector<KernelLog> logs;
};

// A device is a UUID, in whatever file; else a node and an index, or an index and a name of one
// file. Any set of columns, with units or without. Throws Error{io}, and Error{format} with
// file:line where a file is none of these formats. Values that are not there ("[N/A]", "[Not
// Supported]", "ERR!", DCGM's blanks) stay empty; what cannot be read (another number of cells, no
// number, gzip data cut off) is left out and counted in `notes`.
[[nodiscard]] Telemetry read_telemetry(std::vector<TelemetryFile> files, Notes& notes);

// The devices alone.
[[nodiscard]] std::vector<DeviceReading> read_device_readings(const std::vector<std::string>& paths,
                                                              Notes& notes);

// Levels, shares and differences over the whole record of a device.
[[nodiscard]] DeviceHealth health_of(const DeviceReading& reading);

// Gives every rank the device that it ran on: by node and index within the node. A file's node is
// the user's, else the one that it names itself, else one of the run's nodes that stands in the
// name of the file or of its folder (node3.csv), else the run's only node. What cannot be joined is
// said in `notes`, and so is what was assumed (ranks of a node without an index, taken in their
// order).
void join_telemetry(RunTimings& run, const Telemetry& telemetry, Notes& notes);

}  // namespace mfu
