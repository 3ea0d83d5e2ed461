#include "diagnose/devices/device_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kHotter = 8.0;           // degrees above the peers
constexpr double kMemoryNear = 3.0;       // degrees under the memory's highest
constexpr double kLowDraw = 0.8;          // of the peers' power
constexpr double kCapped = 0.97;          // of the peers' or the chip's own power limit
constexpr double kExplained = 0.5;        // of the extra time, from which a low clock is the cause
constexpr double kLowAgainstPeak = 0.95;  // clock of all ranks against the one of the peak

// Peers in the same state that are not slow: from so many on the state is not the reason.
constexpr std::size_t kAlikeOfFew = 1;
constexpr std::size_t kAlikeOfMany = 2;
constexpr std::size_t kManyPeers = 16;
constexpr double kSameClock = 1.005;  // times the suspects' clock
constexpr double kSameShare = 0.8;    // of the suspects' throttled share

using Level = std::optional<double> DeviceHealth::*;

// What all of them call themselves that were asked; empty: nothing, or not the same.
std::string one_name(const std::vector<DeviceHealth>& devices) {
  std::string name;
  for (const DeviceHealth& device : devices) {
    if (device.name.empty() || device.name == name) continue;
    if (!name.empty()) return {};
    name = device.name;
  }
  return name;
}

std::optional<double> median_of(
    const std::vector<DeviceHealth>& devices,
    const std::function<std::optional<double>(const DeviceHealth&)>& of) {
  std::vector<double> values;
  for (const DeviceHealth& device : devices) {
    if (const auto value = of(device)) values.push_back(*value);
  }
  if (values.empty()) return {};
  return median_inplace(values);
}
std::optional<double> median_of(const std::vector<DeviceHealth>& devices, Level level) {
  return median_of(devices, [level](const DeviceHealth& device) { return device.*level; });
}

// The devices of a finding, and those that they are held against; none: it is about all ranks.
class Evidence {
 public:
  Evidence(const Setup& setup, std::vector<DeviceHealth> own, std::vector<DeviceHealth> peers,
           std::optional<double> slowdown)
      : setup_(setup), own_(std::move(own)), peers_(std::move(peers)), slowdown_(slowdown) {}

  void gather() {
    clock();
    throttle();
    temperature();
    memory_temperature();
    power();
    ecc();
    xid();
  }

  [[nodiscard]] WeighedDevices result() && {
    return {std::move(facts_), cause(), {}, clock_compared_};
  }

 private:
  // What the evidence shows of one place; none: nothing of it.
  [[nodiscard]] Cause cause() const {
    const bool low = low_clock_ && !unexplained_;
    if (low || !clock_known_) {
      if (heat_) return Cause::thermal;
      if (power_) return Cause::power;
    }
    if (low) return Cause::clocks;
    if (xid_) return Cause::xid;
    if (ecc_) return Cause::ecc;
    if (recovery_) return Cause::hardware;
    return hidden_ ? Cause::power : Cause::none;
  }

  HealthFact& add(HealthCheck check) {
    facts_.push_back({});
    facts_.back().check = check;
    return facts_.back();
  }
  [[nodiscard]] bool measured(HealthCheck check) const {
    return std::any_of(own_.begin(), own_.end(),
                       [check](const DeviceHealth& device) { return measures(device, check); });
  }
  // Are peers that are not slow in the same state? Then it is not what makes a place slow. Counted
  // in the fact, for its sentence.
  bool peers_alike(HealthFact& fact, const std::function<bool(const DeviceHealth&)>& same) const {
    const std::ptrdiff_t alike = std::count_if(peers_.begin(), peers_.end(), same);
    const std::size_t enough = peers_.size() < kManyPeers ? kAlikeOfFew : kAlikeOfMany;
    if (static_cast<std::size_t>(alike) < enough) return false;
    fact.alike_peers = alike;
    return true;
  }
  [[nodiscard]] bool most_are_hot() const {
    const std::ptrdiff_t hot =
        std::count_if(own_.begin(), own_.end(),
                      [this](const DeviceHealth& device) { return is_hot(device, setup_); });
    return 2 * hot >= static_cast<std::ptrdiff_t>(own_.size()) && hot > 0;
  }
  // With a low clock, or an unknown one, what can lower it counts.
  [[nodiscard]] bool can_matter() const { return low_clock_ || !clock_known_; }

