// Evidence: what telemetry says for or against the devices of a finding being the cause.
#include <algorithm>
#include <set>

#include "diagnose/devices/device_evidence.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "timings/device_health.hpp"

namespace mfu::diagnosis {

namespace {

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
  if (persistence != Persistence::bursts && persistence != Persistence::onset &&
      persistence != Persistence::ended) {
    return {};
  }
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

bool is_measured(const DeviceHealth& device) {
  for (std::size_t c = 0; c < kHealthChecks; ++c) {
    if (measures(device, static_cast<HealthCheck>(c))) return true;
  }
  return false;
}

}  // namespace

DeviceEvidence evidence_on(const RuleContext& context, std::span<const std::size_t> ranks,
                           double slowdown) {
  const RunTimings& run = context.job().run();
  std::vector<DeviceHealth> own;
  std::vector<DeviceHealth> peers;
  std::size_t seen = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const bool here = std::find(ranks.begin(), ranks.end(), r) != ranks.end();
    (here ? own : peers).push_back(health_of_rank(run, r));
    if (here) seen += is_measured(own.back());
  }
  // A few devices of many say nothing about the others.
  if (2 * seen < ranks.size()) return {};
  const WeighedDevices weighed =
      weigh_devices(context.setup, std::move(own), std::move(peers), slowdown);
  return {weighed.cause, weighed.clock_compared};
}

void add_health_evidence(RuleContext& context) {
  const Job& job = context.job();
  std::vector<bool> suspect(job.ranks(), false);
  bool any = false;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    any = any || is_measured(health_of_rank(job.run(), r));
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
    WeighedDevices weighed =
        weigh_devices(context.setup, std::move(own), std::move(peers), slowdown);
    finding.health = std::move(weighed.facts);
    if (!weighed.other_chip.empty()) {
      finding.facts.emplace_back(FactKind::other_chip, 0, 0, 0, 0, weighed.other_chip);
    }
    // The rules on all GPUs set their own cause: it depends on the course of the clocks.
    if (!whole) finding.cause = weighed.cause;
  }
}

}  // namespace mfu::diagnosis
