#include "timings/device_health.hpp"

#include <algorithm>

namespace mfu {
namespace {

constexpr std::array<std::string_view, kThrottleReasons> kNames{"gpu_idle",
                                                                "applications_clocks_setting",
                                                                "sw_power_cap",
                                                                "hw_slowdown",
                                                                "sync_boost",
                                                                "sw_thermal_slowdown",
                                                                "hw_thermal_slowdown",
                                                                "hw_power_brake_slowdown",
                                                                "display_clock_setting",
                                                                "power_violation",
                                                                "thermal_violation"};

// Letters alone decide: the longest spelling first, since "hw_slowdown" and a bare "power" are
// parts of others.
struct Spelling {
  std::string_view letters;
  ThrottleReason reason;
};
constexpr std::array kSpellings{
    Spelling{"hwthermal", ThrottleReason::hw_thermal},
    Spelling{"swthermal", ThrottleReason::sw_thermal},
    Spelling{"powerbrake", ThrottleReason::hw_power_brake},
    Spelling{"swpower", ThrottleReason::sw_power_cap},
    Spelling{"powercap", ThrottleReason::sw_power_cap},
    Spelling{"hwslowdown", ThrottleReason::hw_slowdown},
    Spelling{"syncboost", ThrottleReason::sync_boost},
    Spelling{"applicationsclock", ThrottleReason::applications_clocks},
    Spelling{"applicationclock", ThrottleReason::applications_clocks},
    Spelling{"appclock", ThrottleReason::applications_clocks},
    Spelling{"displayclock", ThrottleReason::display_clocks},
    Spelling{"idle", ThrottleReason::gpu_idle},
    Spelling{"thermal", ThrottleReason::thermal_violation},
    Spelling{"power", ThrottleReason::power_violation},
};

}  // namespace

std::string_view to_string(ThrottleReason reason) noexcept {
  return kNames[static_cast<std::size_t>(reason)];
}

std::optional<ThrottleReason> throttle_reason_of(std::string_view text) noexcept {
  // A reason is a few words; what is longer is not looked at further.
  std::array<char, 96> letters{};
  std::size_t count = 0;
  for (const char c : text) {
    if (count == letters.size()) break;
    if (c >= 'a' && c <= 'z') letters[count++] = c;
    if (c >= 'A' && c <= 'Z') letters[count++] = static_cast<char>(c - 'A' + 'a');
  }
  const std::string_view folded(letters.data(), count);
  for (const Spelling& spelling : kSpellings) {
    if (folded.find(spelling.letters) != std::string_view::npos) return spelling.reason;
  }
  return {};
}

bool is_thermal(ThrottleReason reason) noexcept {
  return reason == ThrottleReason::sw_thermal || reason == ThrottleReason::hw_thermal ||
         reason == ThrottleReason::thermal_violation;
}

bool is_power(ThrottleReason reason) noexcept {
  return reason == ThrottleReason::sw_power_cap || reason == ThrottleReason::hw_power_brake ||
         reason == ThrottleReason::power_violation;
}

}  // namespace mfu
