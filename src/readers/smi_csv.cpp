// nvidia-smi --query-gpu=... --format=csv: which device, and its clock under load.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/decimal.hpp"
#include "mfu/telemetry.hpp"
#include "readers/csv_lines.hpp"

namespace mfu {
namespace {

enum class Field {
  name,
  index,
  uuid,
  pci,
  memory,
  max_clock,
  clock,
  power_max,
  power_limit,
  power,
  utilization,
  mig,
};

struct Column {
  std::string_view name;  // without the unit in brackets
  Field field;
};
constexpr std::array kColumns{
    Column{"name", Field::name},
    Column{"gpu_name", Field::name},
    Column{"index", Field::index},
    Column{"uuid", Field::uuid},
    Column{"gpu_uuid", Field::uuid},
    Column{"pci.device_id", Field::pci},
    Column{"memory.total", Field::memory},
    Column{"clocks.max.sm", Field::max_clock},
    Column{"clocks.max.graphics", Field::max_clock},
    Column{"clocks.sm", Field::clock},
    Column{"clocks.current.sm", Field::clock},
    Column{"power.max_limit", Field::power_max},
    Column{"power.limit", Field::power_limit},
    Column{"enforced.power.limit", Field::power_limit},
    Column{"power.draw", Field::power},
    Column{"power.draw.instant", Field::power},
    Column{"utilization.gpu", Field::utilization},
    Column{"mig.mode.current", Field::mig},
};

constexpr double kLoadUtilization = 50.0;
constexpr double kLoadPower = 0.5;  // of the limit
constexpr double kMiB = 1024.0 * 1024.0;

std::optional<Field> field_of(std::string_view heading) {
  heading = heading.substr(0, heading.find(" ["));
  for (const Column& column : kColumns) {
    if (column.name == heading) return column.field;
  }
  return {};
}

bool absent(std::string_view cell) {
  return cell.empty() || cell.starts_with('[') || cell == "N/A" || cell == "-" ||
         cell == "Unknown Error" || cell == "Not Supported";
}

// "1980 MHz", "1980", "631.95 W", "100 %"; nothing: not there, or no number.
std::optional<double> number_in(std::string_view cell) {
  if (absent(cell)) return {};
  const Decimal parsed = parse_decimal(cell.substr(0, cell.find(' ')));
  if (parsed.status != DecimalStatus::ok || parsed.value < 0.0) return {};
  return parsed.value;
}

struct Sample {
  std::optional<double> clock, power, power_limit, utilization;
};

class SmiReader {
 public:
  SmiReader(ByteSource& bytes, std::vector<DeviceReading>& devices, Notes& notes)
      : lines_(bytes), file_(bytes.name()), devices_(devices), notes_(notes) {}

  void read() {
    std::vector<std::string_view> cells;
    while (lines_.next(cells)) {
      if (is_header(cells)) {
        take_header(cells);
      } else if (columns_.empty()) {
        throw Error(
            ErrorKind::format, "not a table of nvidia-smi: it has no known column", place(),
            "nvidia-smi --query-gpu=name,index,clocks.sm,utilization.gpu --format=csv -l 1; "
            "without 'noheader'");
      } else {
        take_row(cells);
      }
    }
    if (columns_.empty()) {
      throw Error(ErrorKind::format, "the file is empty", place(),
                  "nvidia-smi --query-gpu=name,index,clocks.sm,utilization.gpu --format=csv -l 1");
    }
  }

 private:
  [[nodiscard]] Place place() const {
    Place where;
    where.file = file_;
    where.line = static_cast<decltype(where.line)>(lines_.line());
    return where;
  }

  static bool is_header(const std::vector<std::string_view>& cells) {
    return std::any_of(cells.begin(), cells.end(),
                       [](std::string_view cell) { return field_of(cell).has_value(); });
  }

  void take_header(const std::vector<std::string_view>& cells) {
    columns_.clear();
    for (const std::string_view cell : cells) columns_.push_back(field_of(cell));
  }

  // By UUID, else by index and name: devices of two names are two.
  DeviceReading& device_of(const std::string& uuid, std::optional<int> index,
                           const std::string& name) {
    for (DeviceReading& device : devices_) {
      if (!uuid.empty() && device.uuid == uuid) return device;
      const bool same_name = name.empty() || device.facts.name.empty() || device.facts.name == name;
      if (uuid.empty() && device.uuid.empty() && device.index == index && same_name) return device;
    }
    DeviceReading& added = devices_.emplace_back();
    added.uuid = uuid;
    added.index = index;
    return added;
  }

