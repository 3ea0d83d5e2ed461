// Telemetry of every format in one model of devices.
#include "readers/telemetry/telemetry.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/base/temp_file.hpp"

using namespace mfu;

namespace telemetry_files {

struct Read {
  Telemetry all;
  Notes notes;
  [[nodiscard]] const DeviceReading& only() const {
    REQUIRE(all.devices.size() == 1);
    return all.devices.front();
  }
  [[nodiscard]] DeviceHealth health() const { return health_of(only()); }
  [[nodiscard]] std::string codes() const {
    std::string text;
    for (const Note& note : notes.all()) {
      text += (text.empty() ? "" : " ") + note.code.str() + " x" + std::to_string(note.count);
    }
    return text;
  }
};

Read read_all(const std::vector<std::string>& texts) {
  const TempDir folder;
  std::vector<TelemetryFile> files;
  for (const std::string& text : texts) {
    files.push_back({folder.write("t" + std::to_string(files.size()), text), {}, {}, 0});
  }
  Read result;
  result.all = read_telemetry(std::move(files), result.notes);
  return result;
}
Read read(const std::string& text) { return read_all({text}); }

std::string format_of(const std::string& text) { return read(text).all.files.front().format; }

double share_of(const DeviceHealth& health, ThrottleReason reason) {
  for (const ThrottleShare& seen : health.reasons) {
    if (seen.reason == reason) return seen.share.value_or(-1.0);
  }
  return 0.0;
}

RunTimings run_of(int nodes, int gpus) {
  RunTimings run;
  for (int rank = 0; rank < nodes * gpus; ++rank) {
    RankInfo info;
    info.rank = rank;
    info.node = "n" + std::to_string(rank / gpus);
    info.gpu = rank % gpus;
    run.ranks.push_back(info);
  }
  return run;
}

const std::string kHead = "index, clocks.sm [MHz], utilization.gpu [%]\n";

TEST_CASE("the first bytes tell the format") {
  CHECK(format_of(kHead) == "nvidia-smi CSV");
  CHECK(format_of("# gpu pwr\n# Idx W\n") == "nvidia-smi dmon");
  CHECK(format_of("#Date Time gpu pwr\n") == "nvidia-smi dmon");
  CHECK(format_of("#Entity   GRACT\nID\n") == "dcgmi dmon");
  CHECK(format_of("\n# Entity   GRACT\nID\n") == "dcgmi dmon");
  CHECK(format_of("# HELP DCGM_FI_DEV_GPU_TEMP x\n") == "dcgm-exporter");
  CHECK(format_of("go_threads 8\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 60\n") == "dcgm-exporter");
  CHECK(format_of("\xEF\xBB\xBF"
                  "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 60\n") == "dcgm-exporter");
  CHECK(format_of("[ 12.345678] NVRM: loading\n") == "kernel log");
  CHECK(format_of("[Mon Nov 30 08:10:54 2026] usb 1-1: new\n") == "kernel log");
  CHECK(format_of("<6>[    0.000000] Linux version 6.1\n") == "kernel log");
  CHECK(format_of("2026-11-30T08:10:54+0000 n3 kernel: x\n") == "kernel log");
  CHECK(format_of("<4>1 2026-11-30T08:10:54Z n3 kernel - - - x\n") == "kernel log");
  CHECK(format_of(gzipped(kHead)) == "nvidia-smi CSV (gzip)");
}

TEST_CASE("levels are of the samples under load") {
  const Read all = read(
      "index, clocks.sm, temperature.gpu, temperature.gpu.tlimit, temperature.memory, power.draw, "
      "enforced.power.limit, power.default_limit, clocks.max.sm, utilization.gpu\n"
      "0, 1980, 60, 27, 70, 650, 700, 700, 1980, 99\n0, 1900, 64, 23, N/A, 690, 700, 700, 1980, "
      "99\n"
      "0, 345, 31, 56, 33, 80, 700, 700, 1980, 0\n0, 1940, 62, 25, 74, 670, 700, 700, 1980, 99\n");
  const DeviceHealth health = all.health();
  CHECK(health.samples == 4);
  CHECK(health.idle_samples == 1);
  CHECK(health.sm_clock_mhz == 1940);
  CHECK(health.max_clock_mhz == 1980);
  CHECK(health.temperature_c == 62);
  CHECK(health.margin_c == 25);
  CHECK(health.memory_temperature_c == 72);
  CHECK(health.power_w == 670);
  CHECK(health.power_limit_w == 700);
  CHECK(health.power_default_w == 700);
  CHECK_FALSE(health.reasons_known);
  CHECK_FALSE(health.ecc_uncorrected);
  CHECK_FALSE(health.xid_known);
}

TEST_CASE("a reason is its bit, or its column") {
  const std::string head = "index, utilization.gpu, clocks_event_reasons.active\n";
  const DeviceHealth mask =
      read(head + "0, 99, 0x0000000000000048\n0, 99, 0x0\n0, 99, 0x40\n0, 0, 0x1\n").health();
  CHECK(mask.reasons_known);
  CHECK(share_of(mask, ThrottleReason::hw_thermal) == Approx(2.0 / 3));
  CHECK(share_of(mask, ThrottleReason::hw_slowdown) == Approx(1.0 / 3));
  CHECK(share_of(mask, ThrottleReason::gpu_idle) == 0.0);
  for (const char* prefix : {"clocks_event_reasons.", "clocks_throttle_reasons."}) {
    const DeviceHealth flags = read("index, utilization.gpu, " + std::string(prefix) +
                                    "sw_thermal_slowdown\n0, 99, Active\n0, 99, Not Active\n")
                                   .health();
    CHECK(share_of(flags, ThrottleReason::sw_thermal) == 0.5);
  }
  CHECK(read(head + "0, 99, [N/A]\n").health().reasons_known == false);
  CHECK(read(head + "0, 99, 0xZZ\n").codes() == "telemetry-value x1");
}

TEST_CASE("a power cap counts only near the limit") {
  const std::string head =
      "index, utilization.gpu, power.draw, enforced.power.limit, "
      "clocks_event_reasons.sw_power_cap\n";
  CHECK(share_of(read(head + "0, 99, 39.0, 250.0, Active\n").health(),
                 ThrottleReason::sw_power_cap) == 0.0);
  CHECK(share_of(read(head + "0, 99, 249.0, 250.0, Active\n").health(),
                 ThrottleReason::sw_power_cap) == 1.0);
}

TEST_CASE("counters are differences over the time under load") {
  const std::string head =
      "timestamp, index, utilization.gpu, clocks_event_reasons_counters.sw_power_cap [us]\n";
  const auto row = [](int second, int load, long long microseconds) {
    return "2026/07/14 23:59:" + std::string(second < 10 ? "0" : "") + std::to_string(second) +
           ".000, 0, " + std::to_string(load) + ", " + std::to_string(microseconds) + " us\n";
  };
  // 10 s of load with 4 s of it, then idle seconds with all of it.
  std::string text = head;
  for (int s = 0; s <= 10; ++s) text += row(s, 99, 7015662857LL + 400000LL * s);
  for (int s = 11; s <= 20; ++s) text += row(s, 0, 7019662857LL + 1000000LL * (s - 10));
  const DeviceHealth health = read(text).health();
  CHECK(share_of(health, ThrottleReason::sw_power_cap) == Approx(0.4));
  REQUIRE(health.reasons.size() == 1);
  CHECK(*health.reasons.front().seconds == Approx(4.0));
  // One sample is no difference.
  CHECK_FALSE(read(head + row(0, 99, 7015662857LL)).health().reasons_known);
  // Over midnight, and over the end of a month.
  const DeviceHealth night =
      read(
          "timestamp, index, utilization.gpu, clocks_event_reasons_counters.hw_thermal_slowdown\n"
          "2024/02/28 23:59:50.000, 0, 99, 0\n2024/02/29 00:00:00.000, 0, 99, 5000000\n"
          "2024/03/01 00:00:00.000, 0, 99, 5000000\n")
          .health();
  CHECK(share_of(night, ThrottleReason::hw_thermal) == Approx(5.0 / 86410));
}

TEST_CASE("errors of memory are new ones only") {
  const std::string head =
      "index, ecc.errors.uncorrected.volatile.total, ecc.errors.corrected.aggregate.total, "
      "utilization.gpu\n";
  const DeviceHealth health = read(head + "0, 5, 100, 99\n0, 5, 130, 0\n0, 7, 130, 99\n").health();
  CHECK(health.ecc_uncorrected == 2);
  CHECK(health.ecc_corrected == 30);
  CHECK(read(head + "0, 2147483650, 0, 99\n0, 3, 0, 99\n0, 4, 0, 99\n").health().ecc_uncorrected ==
        1);
  CHECK_FALSE(read(head + "0, 5, 100, 99\n").health().ecc_uncorrected);
  const DeviceHealth rows = read(
                                "index, remapped_rows.pending, gpu_recovery_action\n"
                                "0, No, None\n0, Yes, Reset\n")
                                .health();
  CHECK(rows.remap_pending);
  CHECK(rows.recovery_action == "Reset");
}

TEST_CASE("dcgm-exporter: scrapes, labels, blanks") {
  const std::string labels = R"({gpu="3",UUID="GPU-9",pci_bus_id="00000019:CB:00.0",)"
                             R"(Hostname="a\"b",modelName="NVIDIA L4"})";
  const auto metric = [&](const std::string& name, const std::string& value) {
    return "DCGM_FI_DEV_" + name + labels + " " + value + "\n";
  };
  const Read all =
      read(metric("SM_CLOCK", "1500") + metric("GPU_UTIL", "99") + metric("GPU_TEMP", "60") +
           metric("XID_ERRORS", "0") + metric("SM_CLOCK", "1700") + metric("GPU_UTIL", "99") +
           metric("GPU_TEMP", "9223372036854775792") + metric("XID_ERRORS", "79") +
           metric("SM_CLOCK", "NaN") + "DCGM_FI_DEV_SM_CLOCK{gpu=\"3\n");
  const DeviceReading& device = all.only();
  CHECK(device.index == 3);
  CHECK(device.node == "a\"b");
  CHECK(device.uuid == "GPU-9");
  CHECK(device.pci_bus == "0019:cb:00");
  CHECK(device.facts.name == "NVIDIA L4");
  CHECK(device.sm_clock_mhz == std::vector<double>{1500, 1700});
  CHECK(device.temperature_c == std::vector<double>{60});
  REQUIRE(device.xid.size() == 1);
  CHECK(device.xid.front().code == 79);
  CHECK_FALSE(device.xid.front().before);
  CHECK(all.codes() == "telemetry-line x1");

  const Read sliced = read(
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",UUID=\"G\",GPU_I_ID=\"1\"} 0.99\n"
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",UUID=\"G\",GPU_I_ID=\"2\"} 0.01\n");
  CHECK(sliced.only().mig);
  CHECK(sliced.only().samples == 2);

  const Read counted = read(
      "DCGM_EXP_XID_ERRORS_COUNT{gpu=\"0\",xid=\"79\"} 2\n"
      "DCGM_EXP_XID_ERRORS_COUNT{gpu=\"0\",xid=\"79\"} 2\n"
      "DCGM_EXP_XID_ERRORS_COUNT{gpu=\"0\",xid=\"31\"} 0\n");
  REQUIRE(counted.only().xid.size() == 1);
  CHECK(counted.only().xid.front().code == 79);
}

