// What telemetry says besides the findings: odd devices that are not slow, and steps of two kinds.
#include <algorithm>
#include <cmath>

#include "diagnose/devices/health.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/setup.hpp"
#include "statistics/robust.hpp"
#include "timings/device_health.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kCappedTally = 0.97;   // of the others' power limit
constexpr double kLeastSide = 0.15;     // of the steps, in each of the two kinds
constexpr double kLeastGap = 0.1;       // between the kinds, of the shorter
constexpr double kMostSpread = 0.5;     // of the gap, within a kind
constexpr std::size_t kLeastFlips = 4;  // fewer are an onset, or a pause
constexpr std::size_t kLeastSteps = 8;

class Remarks {
 public:
  // The same of several ranks is one remark, with the worst value.
  void add(std::int64_t rank, const HealthFact& fact, bool low_is_worse = false) {
    for (HealthRemark& remark : all_) {
      const HealthFact& known = remark.fact;
      if (known.check != fact.check || known.reason != fact.reason || known.code != fact.code ||
          known.margin != fact.margin || known.before != fact.before ||
          known.on_node != fact.on_node || known.recovery != fact.recovery) {
        continue;
      }
      remark.ranks.push_back(rank);
      const bool worse = known.value && fact.value &&
                         (low_is_worse ? *fact.value < *known.value : *fact.value > *known.value);
      if (worse) remark.fact.value = fact.value;
      remark.fact.count = std::max(remark.fact.count, fact.count);
      return;
    }
    all_.push_back({fact, {rank}});
  }
  [[nodiscard]] std::vector<HealthRemark> take() {
    std::stable_sort(all_.begin(), all_.end(), [](const HealthRemark& a, const HealthRemark& b) {
      return a.fact.check < b.fact.check;
    });
    return std::move(all_);
  }

 private:
  std::vector<HealthRemark> all_;
};

HealthFact odd(HealthCheck check) {
  HealthFact fact;
  fact.check = check;
  fact.stance = Stance::neutral;
  return fact;
}

struct Usual {
  std::optional<double> clock, power_limit, temperature;
};

Usual usual_of(const std::vector<RankHealth>& ranks) {
  const auto median_level = [&](std::optional<double> DeviceHealth::*level) {
    std::vector<double> values;
    for (const RankHealth& rank : ranks) {
      if (const auto value = rank.device.*level) values.push_back(*value);
    }
    return values.size() < 2 ? std::nullopt : std::optional(median_inplace(values));
  };
  return {median_level(&DeviceHealth::sm_clock_mhz), median_level(&DeviceHealth::power_limit_w),
          median_level(&DeviceHealth::temperature_c)};
}

void remark_on(const RankHealth& rank, const Usual& usual, const Setup& setup, Remarks& remarks) {
  const DeviceHealth& device = rank.device;
  if (device.sm_clock_mhz && usual.clock &&
      *device.sm_clock_mhz < (1.0 - kClockTolerance) * *usual.clock) {
    HealthFact fact = odd(HealthCheck::clock);
    fact.value = device.sm_clock_mhz;
    fact.peers = usual.clock;
    remarks.add(rank.rank, fact, true);
  }
  for (const ThrottleShare& seen : device.reasons) {
    const bool told = is_thermal(seen.reason) || seen.reason == ThrottleReason::hw_power_brake;
    const double share = share_of_reason(device, seen.reason, setup);
    if (!told || share < kThrottled) continue;
    HealthFact fact = odd(HealthCheck::throttle);
    fact.reason = seen.reason;
    fact.value = share;
    remarks.add(rank.rank, fact);
  }
  if (is_hot(device, setup)) {
    HealthFact fact = odd(HealthCheck::temperature);
    fact.limit = slowdown_of(device, setup);
    fact.value = device.hottest_c;
    if (!fact.value || !fact.limit) {
      fact.margin = true;
      fact.limit.reset();
      fact.value = device.least_margin_c;
    }
    fact.peers = fact.margin ? std::nullopt : usual.temperature;
    remarks.add(rank.rank, fact, fact.margin);
  }
  const Chip* chip = device.memory_temperature_c ? chip_of(device, setup) : nullptr;
  if (chip != nullptr) {
    const double most = thermal_limits(*chip).memory_most_c;
    if (most > 0.0 && *device.memory_temperature_c >= most) {
      HealthFact fact = odd(HealthCheck::memory_temperature);
      fact.value = device.memory_temperature_c;
      fact.limit = most;
      remarks.add(rank.rank, fact);
    }
  }
  if (device.power_limit_w) {
    const auto rated = rated_power(device, setup);
    const bool under_peers =
        usual.power_limit && *device.power_limit_w < kCappedTally * *usual.power_limit;
    const bool under_rated = rated && *device.power_limit_w < kCappedTally * *rated;
    if (under_peers || under_rated) {
      HealthFact fact = odd(HealthCheck::power);
      fact.limit = device.power_limit_w;
      fact.value = device.power_limit_w;
      fact.rated = under_peers ? usual.power_limit : rated;
      remarks.add(rank.rank, fact, true);
    }
  }
  if (device.ecc_uncorrected.value_or(0) > 0 || device.remap_pending || device.remap_failed ||
      !device.recovery_action.empty()) {
    HealthFact fact = odd(HealthCheck::ecc);
    fact.count = device.ecc_uncorrected.value_or(0);
    fact.recovery = device.recovery_action;
    remarks.add(rank.rank, fact);
  }
  for (const XidSeen& seen : device.xid) {
    HealthFact fact = odd(HealthCheck::xid);
    fact.code = seen.code;
    fact.count = seen.count;
    fact.before = seen.before;
    fact.on_node = seen.on_node;
    remarks.add(rank.rank, fact);
  }
}

