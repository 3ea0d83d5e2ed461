#include "diagnose/devices/health.hpp"

#include <algorithm>
#include <cmath>

#include "statistics/robust.hpp"

namespace mfu {

std::string_view to_string(HealthCheck check) noexcept {
  switch (check) {
    case HealthCheck::clock:
      return "clock";
    case HealthCheck::throttle:
      return "throttle";
    case HealthCheck::temperature:
      return "temperature";
    case HealthCheck::memory_temperature:
      return "memory-temperature";
    case HealthCheck::power:
      return "power";
    case HealthCheck::ecc:
      return "ecc";
    case HealthCheck::xid:
      return "xid";
  }
  return "";
}

std::string_view to_string(Stance stance) noexcept {
  switch (stance) {
    case Stance::supports:
      return "supports";
    case Stance::contradicts:
      return "contradicts";
    case Stance::neutral:
      return "neutral";
    case Stance::not_measured:
      return "not-measured";
  }
  return "";
}

XidKind xid_kind(std::int64_t code) noexcept {
  switch (code) {
    case 13:
    case 31:
    case 43:
    case 45:
      return XidKind::application;
    case 48:
    case 63:
    case 64:
    case 92:
    case 94:
    case 95:
      return XidKind::memory;
    case 79:
      return XidKind::bus;
    case 74:
      return XidKind::nvlink;
    case 119:
    case 120:
    case 143:
    case 154:
      return XidKind::firmware;
    default:
      return code >= 144 && code <= 150 ? XidKind::nvlink : XidKind::other;
  }
}

namespace diagnosis {

namespace {

constexpr double kNearSlowdown = 3.0;  // degrees
constexpr double kLeastMargin = 2.0;   // degrees left to throttling
constexpr double kCappedShare = 0.97;  // of the chip's own power limit
constexpr double kAtCap = 0.8;         // of the limit: see the readers on the flag of the power cap

// Nothing where no sample is there. A mask narrows a series that has one value a step.
std::optional<double> level(const std::vector<double>& series, const std::vector<bool>& on) {
  std::vector<double> known;
  const bool narrowed = !on.empty() && on.size() == series.size();
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!std::isnan(series[i]) && (!narrowed || on[i])) known.push_back(series[i]);
  }
  if (known.empty()) return {};
  return median_inplace(known);
}

void take(std::optional<double>& place, const std::vector<double>& series,
          const std::vector<bool>& on) {
  // Only a series of the run itself can be told by its steps.
  const bool by_step = !on.empty() && on.size() == series.size();
  if (place && !by_step) return;
  if (const auto value = level(series, on)) place = value;
}

}  // namespace

DeviceHealth health_of_rank(const RunTimings& run, std::size_t rank, const std::vector<bool>& on) {
  const RankInfo& info = run.ranks[rank];
  const RankTelemetry& own = info.telemetry;
  DeviceHealth device = info.device.value_or(DeviceHealth{});
  take(device.sm_clock_mhz, own.sm_clock_mhz, on);
  take(device.temperature_c, own.temperature_c, on);
  take(device.memory_temperature_c, own.memory_temperature_c, on);
  take(device.power_w, own.power_w, on);
  if (!device.hottest_c) device.hottest_c = device.temperature_c;
  if (!device.reasons_known && (own.throttle_recorded || !own.throttle_reasons.empty())) {
    device.reasons_known = true;
    std::array<bool, kThrottleReasons> seen{};
    for (const std::string& text : own.throttle_reasons) {
      if (const auto reason = throttle_reason_of(text))
        seen[static_cast<std::size_t>(*reason)] = true;
    }
    for (std::size_t r = 0; r < kThrottleReasons; ++r) {
      if (seen[r]) device.reasons.push_back({static_cast<ThrottleReason>(r), {}, {}});
    }
  }
  if (!device.ecc_uncorrected) device.ecc_uncorrected = own.ecc_uncorrected;
  if (own.xid_recorded || !own.xid.empty()) {
    device.xid_known = true;
    for (const std::int64_t code : own.xid) {
      const bool known = std::any_of(device.xid.begin(), device.xid.end(),
                                     [code](const XidSeen& seen) { return seen.code == code; });
      if (!known) device.xid.push_back({code, 1, false, false});
    }
  }
  return device;
}

bool measures(const DeviceHealth& device, HealthCheck check) noexcept {
  switch (check) {
    case HealthCheck::clock:
      return device.sm_clock_mhz.has_value();
    case HealthCheck::throttle:
      return device.reasons_known;
    case HealthCheck::temperature:
      return device.temperature_c || device.margin_c;
    case HealthCheck::memory_temperature:
      return device.memory_temperature_c.has_value();
    case HealthCheck::power:
      return device.power_w || device.power_limit_w;
    case HealthCheck::ecc:
      return device.ecc_uncorrected || device.remap_pending || device.remap_failed ||
             !device.recovery_action.empty();
    case HealthCheck::xid:
      return device.xid_known;
  }
  return false;
}