  void clock() {
    HealthFact& fact = add(HealthCheck::clock);
    if (!measured(HealthCheck::clock)) return;
    clock_known_ = true;
    fact.value = median_of(own_, &DeviceHealth::sm_clock_mhz);
    fact.peers = median_of(peers_, &DeviceHealth::sm_clock_mhz);
    fact.limit = setup_.clock_mhz;
    fact.rated = median_of(own_, &DeviceHealth::max_clock_mhz);
    if (!fact.rated && setup_.chip != nullptr && setup_.chip->max_mhz > 0.0) {
      fact.rated = setup_.chip->max_mhz;
    }
    const auto against = fact.peers ? fact.peers : peers_.empty() ? fact.limit : std::nullopt;
    if (!against) {
      fact.stance = Stance::neutral;
      return;
    }
    const double tolerance = fact.peers ? 1.0 - kClockTolerance : kLowAgainstPeak;
    clock_compared_ = fact.peers.has_value();
    low_clock_ = *fact.value < tolerance * *against;
    fact.stance = low_clock_ ? Stance::supports : Stance::contradicts;
    if (low_clock_ && fact.peers && slowdown_ && *slowdown_ > 1.0 && *fact.value > 0.0) {
      fact.explains = (*fact.peers / *fact.value - 1.0) / (*slowdown_ - 1.0);
      unexplained_ = *fact.explains < kExplained;
    }
    if (low_clock_ && peers_alike(fact, [&](const DeviceHealth& device) {
          return device.sm_clock_mhz && *device.sm_clock_mhz <= kSameClock * *fact.value;
        })) {
      unexplained_ = true;
    }
    if (unexplained_) fact.stance = Stance::neutral;
  }

  void throttle() {
    if (!measured(HealthCheck::throttle)) {
      add(HealthCheck::throttle);
      return;
    }
    const std::size_t before = facts_.size();
    for (std::size_t r = 0; r < kThrottleReasons; ++r) {
      const auto reason = static_cast<ThrottleReason>(r);
      if (reason == ThrottleReason::gpu_idle || reason == ThrottleReason::display_clocks) continue;
      const auto share = [&](const DeviceHealth& device) -> std::optional<double> {
        if (!device.reasons_known) return {};
        return share_of_reason(device, reason, setup_);
      };
      const double own = median_of(own_, share).value_or(0.0);
      const auto peers = median_of(peers_, share);
      if (own < kThrottled) continue;
      // The hardware's slowdown is the effect; where its reason is named too, that says more.
      if (reason == ThrottleReason::hw_slowdown && named_hardware_reason(own)) continue;
      HealthFact& fact = add(HealthCheck::throttle);
      fact.value = own;
      fact.peers = peers;
      fact.reason = reason;
      const bool more = (!peers || own >= *peers + kThrottled) &&
                        !peers_alike(fact, [&](const DeviceHealth& device) {
                          return share(device).value_or(0.0) >= kSameShare * own;
                        });
      fact.stance = more && can_matter() ? Stance::supports : Stance::neutral;
      if (fact.stance != Stance::supports) continue;
      heat_ = heat_ || is_thermal(reason);
      power_ = power_ || is_power(reason);
    }
    if (facts_.size() == before) add(HealthCheck::throttle).stance = Stance::contradicts;
  }

  [[nodiscard]] bool named_hardware_reason(double share) const {
    return std::any_of(own_.begin(), own_.end(), [&](const DeviceHealth& device) {
      return share_of_reason(device, ThrottleReason::hw_thermal, setup_) >= 0.5 * share ||
             share_of_reason(device, ThrottleReason::hw_power_brake, setup_) >= 0.5 * share;
    });
  }