TEST_CASE("dcgmi dmon: headers again, devices in any order, no first values") {
  const Read all = read(
      "#Entity   GRACT        SMCLK        DRAMA\nID\n"
      "GPU 0     N/A          N/A          N/A\nGPU 2     1.000        1700        0.2\n"
      "#Entity   SMCLK        XIDER\nID\nGPU 0     1500        94\nGPU 0   1500\n"
      "GPU-I 4   100   0\n");
  REQUIRE(all.all.devices.size() == 2);
  CHECK(all.all.devices[0].index == 0);
  CHECK(all.all.devices[0].xid.front().code == 94);
  CHECK(all.all.devices[0].xid.front().before);
  CHECK(all.all.devices[1].sm_clock_mhz == std::vector<double>{1700});
  CHECK(all.codes() == "load-not-known x1 telemetry-line x1");
}

TEST_CASE("a kernel log: every form of an Xid") {
  const Read all = read(
      "[  1.0] NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics\n"
      "[  2.0] NVRM: Xid (0000:01:00): 31, Ch 0000000b, engmask 00000101\n"
      "[  3.0] NVRM: Xid (PCI:0019:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x0)\n"
      "[  4.0] NVRM: Xid (PCI:0000:cb:00): 13, pid=7, again\n"
      "[  5.0] NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus.\n"
      "[  6.0] NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus\n"
      "[  7.0] NVRM: GPU 0000:44:00.0: GPU has fallen off the bus.\n"
      "[  8.0] NVRM: Xid (PCI:0000:44:00): 1");
  REQUIRE(all.all.logs.size() == 1);
  std::string text;
  for (const KernelLog::Event& event : all.all.logs.front().events) {
    text +=
        event.pci_bus + "=" + std::to_string(event.code) + "x" + std::to_string(event.count) + " ";
  }
  CHECK(text ==
        "0000:cb:00=13x2 0000:01:00=31x1 0019:01:00=149x1 0000:44:00=79x1 0000:b3:00=79x1 ");
  CHECK(all.codes() == "telemetry-line x1");

  const Read hosts = read(
      "Nov 30 08:10:54 n1 kernel: NVRM: Xid (PCI:0000:11:00): 48, pid=1\n"
      "Nov 30 08:10:54 n2 kernel: nothing\n");
  REQUIRE(hosts.all.logs.size() == 2);
  CHECK(hosts.all.logs[0].node == "n1");
  CHECK(hosts.all.logs[1].events.empty());
}