std::optional<double> job_clock_mhz(const RunTimings& run) {
  std::vector<double> clocks;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    if (const auto clock = health_of_rank(run, r).sm_clock_mhz) clocks.push_back(*clock);
  }
  if (clocks.empty() || 2 * clocks.size() < run.ranks.size()) return {};
  return median_inplace(clocks);
}

std::optional<double> clock_factor(const RunTimings& run, const Setup& setup) {
  if (!setup.clock_mhz || setup.clock.rule == ClockRule::measured) return {};
  const auto clock = job_clock_mhz(run);
  if (!clock || !(*setup.clock_mhz > 0.0)) return {};
  return *clock / *setup.clock_mhz;
}

const Chip* chip_of(const DeviceHealth& device, const Setup& setup) {
  if (setup.chip != nullptr || device.name.empty()) return setup.chip;
  try {
    return match_chip(device.name).chip;
  } catch (const Error&) {
    return nullptr;  // a device that is not in the table has no limits here
  }
}

std::optional<double> slowdown_of(const DeviceHealth& device, const Setup& setup) {
  if (device.slowdown_c) return device.slowdown_c;
  const Chip* chip = chip_of(device, setup);
  if (chip == nullptr) return {};
  const ThermalLimits limits = thermal_limits(*chip);
  return limits.slowdown_c > 0.0 ? std::optional(limits.slowdown_c) : std::nullopt;
}

std::optional<double> rated_power(const DeviceHealth& device, const Setup& setup) {
  if (device.power_default_w) return device.power_default_w;
  const Chip* chip = chip_of(device, setup);
  if (chip == nullptr || !(chip->power_w > 0.0)) return {};
  return chip->power_w;
}

bool is_hot(const DeviceHealth& device, const Setup& setup) {
  const auto slowdown = slowdown_of(device, setup);
  if (slowdown && device.hottest_c && *device.hottest_c >= *slowdown - kNearSlowdown) return true;
  return device.least_margin_c && *device.least_margin_c <= kLeastMargin;
}

double share_of_reason(const DeviceHealth& device, ThrottleReason reason, const Setup& setup) {
  for (const ThrottleShare& seen : device.reasons) {
    if (seen.reason != reason) continue;
    if (seen.share) return *seen.share;
    if (seen.seconds) return *seen.seconds > 1.0 ? 1.0 : 0.0;
    // A recorder's bare word: a card far under its limit can say "power cap" all the same.
    const auto limit = device.power_limit_w ? device.power_limit_w : rated_power(device, setup);
    const bool idle_flag =
        is_power(reason) && device.power_w && limit && *device.power_w < kAtCap * *limit;
    return idle_flag ? 0.0 : 1.0;
  }
  return 0.0;
}

std::optional<Cause> low_clock_cause(const RunTimings& run, const Setup& setup) {
  std::vector<double> thermal, power, capped, at_rated;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const DeviceHealth device = health_of_rank(run, r);
    double heat = is_hot(device, setup) ? 1.0 : 0.0;
    double cap = 0.0;
    for (const ThrottleShare& seen : device.reasons) {
      const double share = share_of_reason(device, seen.reason, setup);
      if (is_thermal(seen.reason)) heat = std::max(heat, share);
      if (is_power(seen.reason)) cap = std::max(cap, share);
    }
    thermal.push_back(heat);
    const auto rated = rated_power(device, setup);
    const bool lowered =
        device.power_limit_w && rated && *device.power_limit_w < kCappedShare * *rated;
    const auto limit = device.power_limit_w ? device.power_limit_w : rated;
    const bool full = device.power_w && limit && *device.power_w >= kCappedShare * *limit;
    if (!device.reasons_known && full) cap = 1.0;
    power.push_back(cap);
    capped.push_back(lowered ? 1.0 : 0.0);
    at_rated.push_back(cap >= kThrottled && device.power_limit_w && !lowered ? 1.0 : 0.0);
  }
  if (thermal.empty()) return Cause::clocks;
  if (median_inplace(thermal) >= kThrottled) return Cause::thermal;
  if (median_inplace(power) >= kThrottled) {
    if (median_inplace(capped) >= 0.5) return Cause::power;
    if (median_inplace(at_rated) >= 0.5) return {};
    return Cause::power;
  }
  return Cause::clocks;
}

}  // namespace diagnosis
}  // namespace mfu