// Medians over the ranks and the steps of one kind of a series with a value a step.
std::optional<double> level_in(const Job& job, const std::vector<bool>& slow, bool which,
                               std::vector<double> RankTelemetry::*series) {
  std::vector<double> values;
  const auto& ids = job.run().steps;
  for (const RankInfo& info : job.run().ranks) {
    const std::vector<double>& own = info.telemetry.*series;
    if (own.size() != ids.size()) continue;
    std::size_t at = 0;
    for (std::size_t s = 0; s < job.steps(); ++s) {
      while (at < ids.size() && ids[at] < job.step_id(s)) ++at;
      if (at < ids.size() && slow[s] == which && !std::isnan(own[at])) values.push_back(own[at]);
    }
  }
  if (values.empty()) return {};
  return median_inplace(values);
}

std::optional<TwoModes> two_modes_of(const Job& job) {
  const std::vector<double>& steps = job.step_seconds();
  const std::size_t n = steps.size();
  if (n < kLeastSteps) return {};
  std::vector<double> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  std::size_t cut = 0;
  double gap = 0.0;
  for (std::size_t i = 1; i < n; ++i) {
    if (sorted[i] - sorted[i - 1] <= gap) continue;
    gap = sorted[i] - sorted[i - 1];
    cut = i;
  }
  const auto least = static_cast<std::size_t>(std::ceil(kLeastSide * static_cast<double>(n)));
  if (cut < least || n - cut < least) return {};
  const std::span<const double> fast(sorted.data(), cut);
  const std::span<const double> slow(sorted.data() + cut, n - cut);
  const double spread = std::max(fast.back() - fast.front(), slow.back() - slow.front());
  if (gap < kLeastGap * median(fast) || spread > kMostSpread * gap) return {};
  std::vector<bool> is_slow;
  std::size_t flips = 0;
  for (const double step : steps) {
    is_slow.push_back(step >= slow.front());
    const std::size_t k = is_slow.size();
    flips += k > 1 && is_slow[k - 1] != is_slow[k - 2];
  }
  if (flips < kLeastFlips) return {};
  TwoModes modes;
  modes.fast_s = median(fast);
  modes.slow_s = median(slow);
  modes.slow_steps = static_cast<std::int64_t>(n - cut);
  modes.of = static_cast<std::int64_t>(n);
  modes.fast_clock_mhz = level_in(job, is_slow, false, &RankTelemetry::sm_clock_mhz);
  modes.slow_clock_mhz = level_in(job, is_slow, true, &RankTelemetry::sm_clock_mhz);
  modes.fast_power_w = level_in(job, is_slow, false, &RankTelemetry::power_w);
  modes.slow_power_w = level_in(job, is_slow, true, &RankTelemetry::power_w);
  return modes;
}

}  // namespace

Health survey(const Job& job, const Setup& setup, std::span<const Finding> found) {
  Health health;
  const RunTimings& run = job.run();
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    RankHealth rank{run.ranks[r].rank, health_of_rank(run, r)};
    bool any = false;
    for (std::size_t c = 0; c < kHealthChecks; ++c) {
      if (!measures(rank.device, static_cast<HealthCheck>(c))) continue;
      ++health.measured[c];
      any = true;
    }
    if (any) health.ranks.push_back(std::move(rank));
  }
  health.clock_mhz = job_clock_mhz(run);
  health.two_modes = two_modes_of(job);

  const Usual usual = usual_of(health.ranks);
  Remarks remarks;
  for (const RankHealth& rank : health.ranks) {
    const std::string& node =
        std::find_if(run.ranks.begin(), run.ranks.end(), [&](const auto& info) {
          return info.rank == rank.rank;
        })->node;
    // What is material is reported with its finding.
    const bool told = std::any_of(found.begin(), found.end(), [&](const Finding& finding) {
      const Culprits& named = finding.culprits;
      return finding.material && !finding.health.empty() &&
             (std::find(named.ranks.begin(), named.ranks.end(), rank.rank) != named.ranks.end() ||
              (finding.locality == Locality::node &&
               std::find(named.nodes.begin(), named.nodes.end(), node) != named.nodes.end()) ||
              finding.locality == Locality::all);
    });
    if (!told) remark_on(rank, usual, setup, remarks);
  }
  health.remarks = remarks.take();
  return health;
}

}  // namespace mfu::diagnosis