TEST_CASE("ranks get the device of their node and index") {
  RunTimings run = run_of(2, 2);
  Read all = read(
      "hostname, index, clocks.sm, utilization.gpu\nn1, 1, 1000, 99\nn0.example.org, 0, 1100, 99\n"
      "n1, 5, 1200, 99\nelsewhere, 0, 1300, 99\n");
  join_telemetry(run, all.all, all.notes);
  CHECK(run.ranks[0].device->sm_clock_mhz == 1100);
  CHECK_FALSE(run.ranks[1].device);
  CHECK_FALSE(run.ranks[2].device);
  CHECK(run.ranks[3].device->sm_clock_mhz == 1000);
  CHECK(all.codes() == "telemetry-not-joined x1 telemetry-unused x1 telemetry-partial x2");
}

TEST_CASE("an Xid of other days than the run is no evidence on it") {
  const auto csv = [](const std::string& day) {
    return "timestamp, index, pci.bus_id, clocks.current.sm [MHz], utilization.gpu [%]\n" + day +
           " 08:00:00.000, 0, 00000000:CB:00.0, 1980 MHz, 100 %\n" + day +
           " 09:00:00.000, 0, 00000000:CB:00.0, 1980 MHz, 100 %\n";
  };
  const auto seen = [](const std::vector<std::string>& texts, Notes& notes) {
    const Read all = read_all(texts);
    RunTimings run = run_of(1, 1);
    join_telemetry(run, all.all, notes);
    REQUIRE(run.ranks[0].device);
    return run.ranks[0].device->xid;
  };
  const std::string old_line =
      "[Tue Jan  7 03:10:54 2025] NVRM: Xid (PCI:0000:cb:00): 94, pid=1, Contained ECC error\n";
  const std::string new_line =
      "2026-07-14T08:30:00.000000+00:00 n0 kernel: NVRM: Xid (PCI:0000:cb:00): 94, pid=1, again\n";
  const std::string late_line = "[Thu Jul 30 03:10:54 2026] NVRM: Xid (PCI:0000:cb:00): 79, gone\n";
  {
    Notes notes;
    const auto xid = seen({csv("2026/07/14"), old_line}, notes);
    REQUIRE(xid.size() == 1);
    CHECK(xid[0].before);
    CHECK(notes.has("xid-other-days"));
  }
  {
    Notes notes;
    const auto xid = seen({csv("2026/07/14"), old_line + old_line + "[Tue Jul 14 08:30:00 2026] " +
                                                  new_line.substr(new_line.find("NVRM"))},
                          notes);
    REQUIRE(xid.size() == 1);
    CHECK_FALSE(xid[0].before);
    CHECK(xid[0].count == 1);
  }
  {
    Notes notes;
    CHECK(seen({csv("2026/07/14"), late_line}, notes).empty());
    CHECK(notes.has("xid-other-days"));
  }
  {
    // Nothing else dates the run: what lies long before the log's end is old.
    Notes notes;
    const auto xid = seen({old_line + "[Tue Jul 14 08:30:00 2026] systemd[1]: started\n"}, notes);
    REQUIRE(xid.size() == 1);
    CHECK(xid[0].before);
  }
  {
    // Files of one device from different weeks are told; those of one job are not.
    Notes notes;
    (void)seen({csv("2026/07/14"), csv("2026/07/02")}, notes);
    CHECK(notes.has("telemetry-apart"));
    Notes none;
    (void)seen({csv("2026/07/14"), csv("2026/07/15")}, none);
    CHECK_FALSE(none.has("telemetry-apart"));
  }
}

