#include <string>
#include <vector>

#include "catch.hpp"
#include "readers/telemetry/telemetry.hpp"
#include "unit/base/temp_file.hpp"

using namespace mfu;

namespace {

const std::string kHead = "index, name, clocks.sm [MHz], utilization.gpu [%]\n";

std::vector<DeviceReading> read_smi(const std::vector<std::string>& texts, Notes& notes) {
  const TempDir folder;
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    paths.push_back(folder.write("s" + std::to_string(paths.size()) + ".csv", text));
  }
  return read_device_readings(paths, notes);
}
std::vector<DeviceReading> read_smi(const std::string& text) {
  Notes notes;
  auto devices = read_smi({text}, notes);
  CHECK(notes.all().empty());
  return devices;
}
DeviceReading only(const std::string& text) {
  const auto devices = read_smi(text);
  REQUIRE(devices.size() == 1);
  return devices.front();
}
// "code xcount" of all notes.
std::string notes_of(const std::string& text) {
  Notes notes;
  (void)read_smi({text}, notes);
  std::string all;
  for (const Note& note : notes.all()) {
    all += (all.empty() ? "" : " ") + note.code.str() + " x" + std::to_string(note.count);
  }
  return all;
}
std::string failure(const std::string& text) {
  try {
    Notes notes;
    (void)read_smi({text}, notes);
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "ok";
}

using Clocks = std::vector<double>;

}  // namespace

TEST_CASE("what a device says about itself") {
  const DeviceReading device = only(
      "index, uuid, name, pci.device_id, memory.total [MiB], clocks.max.sm [MHz], power.limit [W], "
      "power.max_limit [W], mig.mode.current, clocks.current.sm [MHz], utilization.gpu [%]\n"
      "3, GPU-9, NVIDIA H100 80GB HBM3, 0x233010DE, 81559 MiB, 1980 MHz, 500.00 W, 700.00 W, "
      "Disabled, 1755 MHz, 99 %\n");
  CHECK(device.index == 3);
  CHECK(device.uuid == "GPU-9");
  CHECK(device.facts.name == "NVIDIA H100 80GB HBM3");
  CHECK(device.facts.pci_device == 0x233010DEu);
  CHECK(device.facts.memory_bytes == 81559.0 * 1024 * 1024);
  CHECK(device.facts.max_mhz == 1980);
  // What the board can be set to, not what it is set to now: a cap is no other chip.
  CHECK(device.facts.power_limit_w == 700);
  CHECK_FALSE(device.mig);
  CHECK(device.sm_clock_mhz == Clocks{1755});
}

TEST_CASE("units may be in the heading, in the cells, in both or in neither") {
  for (const char* text :
       {"name, clocks.sm [MHz], utilization.gpu [%]\nNVIDIA L4, 1700 MHz, 99 %\n",
        "name, clocks.sm [MHz], utilization.gpu [%]\nNVIDIA L4, 1700, 99\n",
        "name, clocks.sm, utilization.gpu\nNVIDIA L4, 1700 MHz, 99 %\n",
        "name,clocks.sm,utilization.gpu\nNVIDIA L4,1700,99\n",
        "name, clocks.sm [MHz], utilization.gpu [%]\r\nNVIDIA L4, 1700 MHz, 99 %\r\n",
        "\xEF\xBB\xBFname, clocks.sm [MHz], utilization.gpu [%]\nNVIDIA L4, 1700 MHz, 99 %",
        "\n\nname, clocks.sm [MHz], utilization.gpu [%]\n\nNVIDIA L4, 1700 MHz, 99 %\n\n"}) {
    const DeviceReading device = only(text);
    CHECK(device.facts.name == "NVIDIA L4");
    CHECK(device.sm_clock_mhz == Clocks{1700});
  }
}

TEST_CASE("columns that are not known are left alone, in any order") {
  const DeviceReading device = only(
      "fan.speed [%], utilization.gpu [%], pstate, clocks.current.sm [MHz], gpu_name\n"
      "[N/A], 100 %, P0, 1410 MHz, NVIDIA A100-SXM4-40GB\n");
  CHECK(device.facts.name == "NVIDIA A100-SXM4-40GB");
  CHECK(device.sm_clock_mhz == Clocks{1410});
  CHECK_FALSE(device.index);
  CHECK_FALSE(device.facts.memory_bytes);
}

TEST_CASE("every spelling of a missing value is missing, and is no loss") {
  for (const char* absent : {"[N/A]", "N/A", "[Not Supported]", "Not Supported", "[Unknown Error]",
                             "Unknown Error", "[Requested functionality has been deprecated]",
                             "[GPU requires reset]", "[Insufficient Permissions]", "", "-"}) {
    const std::string cell = absent;
    const DeviceReading device = only(
        "name, pci.device_id, memory.total [MiB], clocks.max.sm [MHz], power.max_limit [W], "
        "clocks.sm [MHz], utilization.gpu [%]\n" +
        cell + "," + cell + "," + cell + "," + cell + "," + cell + "," + cell + ",99 %\n");
    CHECK(device.facts.name.empty());
    CHECK_FALSE(device.facts.pci_device);
    CHECK_FALSE(device.facts.memory_bytes);
    CHECK_FALSE(device.facts.max_mhz);
    CHECK_FALSE(device.facts.power_limit_w);
    CHECK(device.sm_clock_mhz.empty());
    CHECK(device.samples == 1);
    CHECK(device.idle_samples == 0);
  }
}

