// dcgm-exporter's metrics in the text format of Prometheus: one scrape, or several one after the
// other.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "readers/telemetry/format.hpp"

namespace mfu {
namespace {

constexpr auto kUtilization = static_cast<std::size_t>(Gauge::utilization);

// After "DCGM_FI_DEV_" or "DCGM_FI_PROF_". The header of 2026 renamed some and kept the old names.
constexpr std::array kMetrics{
    gauge_column("SM_CLOCK", Gauge::sm_clock),
    gauge_column("MAX_SM_CLOCK", Gauge::max_clock),
    gauge_column("GPU_TEMP", Gauge::temperature),
    gauge_column("GPU_TEMP_CELSIUS", Gauge::temperature),
    gauge_column("GPU_TEMP_LIMIT", Gauge::margin),
    gauge_column("MEMORY_TEMP", Gauge::memory_temperature),
    gauge_column("MEMORY_TEMP_CELSIUS", Gauge::memory_temperature),
    gauge_column("SLOWDOWN_TEMP", Gauge::slowdown),
    gauge_column("POWER_USAGE", Gauge::power),
    gauge_column("POWER_USAGE_INSTANT", Gauge::power),
    gauge_column("ENFORCED_POWER_LIMIT", Gauge::power_limit),
    gauge_column("POWER_MGMT_LIMIT", Gauge::power_limit),
    gauge_column("GPU_UTIL", Gauge::utilization),
    TelemetryColumn{"GPU_UTIL_RATIO", Cell::ratio, kUtilization},
    TelemetryColumn{"GR_ENGINE_ACTIVE", Cell::ratio, kUtilization},
    TelemetryColumn{"CLOCK_THROTTLE_REASONS", Cell::reason_mask},
    TelemetryColumn{"CLOCKS_EVENT_REASONS", Cell::reason_mask},
    TelemetryColumn{"XID_ERRORS", Cell::last_xid},
    TelemetryColumn{"XID_ERROR", Cell::last_xid},
    counter_column("POWER_VIOLATION", DeviceCounter::power_violation, kNanoseconds),
    counter_column("THERMAL_VIOLATION", DeviceCounter::thermal_violation, kNanoseconds),
    counter_column("CLOCKS_EVENT_REASON_SW_POWER_CAP_NS", DeviceCounter::sw_power_cap,
                   kNanoseconds),
    counter_column("CLOCKS_EVENT_REASON_SYNC_BOOST_NS", DeviceCounter::sync_boost, kNanoseconds),
    counter_column("CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS", DeviceCounter::sw_thermal,
                   kNanoseconds),
    counter_column("CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", DeviceCounter::hw_thermal,
                   kNanoseconds),
    counter_column("CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS", DeviceCounter::hw_power_brake,
                   kNanoseconds),
    counter_column("ECC_SBE_VOL_TOTAL", DeviceCounter::ecc_corrected_volatile),
    counter_column("ECC_DBE_VOL_TOTAL", DeviceCounter::ecc_uncorrected_volatile),
    counter_column("ECC_SBE_AGG_TOTAL", DeviceCounter::ecc_corrected_aggregate),
    counter_column("ECC_DBE_AGG_TOTAL", DeviceCounter::ecc_uncorrected_aggregate),
    TelemetryColumn{"ROW_REMAP_PENDING", Cell::pending},
    TelemetryColumn{"ROW_REMAP_FAILURE", Cell::failed},
};
static_assert(kMetrics.size() <= 64);  // a bit each

constexpr std::string_view kXidCount = "DCGM_EXP_XID_ERRORS_COUNT";

std::optional<std::size_t> metric_of(std::string_view name) {
  for (const std::string_view prefix : {"DCGM_FI_DEV_", "DCGM_FI_PROF_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    for (std::size_t i = 0; i < kMetrics.size(); ++i) {
      if (kMetrics[i].name == rest) return i;
    }
  }
  return {};
}

// DCGM writes a value that it does not have as a number near the top of its type: 2^31 - 16 and
// on, 2^47, 2^63 - 16 and on.
bool blank(double value) {
  return (value >= 2147483632.0 && value <= 2147483647.0) ||
         (value >= 140737488355328.0 && value <= 140737488355343.0) || value >= 9.2e18;
}

struct MetricLine {
  std::string_view metric;
  std::vector<std::pair<std::string_view, std::string>> labels;
  std::string_view value;
  std::string_view time;  // milliseconds; empty: none
  [[nodiscard]] std::string label(std::string_view name) const {
    for (const auto& [key, text] : labels) {
      if (key == name) return text;
    }
    return {};
  }
};

// name{label="text",...} value [time]; false: not of this form.
bool parse(std::string_view text, MetricLine& line) {
  line.labels.clear();
  const std::size_t open = text.find_first_of("{ ");
  if (open == std::string_view::npos || open == 0) return false;
  line.metric = text.substr(0, open);
  text.remove_prefix(open);
  if (text.starts_with('{')) {
    text.remove_prefix(1);
    while (!text.starts_with('}')) {
      const std::size_t equal = text.find("=\"");
      if (equal == std::string_view::npos) return false;
      const std::string_view key = stripped(text.substr(0, equal));
      text.remove_prefix(equal + 2);
      std::string value;
      for (;;) {
        if (text.empty()) return false;
        const char c = text.front();
        text.remove_prefix(1);
        if (c == '"') break;
        if (c == '\\' && !text.empty()) {
          value += text.front() == 'n' ? '\n' : text.front();
          text.remove_prefix(1);
        } else {
          value += c;
        }
      }
      line.labels.emplace_back(key, std::move(value));
      text = stripped(text);
      if (text.starts_with(',')) text = stripped(text.substr(1));
    }
    text.remove_prefix(1);
  }
  text = stripped(text);
  if (text.empty()) return false;
  const std::size_t gap = text.find_first_of(" \t");
  line.value = text.substr(0, gap);
  line.time = gap == std::string_view::npos ? std::string_view{} : stripped(text.substr(gap));
  return true;
}

void name_sample(const MetricLine& line, TelemetrySample& sample) {
  sample.node = line.label("Hostname");
  for (const std::string_view other : {"hostname", "node", "nodename"}) {
    if (sample.node.empty()) sample.node = line.label(other);
  }
  sample.uuid = line.label("UUID");
  sample.name = line.label("modelName");
  sample.pci_bus = bus_of(line.label("pci_bus_id"));
  sample.instance = line.label("GPU_I_ID");
  sample.mig = !sample.instance.empty();
  if (const std::string gpu = line.label("gpu"); !gpu.empty()) {
    take_cell({"", Cell::index}, gpu, sample);
  }
}

// Scrapes have no mark between them: a metric that comes again for a device begins the next.
class Scrapes {
 public:
  explicit Scrapes(TelemetryJob& job) : job_(job) {}

