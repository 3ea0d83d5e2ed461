// Whatever the bytes are: devices, or an mfu::Error; and the pieces in which they arrive change
// neither. Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an ordinary test.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/text_input.hpp"
#include "mfu/error.hpp"
#include "readers/telemetry/format.hpp"
#include "readers/telemetry/telemetry.hpp"
#include "timings/device_health.hpp"

namespace {

void check_share(const mfu::ThrottleShare& seen) {
  if (seen.share && !(*seen.share >= 0.0 && *seen.share <= 1.0)) std::abort();
  if (seen.seconds && !(*seen.seconds >= 0.0)) std::abort();
}

std::string told(const mfu::DeviceReading& device) {
  const mfu::DeviceHealth health = mfu::health_of(device);
  for (const mfu::ThrottleShare& seen : health.reasons) check_share(seen);
  if (health.sm_clock_mhz && !(*health.sm_clock_mhz > 0.0)) std::abort();
  if (health.ecc_uncorrected && *health.ecc_uncorrected < 0) std::abort();
  if (health.idle_samples > health.samples) std::abort();
  std::string text = device.node + "/" + device.uuid + "/" + device.pci_bus + "/" +
                     std::to_string(device.index.value_or(-1)) + " " +
                     std::to_string(health.samples) + " " +
                     std::to_string(health.sm_clock_mhz.value_or(-1.0)) + " " +
                     std::to_string(health.reasons.size());
  for (const mfu::XidSeen& seen : health.xid) text += " x" + std::to_string(seen.code);
  return text + "\n";
}

std::string outcome(std::string_view bytes, std::size_t piece) {
  mfu::Notes notes;
  std::string text;
  try {
    mfu::ByteSource source = mfu::ByteSource::from_memory(bytes, "input", piece);
    mfu::TelemetryFile file{"input", {}, {}, 0};
    mfu::Telemetry all;
    mfu::read_telemetry_file(source, file, all, notes);
    text = file.format + "\n";
    for (const mfu::DeviceReading& device : all.devices) text += told(device);
    for (const mfu::KernelLog& log : all.logs) {
      text += log.node + ":";
      for (const auto& event : log.events) {
        if (event.code < 1 || event.count < 1) std::abort();
        text += " " + event.pci_bus + "=" + std::to_string(event.code);
      }
    }
    // A run of two nodes, whatever the devices are called.
    mfu::RunTimings run;
    for (int rank = 0; rank < 4; ++rank) {
      mfu::RankInfo info;
      info.rank = rank;
      info.node = rank < 2 ? "n0" : "n1";
      info.gpu = rank % 2;
      run.ranks.push_back(info);
    }
    all.files.push_back(file);
    mfu::join_telemetry(run, all, notes);
    for (const mfu::RankInfo& info : run.ranks) text += info.device ? "+" : "-";
  } catch (const mfu::Error& error) {
    text += "error: ";
    text += error.what();
  }
  return text + mfu::fuzz::told(notes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mfu::fuzz::check_in_pieces(data, size, outcome);
  return 0;
}
