// What a reader of telemetry is given. The formats are in readers/registry.hpp.
#pragma once

#include <string_view>

#include "readers/telemetry/device_table.hpp"
#include "readers/text_lines.hpp"

namespace mfu {

inline constexpr double kNanoseconds = 1e-9;  // in seconds

struct TelemetryJob {
  ByteSource& bytes;
  DeviceTable& devices;
  std::vector<KernelLog>& logs;
  Notes& notes;
};

[[nodiscard]] bool sniff_smi_dmon(std::string_view head);
void read_smi_dmon(TelemetryJob& job);
[[nodiscard]] bool sniff_dcgm_dmon(std::string_view head);
void read_dcgm_dmon(TelemetryJob& job);
[[nodiscard]] bool sniff_dcgm_text(std::string_view head);
void read_dcgm_text(TelemetryJob& job);
[[nodiscard]] bool sniff_kernel_log(std::string_view head);
void read_kernel_log(TelemetryJob& job);
[[nodiscard]] bool sniff_smi_csv(std::string_view head);
void read_smi_csv(TelemetryJob& job);

// "lines of the telemetry with another number of cells than the header are left out"
void note_line(const TelemetryJob& job, const Place& place);

// One file: fills `file`, and adds to `all`.
void read_telemetry_file(ByteSource& bytes, TelemetryFile& file, Telemetry& all, Notes& notes);

}  // namespace mfu