  void add(std::size_t metric, const MetricLine& line, const Place& place) {
    TelemetrySample named;
    name_sample(line, named);
    Open& open = open_of(std::move(named), place);
    const std::uint64_t bit = std::uint64_t{1} << metric;
    if ((open.seen & bit) != 0) {
      job_.devices.add(open.sample, open.place);
      TelemetrySample next;
      name_sample(line, next);
      open = Open{std::move(next), 0, place};
    }
    open.seen |= bit;
    if (absent(line.value)) return;
    if (const auto value = number_in(line.value); value && blank(*value)) return;
    take_cell(kMetrics[metric], line.value, open.sample);
    if (const auto milliseconds = number_in(line.time)) open.sample.time_s = *milliseconds / 1000.0;
  }

  // How often an Xid came within a window before the scrape: the same in the scrapes that follow.
  void add_xid(const MetricLine& line, const Place& place) {
    const auto count = number_in(line.value);
    const auto code = number_in(line.label("xid"));
    if (!count || !code || !(*code < 65536.0)) return;
    TelemetrySample sample;
    name_sample(line, sample);
    sample.xid_code = 0;
    if (*count > 0.0) {
      sample.xid_code = static_cast<std::int64_t>(*code);
      const std::string whose = sample.node + "\n" + sample.uuid + "\n" + line.label("gpu");
      if (!xids_.emplace(whose, *sample.xid_code).second) return;
    }
    job_.devices.add(sample, place);
  }

  void finish() {
    for (const Open& open : open_) job_.devices.add(open.sample, open.place);
  }

 private:
  struct Open {
    TelemetrySample sample;
    std::uint64_t seen = 0;
    Place place;
  };

  Open& open_of(TelemetrySample named, const Place& place) {
    for (Open& open : open_) {
      const TelemetrySample& known = open.sample;
      if (known.node == named.node && known.uuid == named.uuid && known.index == named.index &&
          known.instance == named.instance) {
        return open;
      }
    }
    return open_.emplace_back(Open{std::move(named), 0, place});
  }

  TelemetryJob& job_;
  std::vector<Open> open_;  // by device, in the order of their first metric
  std::set<std::pair<std::string, std::int64_t>> xids_;
};

}  // namespace

bool sniff_dcgm_text(std::string_view head) {
  for (const std::string_view mark : {"DCGM_FI_", "DCGM_EXP_"}) {
    for (std::size_t at = head.find(mark); at != std::string_view::npos;
         at = head.find(mark, at + 1)) {
      const std::size_t begin = at == 0 ? 0 : head.rfind('\n', at - 1) + 1;
      const std::string_view before = stripped(head.substr(begin, at - begin));
      if (before.empty() || before == "\xEF\xBB\xBF" || before == "# HELP" || before == "# TYPE") {
        return true;
      }
    }
  }
  return false;
}

void read_dcgm_text(TelemetryJob& job) {
  TextLines lines(job.bytes);
  Scrapes scrapes(job);
  std::string_view text;
  MetricLine line;
  while (lines.next(text)) {
    if (text.starts_with('#') || !text.starts_with("DCGM_")) continue;
    if (!parse(text, line)) {
      note_line(job, lines.place());
    } else if (line.metric == kXidCount) {
      scrapes.add_xid(line, lines.place());
    } else if (const auto metric = metric_of(line.metric)) {
      scrapes.add(*metric, line, lines.place());
    }
  }
  scrapes.finish();
}

}  // namespace mfu