  void temperature() {
    HealthFact& fact = add(HealthCheck::temperature);
    if (!measured(HealthCheck::temperature)) return;
    fact.value = median_of(own_, &DeviceHealth::temperature_c);
    fact.peers = median_of(peers_, &DeviceHealth::temperature_c);
    fact.limit =
        median_of(own_, [this](const auto& device) { return slowdown_of(device, setup_); });
    bool hotter = fact.value && fact.peers && *fact.value > *fact.peers + kHotter;
    if (!fact.value) {
      fact.margin = true;
      fact.value = median_of(own_, &DeviceHealth::margin_c);
      fact.peers = median_of(peers_, &DeviceHealth::margin_c);
      fact.limit.reset();
      hotter = fact.peers && *fact.value < *fact.peers - kHotter;
    }
    const bool near = most_are_hot();
    const bool peers_near = near && peers_alike(fact, [this](const DeviceHealth& device) {
                              return is_hot(device, setup_);
                            });
    if (hotter || (near && !peers_near)) {
      fact.stance = can_matter() ? Stance::supports : Stance::neutral;
      // Hotter than its peers alone, far from any limit, explains a low clock only where it is low.
      heat_ = heat_ || (fact.stance == Stance::supports && (near || low_clock_));
      if (!near && !low_clock_) fact.stance = Stance::neutral;
    } else {
      fact.stance = near ? Stance::neutral : Stance::contradicts;
    }
  }

  void memory_temperature() {
    HealthFact& fact = add(HealthCheck::memory_temperature);
    if (!measured(HealthCheck::memory_temperature)) return;
    fact.value = median_of(own_, &DeviceHealth::memory_temperature_c);
    fact.peers = median_of(peers_, &DeviceHealth::memory_temperature_c);
    if (const Chip* chip = own_.empty() ? nullptr : chip_of(own_.front(), setup_)) {
      const double most = thermal_limits(*chip).memory_most_c;
      if (most > 0.0) fact.limit = most;
    }
    const bool near = fact.limit && *fact.value >= *fact.limit - kMemoryNear;
    const bool hotter = fact.peers && *fact.value > *fact.peers + kHotter;
    const bool common = near && peers_alike(fact, [&](const DeviceHealth& device) {
                          return device.memory_temperature_c &&
                                 *device.memory_temperature_c >= *fact.limit - kMemoryNear;
                        });
    if (near && !common && (hotter || !fact.peers)) {
      fact.stance = Stance::supports;
      heat_ = true;
    } else {
      fact.stance = near || hotter ? Stance::neutral : Stance::contradicts;
    }
  }

  void power() {
    HealthFact& fact = add(HealthCheck::power);
    if (!measured(HealthCheck::power)) return;
    fact.value = median_of(own_, &DeviceHealth::power_w);
    fact.peers = median_of(peers_, &DeviceHealth::power_w);
    fact.limit = median_of(own_, &DeviceHealth::power_limit_w);
    fact.rated =
        median_of(own_, [this](const auto& device) { return rated_power(device, setup_); });
    const auto allowed = median_of(peers_, &DeviceHealth::power_limit_w);
    const auto usual = allowed ? allowed : peers_.empty() ? fact.rated : std::nullopt;
    fact.stance = Stance::contradicts;
    if (fact.limit && usual && *fact.limit < kCapped * *usual) {
      // What the others are allowed says more here than what the chip could have.
      fact.rated = usual;
      const bool common = peers_alike(fact, [&](const DeviceHealth& device) {
        return device.power_limit_w && *device.power_limit_w <= *fact.limit;
      });
      fact.stance = can_matter() && !common ? Stance::supports : Stance::neutral;
      power_ = power_ || fact.stance == Stance::supports;
    } else if (fact.value && fact.peers && *fact.value < kLowDraw * *fact.peers) {
      // A low draw follows from a low clock. At the same clock something holds the device back
      // that its clock does not show: it works longer than its peers, not less.
      const bool hidden = clock_known_ && !low_clock_;
      fact.stance = hidden ? Stance::supports : Stance::neutral;
      hidden_ = hidden_ || hidden;
    }
  }

