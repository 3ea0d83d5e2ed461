// What devices say about themselves and their clocks: `nvidia-smi --query-gpu=... --format=csv`, or
// `nvidia-smi dmon`, which has no names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/error.hpp"

namespace mfu {

struct DeviceReading {
  DeviceFacts facts;  // the name, PCI device, memory, maximum clock and power limit, where queried
  std::optional<int> index;
  std::string uuid;
  bool mig = false;  // the device is cut into slices; its facts are the whole device's
  // SM clock of each sample under load: an idle clock says nothing about a job. Load is a
  // utilisation of 50 % or more; where that is not given (MIG), a power draw over half the limit;
  // where neither is given, every sample, and a note says so.
  std::vector<double> sm_clock_mhz;
  std::size_t samples = 0;
  std::size_t idle_samples = 0;
};

// One entry for each device, in the order of their first sample: a UUID, where there is one, in
// whatever file; else an index and a name of one file. Any set of columns, with units or without.
// Throws Error{io}, and Error{format} with file:line where the header is missing or no known column
// is in it. Values that are not there ("[N/A]", "[Not Supported]") stay empty; what cannot be read
// (another number of cells, no number, gzip data cut off) is left out and counted in `notes`.
[[nodiscard]] std::vector<DeviceReading> read_device_readings(const std::vector<std::string>& paths,
                                                              Notes& notes);

}  // namespace mfu