TEST_CASE("an Xid finds its rank by the place on the bus") {
  RunTimings run = run_of(1, 2);
  Read all =
      read_all({"index, pci.bus_id, utilization.gpu\n0, 00000000:10:00.0, 99\n"
                "1, 00000000:CB:00.0, 99\n",
                "[ 1.0] NVRM: Xid (PCI:0000:cb:00): 79, gone\n"});
  join_telemetry(run, all.all, all.notes);
  CHECK(run.ranks[0].device->xid_known);
  CHECK(run.ranks[0].device->xid.empty());
  REQUIRE(run.ranks[1].device->xid.size() == 1);
  CHECK(run.ranks[1].device->xid.front().code == 79);
  CHECK_FALSE(run.ranks[1].device->xid.front().on_node);
}

TEST_CASE("files of one node are of the same devices") {
  RunTimings run = run_of(1, 1);
  Read all = read_all({kHead + "0, 1500, 99\n", "# gpu gtemp sm\n0 70 99\n"});
  join_telemetry(run, all.all, all.notes);
  CHECK(run.ranks[0].device->sm_clock_mhz == 1500);
  CHECK(run.ranks[0].device->temperature_c == 70);
  // Two devices that say different names are two.
  RunTimings other = run_of(1, 1);
  Read two = read_all({"index, name, clocks.sm, utilization.gpu\n0, NVIDIA L4, 1500, 99\n",
                       "index, name, clocks.sm, utilization.gpu\n0, NVIDIA T4, 900, 99\n"});
  join_telemetry(other, two.all, two.notes);
  CHECK_FALSE(other.ranks[0].device);
  CHECK(two.notes.has("telemetry-not-joined"));
}

TEST_CASE("every name of a throttle reason") {
  CHECK(throttle_reason_of("HW Thermal Slowdown") == ThrottleReason::hw_thermal);
  CHECK(throttle_reason_of("clocks_throttle_reasons.sw_power_cap") == ThrottleReason::sw_power_cap);
  CHECK(throttle_reason_of("hw_power_brake_slowdown") == ThrottleReason::hw_power_brake);
  CHECK(throttle_reason_of("HwSlowdown") == ThrottleReason::hw_slowdown);
  CHECK(throttle_reason_of("thermal") == ThrottleReason::thermal_violation);
  CHECK(throttle_reason_of("GPU_IDLE") == ThrottleReason::gpu_idle);
  CHECK_FALSE(throttle_reason_of("none"));
  CHECK_FALSE(throttle_reason_of(""));
}

}  // namespace telemetry_files