  void ecc() {
    HealthFact& fact = add(HealthCheck::ecc);
    if (!measured(HealthCheck::ecc)) return;
    std::int64_t most = 0;
    std::int64_t peers = 0;
    bool rows = false;
    for (const DeviceHealth& device : own_) {
      most = std::max(most, device.ecc_uncorrected.value_or(0));
      rows = rows || device.remap_pending || device.remap_failed;
      if (!device.recovery_action.empty()) fact.recovery = device.recovery_action;
    }
    for (const DeviceHealth& device : peers_) {
      peers = std::max(peers, device.ecc_uncorrected.value_or(0));
    }
    fact.count = most;
    fact.value = static_cast<double>(most);
    if (!peers_.empty()) fact.peers = static_cast<double>(peers);
    const bool asked = !fact.recovery.empty();
    recovery_ = asked && !peers_alike(fact, [](const DeviceHealth& device) {
                  return !device.recovery_action.empty();
                });
    const bool bad_rows = rows && !peers_alike(fact, [](const DeviceHealth& device) {
                            return device.remap_pending || device.remap_failed;
                          });
    ecc_ = most > peers || bad_rows;
    fact.stance = ecc_ || recovery_           ? Stance::supports
                  : most > 0 || rows || asked ? Stance::neutral
                                              : Stance::contradicts;
  }

  void xid() {
    if (!measured(HealthCheck::xid)) {
      add(HealthCheck::xid);
      return;
    }
    std::vector<XidSeen> all;
    for (const DeviceHealth& device : own_) {
      for (const XidSeen& seen : device.xid) {
        const auto known = std::find_if(all.begin(), all.end(), [&](const XidSeen& one) {
          return one.code == seen.code && one.before == seen.before;
        });
        if (known == all.end()) {
          all.push_back(seen);
        } else {
          known->count += seen.on_node ? 0 : seen.count;
          known->on_node = known->on_node && seen.on_node;
        }
      }
    }
    if (all.empty()) add(HealthCheck::xid).stance = Stance::contradicts;
    for (const XidSeen& seen : all) {
      HealthFact& fact = add(HealthCheck::xid);
      fact.code = seen.code;
      fact.count = seen.count;
      fact.before = seen.before;
      fact.on_node = seen.on_node;
      const XidKind kind = xid_kind(seen.code);
      const bool hardware = kind != XidKind::application && kind != XidKind::other;
      const bool common = peers_alike(fact, [&](const DeviceHealth& device) {
        return std::any_of(device.xid.begin(), device.xid.end(), [&](const XidSeen& one) {
          return one.code == seen.code && !one.on_node;
        });
      });
      const bool counts = hardware && !seen.before && !seen.on_node && !common && !peers_.empty();
      fact.stance = counts ? Stance::supports : Stance::neutral;
      xid_ = xid_ || counts;
    }
  }

  const Setup& setup_;
  std::vector<DeviceHealth> own_;
  std::vector<DeviceHealth> peers_;
  std::optional<double> slowdown_;  // the suspects' compute over their peers'
  std::vector<HealthFact> facts_;
  bool clock_known_ = false;
  bool clock_compared_ = false;  // with the peers'
  bool low_clock_ = false;
  bool unexplained_ = false;  // low, but by too little, or so are peers that are not slow
  bool heat_ = false;
  bool power_ = false;
  bool hidden_ = false;
  bool ecc_ = false;
  bool recovery_ = false;
  bool xid_ = false;
};

}  // namespace

WeighedDevices weigh_devices(const Setup& setup, std::vector<DeviceHealth> own,
                             std::vector<DeviceHealth> peers, std::optional<double> slowdown) {
  std::string name = one_name(own);
  const std::string others = one_name(peers);
  Evidence evidence(setup, std::move(own), std::move(peers), slowdown);
  evidence.gather();
  WeighedDevices weighed = std::move(evidence).result();
  if (!name.empty() && !others.empty() && name != others) {
    weighed.cause = Cause::hardware;
    weighed.other_chip = std::move(name);
  }
  return weighed;
}

}  // namespace mfu::diagnosis
