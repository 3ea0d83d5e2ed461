// Samples become devices: whose they are, which of them are under load, what of them is kept.
#pragma once

#include <string>
#include <vector>

#include "readers/telemetry/sample.hpp"
#include "readers/telemetry/telemetry.hpp"

namespace mfu {

// The devices of one file.
class DeviceTable {
 public:
  DeviceTable(std::string file, Notes& notes) : file_(std::move(file)), notes_(notes) {}

  void add(const TelemetrySample& sample, const Place& place);
  [[nodiscard]] std::vector<DeviceReading> take() { return std::move(devices_); }

 private:
  [[nodiscard]] DeviceReading& device_of(const TelemetrySample& sample);
  [[nodiscard]] bool under_load(const TelemetrySample& sample, const Place& place);

  std::string file_;
  Notes& notes_;
  std::vector<DeviceReading> devices_;
};

// What `from` knows of the same device, after what `into` knows.
void absorb(DeviceReading& into, DeviceReading from);

}  // namespace mfu
