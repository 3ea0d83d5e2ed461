// Evidence: what telemetry says for or against the devices of a finding being what is slow.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/health.hpp"
#include "base/robust.hpp"

namespace mfu::analysis {

namespace {

constexpr double kHotter = 8.0;           // degrees above the peers
constexpr double kMemoryNear = 3.0;       // degrees under the memory's highest
constexpr double kLowDraw = 0.8;          // of the peers' power
constexpr double kCapped = 0.97;          // of the peers' or the chip's own power limit
constexpr double kExplained = 0.5;        // of the extra time, from which a low clock is the cause
constexpr double kLowAgainstPeak = 0.95;  // clock of all ranks against the one of the peak

using Level = std::optional<double> DeviceHealth::*;

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

  [[nodiscard]] const std::vector<HealthFact>& facts() const { return facts_; }

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

 private:
  HealthFact& add(HealthCheck check) {
    facts_.push_back({});
    facts_.back().check = check;
    return facts_.back();
  }
  [[nodiscard]] bool measured(HealthCheck check) const {
    return std::any_of(own_.begin(), own_.end(),
                       [check](const DeviceHealth& device) { return measures(device, check); });
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
    low_clock_ = *fact.value < tolerance * *against;
    fact.stance = low_clock_ ? Stance::supports : Stance::contradicts;
    if (low_clock_ && fact.peers && slowdown_ && *slowdown_ > 1.0 && *fact.value > 0.0) {
      fact.explains = (*fact.peers / *fact.value - 1.0) / (*slowdown_ - 1.0);
      unexplained_ = *fact.explains < kExplained;
      if (unexplained_) fact.stance = Stance::neutral;
    }
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
      const bool more = !peers || own >= *peers + kThrottled;
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
    const bool near = std::any_of(own_.begin(), own_.end(), [this](const DeviceHealth& device) {
      return is_hot(device, setup_);
    });
    const bool peers_near =
        !peers_.empty() &&
        2 * std::count_if(peers_.begin(), peers_.end(),
                          [this](const DeviceHealth& device) { return is_hot(device, setup_); }) >=
            static_cast<std::ptrdiff_t>(peers_.size());
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
    if (near && (hotter || !fact.peers)) {
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
      fact.stance = can_matter() ? Stance::supports : Stance::neutral;
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
    recovery_ = !fact.recovery.empty();
    ecc_ = most > peers || rows;
    fact.stance = ecc_ || recovery_ ? Stance::supports
                  : most > 0        ? Stance::neutral
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
      const auto theirs = std::count_if(peers_.begin(), peers_.end(), [&](const auto& device) {
        return std::any_of(device.xid.begin(), device.xid.end(), [&](const XidSeen& one) {
          return one.code == seen.code && !one.on_node;
        });
      });
      const XidKind kind = xid_kind(seen.code);
      const bool hardware = kind != XidKind::application && kind != XidKind::other;
      const bool common = 2 * theirs >= static_cast<std::ptrdiff_t>(peers_.size()) && theirs > 0;
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
  bool low_clock_ = false;
  bool unexplained_ = false;  // low, but by too little
  bool heat_ = false;
  bool power_ = false;
  bool hidden_ = false;
  bool ecc_ = false;
  bool recovery_ = false;
  bool xid_ = false;
};

std::vector<std::size_t> culprits_of(const Job& job, const Finding& finding) {
  std::vector<std::size_t> ranks;
  const Culprits& named = finding.culprits;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    const RankInfo& info = job.run().ranks[r];
    const bool by_rank =
        finding.locality == Locality::rank &&
        std::find(named.ranks.begin(), named.ranks.end(), info.rank) != named.ranks.end();
    const bool by_node =
        finding.locality == Locality::node &&
        std::find(named.nodes.begin(), named.nodes.end(), info.node) != named.nodes.end();
    if (by_rank || by_node) ranks.push_back(r);
  }
  return ranks;
}

// Steps of the run in which a passing finding acts; empty: it always does.
std::vector<bool> acting(const Job& job, const Candidate& candidate) {
  const Persistence persistence = candidate.finding.persistence;
  if (persistence != Persistence::bursts && persistence != Persistence::onset) return {};
  std::set<std::int64_t> ids;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    if (s < candidate.on.size() && candidate.on[s]) ids.insert(job.step_id(s));
  }
  std::vector<bool> on;
  for (const std::int64_t id : job.run().steps) on.push_back(ids.contains(id));
  return ids.empty() ? std::vector<bool>{} : on;
}

const Fact* compute_excess(const Finding& finding) {
  for (const Fact& fact : finding.facts) {
    if (fact.kind == FactKind::compute_excess) return &fact;
  }
  return nullptr;
}

}  // namespace

void add_health_evidence(RuleContext& context, const Setup& setup) {
  const Job& job = context.job();
  std::vector<bool> suspect(job.ranks(), false);
  bool any = false;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    const DeviceHealth device = health_of_rank(job.run(), r);
    for (std::size_t c = 0; c < kHealthChecks; ++c) {
      any = any || measures(device, static_cast<HealthCheck>(c));
    }
  }
  if (!any) return;
  for (const Candidate& candidate : context.found) {
    if (candidate.finding.family != Family::straggler) continue;
    for (const std::size_t r : culprits_of(job, candidate.finding)) suspect[r] = true;
  }
  for (Candidate& candidate : context.found) {
    Finding& finding = candidate.finding;
    const bool whole = finding.family == Family::single_gpu_efficiency;
    const Fact* excess = compute_excess(finding);
    if (!whole && (finding.family != Family::straggler || excess == nullptr)) continue;
    const std::vector<bool> on = acting(job, candidate);
    std::vector<DeviceHealth> own;
    std::vector<DeviceHealth> peers;
    const std::vector<std::size_t> culprits = culprits_of(job, finding);
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const bool here = whole || std::find(culprits.begin(), culprits.end(), r) != culprits.end();
      if (here) {
        own.push_back(health_of_rank(job.run(), r, on));
      } else if (!suspect[r]) {
        peers.push_back(health_of_rank(job.run(), r, on));
      }
    }
    std::optional<double> slowdown;
    if (!whole && excess->b > 0.0) slowdown = excess->a / excess->b;
    Evidence evidence(setup, std::move(own), std::move(peers), slowdown);
    evidence.gather();
    finding.health = evidence.facts();
    // The rules on all GPUs set their own cause: it hangs on the course of the clocks.
    if (!whole) finding.cause = evidence.cause();
  }
}

}  // namespace mfu::analysis
