// nvidia-smi --query-gpu=... --format=csv, and nvidia-smi dmon: which device, and its clock under
// load.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
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
// Of dmon: "sm" is the utilisation, "pclk" the clock.
constexpr std::array kDmonColumns{
    Column{"gpu", Field::index},
    Column{"pwr", Field::power},
    Column{"sm", Field::utilization},
    Column{"pclk", Field::clock},
};

constexpr double kLoadUtilization = 50.0;
constexpr double kLoadPower = 0.5;  // of the limit
constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kMostIndex = 65535.0;
constexpr std::string_view kQuery =
    "nvidia-smi --query-gpu=name,index,clocks.sm,utilization.gpu --format=csv -l 1";

std::optional<Field> field_in(std::span<const Column> columns, std::string_view heading) {
  for (const Column& column : columns) {
    if (column.name == heading) return column.field;
  }
  return {};
}
std::optional<Field> field_of(std::string_view heading) {
  return field_in(kColumns, heading.substr(0, heading.find(" [")));
}

void split_at_blanks(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  for (;;) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return;
    line.remove_prefix(first);
    const std::size_t end = line.find_first_of(" \t");
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end);
  }
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
  bool unreadable = false;
};

void merge(DeviceFacts& known, const DeviceFacts& now) {
  if (known.name.empty()) known.name = now.name;
  if (!known.pci_device) known.pci_device = now.pci_device;
  if (!known.memory_bytes) known.memory_bytes = now.memory_bytes;
  if (!known.max_mhz) known.max_mhz = now.max_mhz;
  if (!known.power_limit_w) known.power_limit_w = now.power_limit_w;
}

class SmiReader {
 public:
  SmiReader(ByteSource& bytes, std::vector<DeviceReading>& devices, Notes& notes)
      : bytes_(bytes), lines_(bytes), file_(bytes.name()), devices_(devices), notes_(notes) {}

  void read() {
    std::vector<std::string_view> cells;
    std::vector<std::string_view> words;
    while (lines_.next(cells)) {
      // dmon separates by blanks, and begins the two lines of its header with '#'.
      const bool heading = cells.size() == 1 && cells.front().starts_with('#');
      if (heading || (dmon_ && cells.size() == 1)) {
        split_at_blanks(cells.front().substr(heading ? 1 : 0), words);
        if (heading) {
          take_dmon_header(words);
        } else {
          take_row(words);
        }
      } else if (is_header(cells)) {
        take_header(cells);
      } else if (columns_.empty()) {
        throw Error(ErrorKind::format, "not a table of nvidia-smi: it has no known column", place(),
                    std::string(kQuery) + "; without 'noheader'");
      } else {
        take_row(cells);
      }
    }
    if (bytes_.cut_off()) {
      notes_.add("truncated-tail", Severity::loss,
                 "the gzip data is cut off; what came before was read", place());
    }
    if (columns_.empty()) {
      throw Error(ErrorKind::format, "the file is empty", place(), std::string(kQuery));
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
    dmon_ = false;
    columns_.clear();
    for (const std::string_view cell : cells) columns_.push_back(field_of(cell));
  }

  // "gpu pwr ... pclk", then the units, which are the same everywhere.
  void take_dmon_header(const std::vector<std::string_view>& words) {
    if (std::find(words.begin(), words.end(), "gpu") == words.end()) return;
    dmon_ = true;
    columns_.clear();
    for (const std::string_view word : words) columns_.push_back(field_in(kDmonColumns, word));
  }

  // By UUID; without one by index and name, as a file may be of several hosts one after the other.
  DeviceReading& device_of(const std::string& uuid, std::optional<int> index,
                           const std::string& name) {
    for (DeviceReading& device : devices_) {
      if (!uuid.empty() && device.uuid == uuid) return device;
      const bool same_name = device.facts.name == name || device.facts.name.empty() || name.empty();
      if (uuid.empty() && device.uuid.empty() && device.index == index && same_name) return device;
    }
    DeviceReading& added = devices_.emplace_back();
    added.uuid = uuid;
    added.index = index;
    added.facts.name = name;
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
    if (sample.unreadable) {
      notes_.add("telemetry-value", Severity::loss,
                 "values of the telemetry that are no numbers are left out", place());
    }
    if (!sample.power_limit) sample.power_limit = facts.power_limit_w;
    DeviceReading& device = device_of(uuid, index, facts.name);
    merge(device.facts, facts);
    device.mig = device.mig || mig;
    ++device.samples;
    take_clock(device, sample);
  }

  static void take_cell(Field field, std::string_view cell, DeviceFacts& facts, Sample& sample,
                        std::string& uuid, std::optional<int>& index, bool& mig) {
    const auto number = [&] {
      const std::optional<double> value = number_in(cell);
      if (!value) sample.unreadable = true;
      return value;
    };
    switch (field) {
      case Field::name:
        facts.name = cell;
        break;
      case Field::index:
        if (const auto value = number(); value && *value <= kMostIndex) {
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
        if (const auto value = number()) facts.memory_bytes = *value * kMiB;
        break;
      case Field::max_clock:
        if (!facts.max_mhz) facts.max_mhz = number();
        break;
      case Field::clock:
        if (!sample.clock) sample.clock = number();
        break;
      case Field::power_max:
        facts.power_limit_w = number();
        break;
      case Field::power_limit:
        if (!sample.power_limit) sample.power_limit = number();
        break;
      case Field::power:
        if (!sample.power) sample.power = number();
        break;
      case Field::utilization:
        sample.utilization = number();
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

  void take_clock(DeviceReading& device, const Sample& sample) {
    if (!sample.clock || !(*sample.clock > 0.0)) return;
    bool load = true;
    if (sample.utilization) {
      load = *sample.utilization >= kLoadUtilization;
    } else if (sample.power && sample.power_limit && *sample.power_limit > 0.0) {
      load = *sample.power >= kLoadPower * *sample.power_limit;
    } else {
      notes_.add(
          "load-not-known", Severity::assumption,
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

  ByteSource& bytes_;
  CsvLines lines_;
  std::string file_;
  std::vector<DeviceReading>& devices_;
  Notes& notes_;
  std::vector<std::optional<Field>> columns_;
  bool dmon_ = false;
};

// The same UUID in two files is one device that was recorded twice, one time after the other.
void add(std::vector<DeviceReading>& devices, DeviceReading device) {
  for (DeviceReading& known : devices) {
    if (device.uuid.empty() || known.uuid != device.uuid) continue;
    merge(known.facts, device.facts);
    known.mig = known.mig || device.mig;
    known.samples += device.samples;
    known.idle_samples += device.idle_samples;
    known.sm_clock_mhz.insert(known.sm_clock_mhz.end(), device.sm_clock_mhz.begin(),
                              device.sm_clock_mhz.end());
    return;
  }
  devices.push_back(std::move(device));
}

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
        notes.add("mig-enabled", Severity::assumption,
                  "a device of the telemetry is cut into slices (MIG): its peak is the whole "
                  "device's, a job on a slice has a share of it",
                  Place{.file = path});
      }
      add(devices, std::move(device));
    }
  }
  return devices;
}

}  // namespace mfu