  void take_row(const std::vector<std::string_view>& cells) {
    if (cells.size() != columns_.size()) {
      notes_.add("telemetry-line", Severity::loss,
                 "lines of the telemetry with another number of cells than the header are left out",
                 place());
      return;
    }
    Sample sample;
    DeviceFacts facts;
    std::string uuid;
    std::optional<int> index;
    bool mig = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!columns_[i] || absent(cells[i])) continue;
      take_cell(*columns_[i], cells[i], facts, sample, uuid, index, mig);
    }
    DeviceReading& device = device_of(uuid, index, facts.name);
    merge(device.facts, facts);
    device.mig = device.mig || mig;
    ++device.samples;
    take_clock(device, sample);
  }

  static void take_cell(Field field, std::string_view cell, DeviceFacts& facts, Sample& sample,
                        std::string& uuid, std::optional<int>& index, bool& mig) {
    switch (field) {
      case Field::name:
        facts.name = cell;
        break;
      case Field::index:
        if (const auto value = number_in(cell); value && *value < 1e6) {
          index = static_cast<int>(*value);
        }
        break;
      case Field::uuid:
        uuid = cell;
        break;
      case Field::pci:
        facts.pci_device = hexadecimal(cell);
        break;
      case Field::memory:
        if (const auto value = number_in(cell)) facts.memory_bytes = *value * kMiB;
        break;
      case Field::max_clock:
        if (!facts.max_mhz) facts.max_mhz = number_in(cell);
        break;
      case Field::clock:
        if (!sample.clock) sample.clock = number_in(cell);
        break;
      case Field::power_max:
        facts.power_limit_w = number_in(cell);
        break;
      case Field::power_limit:
        if (!sample.power_limit) sample.power_limit = number_in(cell);
        break;
      case Field::power:
        if (!sample.power) sample.power = number_in(cell);
        break;
      case Field::utilization:
        sample.utilization = number_in(cell);
        break;
      case Field::mig:
        mig = cell == "Enabled";
        break;
    }
  }

  // "0x233010DE"
  static std::optional<std::uint32_t> hexadecimal(std::string_view cell) {
    if (!cell.starts_with("0x") && !cell.starts_with("0X")) return {};
    std::uint32_t value = 0;
    const auto [end, code] = std::from_chars(cell.data() + 2, cell.data() + cell.size(), value, 16);
    if (code != std::errc() || end != cell.data() + cell.size()) return {};
    return value;
  }

  static void merge(DeviceFacts& known, const DeviceFacts& now) {
    if (known.name.empty()) known.name = now.name;
    if (!known.pci_device) known.pci_device = now.pci_device;
    if (!known.memory_bytes) known.memory_bytes = now.memory_bytes;
    if (!known.max_mhz) known.max_mhz = now.max_mhz;
    if (!known.power_limit_w) known.power_limit_w = now.power_limit_w;
  }

  void take_clock(DeviceReading& device, const Sample& sample) {
    if (!sample.clock || !(*sample.clock > 0.0)) return;
    bool load = true;
    if (sample.utilization) {
      load = *sample.utilization >= kLoadUtilization;
    } else if (sample.power && sample.power_limit && *sample.power_limit > 0.0) {
      load = *sample.power >= kLoadPower * *sample.power_limit;
    } else {
      notes_.add(
          "load-not-known", Severity::info,
          "the telemetry has no utilisation and no power draw: every clock in it is taken as "
          "one under load",
          place());
    }
    if (load) {
      device.sm_clock_mhz.push_back(*sample.clock);
    } else {
      ++device.idle_samples;
    }
  }

  CsvLines lines_;
  std::string file_;
  std::vector<DeviceReading>& devices_;
  Notes& notes_;
  std::vector<std::optional<Field>> columns_;
};

}  // namespace

std::vector<DeviceReading> read_device_readings(const std::vector<std::string>& paths,
                                                Notes& notes) {
  std::vector<DeviceReading> devices;
  for (const std::string& path : paths) {
    ByteSource bytes = ByteSource::open(path);
    // The index counts the devices of one host: another file is another host, unless a UUID says
    // otherwise.
    std::vector<DeviceReading> here;
    SmiReader(bytes, here, notes).read();
    for (DeviceReading& device : here) {
      if (device.mig) {
        notes.add("mig-enabled", Severity::info,
                  "a device of the telemetry is cut into slices (MIG): its peak is the whole "
                  "device's, a job on a slice has a share of it",
                  Place{.file = path});
      }
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

}  // namespace mfu