TEST_CASE("an idle clock is not measured: from half utilisation on it is load") {
  const DeviceReading device =
      only(kHead +
           "0, NVIDIA L4, 210 MHz, 0 %\n0, NVIDIA L4, 300 MHz, 49 %\n"
           "0, NVIDIA L4, 1700 MHz, 50 %\n0, NVIDIA L4, 1800 MHz, 100 %\n");
  CHECK(device.sm_clock_mhz == Clocks{1700, 1800});
  CHECK(device.samples == 4);
  CHECK(device.idle_samples == 2);
}

TEST_CASE("where utilisation is not given the power draw tells load") {
  for (const char* limit : {"power.limit [W]", "enforced.power.limit [W]", "power.max_limit [W]"}) {
    const DeviceReading device =
        only("name, clocks.sm [MHz], utilization.gpu [%], power.draw [W], " + std::string(limit) +
             "\nNVIDIA L4, 300 MHz, [N/A], 35.9 W, 72.00 W\nNVIDIA L4, 1700 MHz, [N/A], 36.0 W, "
             "72.00 W\n");
    CHECK(device.sm_clock_mhz == Clocks{1700});
    CHECK(device.idle_samples == 1);
  }
  // Utilisation comes first where both are there: power is an average of the last second.
  CHECK(only("name, clocks.sm [MHz], utilization.gpu [%], power.draw [W], power.limit [W]\n"
             "NVIDIA L4, 1700 MHz, 0 %, 70 W, 72 W\n")
            .sm_clock_mhz.empty());
}

TEST_CASE("where nothing tells load every clock counts, and that is said") {
  const std::string text = "name, clocks.sm [MHz]\nNVIDIA L4, 300 MHz\nNVIDIA L4, 1700 MHz\n";
  Notes notes;
  CHECK(read_smi({text}, notes).front().sm_clock_mhz == Clocks{300, 1700});
  CHECK(notes_of(text) == "load-not-known x2");
  // Power without a limit tells nothing, either.
  CHECK(notes_of("name, clocks.sm [MHz], power.draw [W]\nNVIDIA L4, 300 MHz, 70 W\n") ==
        "load-not-known x1");
}

TEST_CASE("devices are told apart when their lines alternate") {
  const auto by_index = read_smi(kHead +
                                 "0, NVIDIA L4, 1700 MHz, 99 %\n1, NVIDIA L4, 1500 MHz, 99 %\n"
                                 "0, NVIDIA L4, 1710 MHz, 99 %\n1, NVIDIA L4, 1510 MHz, 99 %\n");
  REQUIRE(by_index.size() == 2);
  CHECK(by_index[0].sm_clock_mhz == Clocks{1700, 1710});
  CHECK(by_index[1].sm_clock_mhz == Clocks{1500, 1510});
  CHECK(by_index[1].index == 1);

  // Two hosts in one file: the same indices, other UUIDs.
  const auto by_uuid = read_smi(
      "index, uuid, clocks.sm [MHz], utilization.gpu [%]\n0, GPU-a, 1700 MHz, 99 %\n"
      "0, GPU-b, 1500 MHz, 99 %\n0, GPU-a, 1710 MHz, 99 %\n");
  REQUIRE(by_uuid.size() == 2);
  CHECK(by_uuid[0].sm_clock_mhz == Clocks{1700, 1710});

  // Neither: another name is another device, a name that failed once is not.
  const auto by_name = read_smi(
      "name, clocks.sm [MHz], utilization.gpu [%]\nNVIDIA L4, 1700 MHz, 99 %\n"
      "NVIDIA T400, 900 MHz, 99 %\n[Unknown Error], 1600 MHz, 99 %\n");
  REQUIRE(by_name.size() == 2);
  CHECK(by_name[1].facts.name == "NVIDIA T400");
  CHECK(by_name[0].sm_clock_mhz == Clocks{1700, 1600});
}

TEST_CASE("another file is another host, unless the UUID is the same") {
  const std::string plain = kHead + "0, NVIDIA L4, 1700 MHz, 99 %\n";
  Notes notes;
  CHECK(read_smi({plain, plain}, notes).size() == 2);
  const std::string head = "uuid, clocks.sm [MHz], utilization.gpu [%]\n";
  const auto devices = read_smi(
      {head + "GPU-a, 1700 MHz, 99 %\nGPU-b, 1500 MHz, 99 %\n", head + "GPU-a, 1710 MHz, 9 %\n"},
      notes);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].samples == 2);
  CHECK(devices[0].idle_samples == 1);
  CHECK(devices[0].sm_clock_mhz == Clocks{1700});
  CHECK(notes.all().empty());
}

