#include "readers/telemetry/device_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/note_code.hpp"
#include "timings/device_health.hpp"

namespace mfu {
namespace {

constexpr double kLoadUtilization = 50.0;  // per cent
constexpr double kLoadPower = 0.5;         // of the limit
// A card that idles far under its limit can report the power cap all the same: the flag counts from
// here on. The draw is an average of a second, so a card at its cap need not show all of it.
constexpr double kCappedPower = 0.8;  // of the limit

std::optional<double> known(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

void merge(DeviceFacts& into, const DeviceFacts& now) {
  if (into.name.empty()) into.name = now.name;
  if (!into.pci_device) into.pci_device = now.pci_device;
  if (!into.memory_bytes) into.memory_bytes = now.memory_bytes;
  if (!into.max_mhz) into.max_mhz = now.max_mhz;
  if (!into.power_limit_w) into.power_limit_w = now.power_limit_w;
}

void keep(std::vector<double>& levels, double value) {
  if (!std::isnan(value)) levels.push_back(value);
}

void count_xid(std::vector<XidSeen>& all, std::int64_t code, bool before) {
  for (XidSeen& seen : all) {
    if (seen.code != code || seen.before != before) continue;
    ++seen.count;
    return;
  }
  all.push_back({code, 1, before, false});
}

// A counter stands still most of the time: of a run of equal samples the first and the last are
// enough.
void keep(std::vector<CounterSample>& series, const CounterSample& now) {
  const std::size_t n = series.size();
  const auto same = [&now](const CounterSample& other) {
    return other.value == now.value && other.load == now.load &&
           std::isnan(other.time_s) == std::isnan(now.time_s);
  };
  if (n >= 2 && same(series[n - 1]) && same(series[n - 2])) {
    series.back() = now;
  } else {
    series.push_back(now);
  }
}

void append(std::vector<double>& into, const std::vector<double>& from) {
  into.insert(into.end(), from.begin(), from.end());
}

}  // namespace

// By UUID; without one by node, index and name, as a file may be of several hosts one after the
// other.
DeviceReading& DeviceTable::device_of(const TelemetrySample& sample) {
  for (DeviceReading& device : devices_) {
    if (device.node != sample.node) continue;
    if (!sample.uuid.empty() && device.uuid == sample.uuid) return device;
    const bool same_name =
        device.facts.name == sample.name || device.facts.name.empty() || sample.name.empty();
    const bool same_bus = device.pci_bus == sample.pci_bus || device.pci_bus.empty() ||
                          sample.pci_bus.empty() || sample.index.has_value();
    if (sample.uuid.empty() && device.uuid.empty() && device.index == sample.index && same_name &&
        same_bus) {
      return device;
    }
  }
  DeviceReading& added = devices_.emplace_back();
  added.uuid = sample.uuid;
  added.index = sample.index;
  added.node = sample.node;
  added.file = file_;
  return added;
}

bool DeviceTable::under_load(const TelemetrySample& sample, const Place& place) {
  if (const auto utilization = known(sample.gauge(Gauge::utilization))) {
    return *utilization >= kLoadUtilization;
  }
  const auto power = known(sample.gauge(Gauge::power));
  auto limit = known(sample.gauge(Gauge::power_limit));
  if (!limit) limit = known(sample.gauge(Gauge::power_max));
  if (power && limit && *limit > 0.0) return *power >= kLoadPower * *limit;
  const bool says_much = sample.gauge(Gauge::sm_clock) > 0.0 ||
                         !std::isnan(sample.gauge(Gauge::temperature)) ||
                         std::any_of(sample.reasons.begin(), sample.reasons.end(),
                                     [](double part) { return part > 0.0; });
  if (says_much) {
    notes_.add(NoteCode::load_not_known,
               "the telemetry has no utilisation and no power draw: every clock in it is assumed "
               "to be under load",
               place);
  }
  return true;
}

void DeviceTable::add(const TelemetrySample& sample, const Place& place) {
  if (sample.unreadable) {
    notes_.add(NoteCode::telemetry_value,
               "values of the telemetry that are not numbers are left out", place);
  }
  DeviceReading& device = device_of(sample);
  DeviceFacts facts;
  facts.name = sample.name;
  facts.pci_device = sample.pci_device;
  facts.memory_bytes = sample.memory_bytes;
  facts.max_mhz = known(sample.gauge(Gauge::max_clock));
  facts.power_limit_w = known(sample.gauge(Gauge::power_max));
  merge(device.facts, facts);
  if (!device.index) device.index = sample.index;
  if (device.pci_bus.empty()) device.pci_bus = sample.pci_bus;
  device.mig = device.mig || sample.mig;
  if (const auto watts = known(sample.gauge(Gauge::power_default))) device.power_default_w = watts;
  if (const auto heat = known(sample.gauge(Gauge::slowdown)); heat && *heat > 0.0) {
    device.slowdown_c = heat;
  }
  device.remap_pending = device.remap_pending || sample.remap_pending;
  device.remap_failed = device.remap_failed || sample.remap_failed;
  if (!sample.recovery_action.empty()) device.recovery_action = sample.recovery_action;
  if (sample.xid_code) {
    device.xid_known = true;
    if (*sample.xid_code > 0) count_xid(device.xid, *sample.xid_code, false);
  }
  if (sample.last_xid) {
    device.xid_known = true;
    const bool first = !device.last_xid;
    if (*sample.last_xid > 0 && (first || *device.last_xid != *sample.last_xid)) {
      count_xid(device.xid, *sample.last_xid, first);
    }
    device.last_xid = sample.last_xid;
  }
  ++device.samples;
  // A time of day alone (dmon without -o D) is not a date.
  if (sample.time_s && *sample.time_s >= kDay) {
    device.first_s = std::min(device.first_s.value_or(*sample.time_s), *sample.time_s);
    device.last_s = std::max(device.last_s.value_or(*sample.time_s), *sample.time_s);
  }

  const bool load = under_load(sample, place);
  for (std::size_t c = 0; c < kDeviceCounters; ++c) {
    if (std::isnan(sample.counters[c])) continue;
    keep(device.counters[c], {sample.time_s.value_or(std::numeric_limits<double>::quiet_NaN()),
                              load, sample.counters[c]});
  }
  const double clock = sample.gauge(Gauge::sm_clock);
  if (!load) {
    if (clock > 0.0) ++device.idle_samples;
    return;
  }
  if (clock > 0.0) device.sm_clock_mhz.push_back(clock);
  if (sample.gauge(Gauge::temperature) > 0.0) {
    device.temperature_c.push_back(sample.gauge(Gauge::temperature));
  }
  if (sample.gauge(Gauge::memory_temperature) > 0.0) {
    device.memory_temperature_c.push_back(sample.gauge(Gauge::memory_temperature));
  }
  keep(device.margin_c, sample.gauge(Gauge::margin));
  const double power = sample.gauge(Gauge::power);
  const double limit = sample.gauge(Gauge::power_limit);
  keep(device.power_w, power);
  if (limit > 0.0) device.power_limit_w.push_back(limit);
  const bool far_from_cap = limit > 0.0 && power < kCappedPower * limit;
  for (std::size_t r = 0; r < kThrottleReasons; ++r) {
    if (std::isnan(sample.reasons[r])) continue;
    ++device.reasons[r].of;
    const bool doubtful = static_cast<ThrottleReason>(r) == ThrottleReason::sw_power_cap;
    if (!(doubtful && far_from_cap)) device.reasons[r].on += sample.reasons[r];
  }
}

void absorb(DeviceReading& into, DeviceReading from) {
  merge(into.facts, from.facts);
  if (!into.index) into.index = from.index;
  if (into.uuid.empty()) into.uuid = std::move(from.uuid);
  if (into.node.empty()) into.node = std::move(from.node);
  if (into.pci_bus.empty()) into.pci_bus = std::move(from.pci_bus);
  into.mig = into.mig || from.mig;
  into.apart = into.apart || from.apart;
  if (into.first_s && from.first_s) {
    into.apart =
        into.apart || *from.first_s > *into.last_s + kDay || *into.first_s > *from.last_s + kDay;
  }
  if (from.first_s) {
    into.first_s = std::min(into.first_s.value_or(*from.first_s), *from.first_s);
    into.last_s = std::max(into.last_s.value_or(*from.last_s), *from.last_s);
  }
  into.samples += from.samples;
  into.idle_samples += from.idle_samples;
  append(into.sm_clock_mhz, from.sm_clock_mhz);
  append(into.temperature_c, from.temperature_c);
  append(into.margin_c, from.margin_c);
  append(into.memory_temperature_c, from.memory_temperature_c);
  append(into.power_w, from.power_w);
  append(into.power_limit_w, from.power_limit_w);
  for (std::size_t r = 0; r < kThrottleReasons; ++r) {
    into.reasons[r].on += from.reasons[r].on;
    into.reasons[r].of += from.reasons[r].of;
  }
  for (std::size_t c = 0; c < kDeviceCounters; ++c) {
    if (from.counters[c].empty()) continue;
    // Without times nothing is known of what lies between two files: a mark keeps them apart.
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    if (!into.counters[c].empty()) into.counters[c].push_back({kNothing, false, kNothing});
    into.counters[c].insert(into.counters[c].end(), from.counters[c].begin(),
                            from.counters[c].end());
  }
  if (!into.power_default_w) into.power_default_w = from.power_default_w;
  if (!into.slowdown_c) into.slowdown_c = from.slowdown_c;
  into.xid_known = into.xid_known || from.xid_known;
  for (const XidSeen& seen : from.xid) {
    // A second file that begins with the Xid at which the first ended says nothing new.
    const bool again = seen.before && into.last_xid && *into.last_xid == seen.code;
    if (!again) into.xid.push_back(seen);
  }
  if (from.last_xid) into.last_xid = from.last_xid;
  into.remap_pending = into.remap_pending || from.remap_pending;
  into.remap_failed = into.remap_failed || from.remap_failed;
  if (!from.recovery_action.empty()) into.recovery_action = std::move(from.recovery_action);
}

}  // namespace mfu
