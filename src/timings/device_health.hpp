// What a device said about itself while it worked: clocks, heat, power, what held it back, errors.
// Fields are `nvidia-smi --query-gpu`'s and DCGM's; the reasons are the bits of NVML's
// clocks_event_reasons.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mfu {

// Why a clock is not at its maximum. The first nine are NVML's, in the order of their bits; the
// last two are what dmon and DCGM sum up as "violations".
enum class ThrottleReason : unsigned char {
  gpu_idle,
  applications_clocks,
  sw_power_cap,
  hw_slowdown,
  sync_boost,
  sw_thermal,
  hw_thermal,
  hw_power_brake,
  display_clocks,
  power_violation,
  thermal_violation,
};
inline constexpr std::size_t kThrottleReasons = 11;
inline constexpr std::size_t kThrottleBits = 9;
// "hw_thermal_slowdown", as nvidia-smi spells it.
[[nodiscard]] std::string_view to_string(ThrottleReason reason) noexcept;
// What any driver, exporter or recorder calls it: "HW Thermal Slowdown", "SwPowerCap",
// "clocks_throttle_reasons.sw_power_cap"; a bare "thermal" or "power" is a violation. Nothing: not
// known, or no reason ("none").
[[nodiscard]] std::optional<ThrottleReason> throttle_reason_of(std::string_view text) noexcept;
// Heat, or power: other reasons are neither.
[[nodiscard]] bool is_thermal(ThrottleReason reason) noexcept;
[[nodiscard]] bool is_power(ThrottleReason reason) noexcept;

// One reason, as far as it acted while the device was under load.
struct ThrottleShare {
  ThrottleReason reason = ThrottleReason::gpu_idle;
  // Of the samples under load, or of the time between them (counters); nothing: counters without
  // times.
  std::optional<double> share;
  std::optional<double> seconds;  // by the device's own counter
};

struct XidSeen {
  std::int64_t code = 0;
  std::int64_t count = 1;
  // It stood there at the first sample: when it came is not known.
  bool before = false;
  // Of a device of this node; which one, the record does not say.
  bool on_node = false;
};

// Levels are medians over the samples under load. Nothing: not measured.
struct DeviceHealth {
  std::string name;  // as the driver prints it; empty: not known
  std::size_t samples = 0;
  std::size_t idle_samples = 0;  // left out of every level and share
  std::optional<double> sm_clock_mhz;
  std::optional<double> max_clock_mhz;  // that the device can be set to
  std::optional<double> temperature_c;
  std::optional<double> hottest_c;  // 95 % of the samples are at most this hot
  std::optional<double> margin_c;   // degrees left to throttling (T.Limit): no temperature
  std::optional<double> least_margin_c;
  std::optional<double> slowdown_c;  // at which the device says that it slows down
  std::optional<double> memory_temperature_c;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;    // that was enforced
  std::optional<double> power_default_w;  // what the limit would be if nobody had set it
  bool reasons_known = false;
  std::vector<ThrottleShare> reasons;  // those that acted, in the order of the enumeration
  // New during the record: counters are totals since the driver was loaded.
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<std::int64_t> ecc_corrected;
  bool xid_known = false;  // a log or a counter was read, and `xid` is all that it says
  std::vector<XidSeen> xid;
  bool remap_pending = false;  // a row of memory waits for a reset
  bool remap_failed = false;
  std::string recovery_action;  // that the driver asks for; empty: none
};

}  // namespace mfu