TEST_CASE("a header in the middle begins a table of other columns") {
  const DeviceReading device =
      only(kHead + "0, NVIDIA L4, 1700 MHz, 99 %\n" + kHead +
           "0, NVIDIA L4, 1710 MHz, 99 %\n"
           "utilization.gpu [%], index, clocks.sm [MHz]\n99 %, 0, 1720 MHz\n");
  CHECK(device.sm_clock_mhz == Clocks{1700, 1710, 1720});
}

TEST_CASE("a sliced device is said to be one") {
  const std::string text =
      "name, mig.mode.current, clocks.sm [MHz], utilization.gpu [%], power.draw [W], power.limit "
      "[W]\n"
      "NVIDIA H100 80GB HBM3, Enabled, 1980 MHz, [N/A], 433 W, 700 W\n";
  Notes notes;
  const auto devices = read_smi({text}, notes);
  CHECK(devices.front().mig);
  CHECK(devices.front().sm_clock_mhz == Clocks{1980});
  CHECK(notes_of(text) == "mig-enabled x1");
  // Which slice the job had is not in the file: --strict must not take the whole for it.
  CHECK(notes.all().front().severity == Severity::assumption);
}

TEST_CASE("what cannot be read is left out and counted") {
  CHECK(notes_of(kHead + "0, NVIDIA L4, 1700 MHz\n0, NVIDIA L4, 1700 MHz, 99 %\n0, NVI\n") ==
        "telemetry-line x2");
  const std::string odd = kHead +
                          "0, NVIDIA L4, 17x0 MHz, 99 %\n0, NVIDIA L4, -5 MHz, 99 %\n"
                          "0, NVIDIA L4, 1700 MHz, 99 %\n";
  CHECK(notes_of(odd) == "telemetry-value x2");
  Notes notes;
  CHECK(read_smi({odd}, notes).front().sm_clock_mhz == Clocks{1700});
  REQUIRE(notes.has("telemetry-value"));
  CHECK(notes.all().front().severity == Severity::loss);
  CHECK(notes.all().front().first.line == 2);
  // No index of this world, and no undefined cast.
  CHECK_FALSE(only(kHead + "1e300, NVIDIA L4, 1700 MHz, 99 %\n").index);
}

TEST_CASE("gzip is read, and cut-off gzip is said") {
  std::string text = kHead;
  for (int i = 0; i < 30000; ++i) {
    text += "0, NVIDIA L4, " + std::to_string(1000 + i * 7919 % 1000) + " MHz, 99 %\n";
  }
  const std::string packed = gzipped(text);
  Notes whole;
  CHECK(read_smi({packed}, whole).front().samples == 30000);
  CHECK(whole.all().empty());
  Notes cut;
  const auto devices = read_smi({packed.substr(0, packed.size() / 2)}, cut);
  CHECK(devices.front().samples < 30000);
  CHECK(cut.has("truncated-tail"));
}

TEST_CASE("dmon has its columns in the lines with '#'") {
  const std::string text =
      "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk \n"
      "# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz \n"
      "    0    631     63     57    100     10      0      0      0      0   2619   1980 \n"
      "    1    131     33     37      0      0      0      0      0      0   2619    345 \n"
      "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk \n"
      "# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz \n"
      "    0    634     63     58     99     10      0      0      0      0   2619   1965 \n";
  const auto devices = read_smi(text);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].sm_clock_mhz == Clocks{1980, 1965});
  CHECK(devices[1].sm_clock_mhz.empty());
  CHECK(devices[1].idle_samples == 1);
  CHECK(devices[0].facts.name.empty());
  // Cut into slices: no utilisation, and no limit to hold the power against.
  CHECK(notes_of("# gpu pwr sm pclk\n# Idx W % MHz\n0 438 - 1980\n0 438 -\n") ==
        "load-not-known x1 telemetry-line x1");
  // With -o DT.
  CHECK(only("#Date       Time        gpu    pwr     sm   pclk\n#YYYYMMDD   HH:MM:SS    Idx      W "
             "     %    MHz\n"
             " 20261130   06:47:24      2     72     99   1700\n")
            .index == 2);
}

TEST_CASE("files that are no telemetry are refused with the command that makes it") {
  for (const char* text :
       {"", "\n\n", "a,b\n1,2\n", "0, NVIDIA L4, 1700 MHz, 99 %\n", "{}",
        "Field \"temperature.memory\" is not a valid field to query.\n", "No devices were found\n",
        "# nothing\n", "    0    631     63     57    100\n"}) {
    CHECK_THAT(failure(text), starts_with("format: ") && contains("--format=csv"));
  }
  CHECK_THAT(failure("0, NVIDIA L4, 1700 MHz, 99 %\n"), contains(":1: ") && contains("noheader"));
  CHECK_THAT(failure(kHead + std::string(2 * 1024 * 1024, 'x')),
             contains(":2: a line is too long"));
  Notes notes;
  try {
    (void)read_device_readings({"/nonexistent/smi.csv"}, notes);
    FAIL("read a file that is not there");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
  }
}

TEST_CASE("a header without lines is no device") { CHECK(read_smi(kHead).empty()); }
