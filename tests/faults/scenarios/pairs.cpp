#include "faults/scenarios/pairs.hpp"

#include <utility>

#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "faults/scoring/accuracy.hpp"

namespace mfu::faults {
namespace {

// The job at another time. What a step is worth is that of the first: moved work is not less work.
Job again(const JobSpec& spec, double flops_per_step, std::uint64_t salt) {
  JobSpec later = spec;
  later.seed = spec.seed + 7'000'003 * salt;
  later.flops_per_step = flops_per_step;
  if (!later.faults.empty()) later.faults.erase(later.faults.begin());
  return simulate(later);
}

Side side(const Job& job, const char* name) {
  Notes notes;
  Side out = side_of(diagnose(job.run, {}, notes));
  out.name = name;
  return out;
}

}  // namespace

Pair fixed_pair(const Scenario& scenario, std::uint64_t k) {
  const JobSpec spec = scenario.draw(scenario_seed(scenario.name, k));
  Pair pair;
  pair.before = simulate(spec);
  pair.after = again(spec, pair.before.spec.flops_per_step, 1);
  return pair;
}

Pair healthy_pair(const Scenario& scenario, std::uint64_t k) {
  const JobSpec spec = scenario.draw(scenario_seed(scenario.name, k));
  Pair pair;
  pair.before = again(spec, 0.0, 1);
  pair.after = again(spec, pair.before.spec.flops_per_step, 2);
  return pair;
}

std::vector<std::string_view> factors_of_fault(const Job& job) {
  if (job.spec.faults.empty()) return {};
  switch (job.spec.faults.front().kind) {
    case FaultKind::slow_rank:
    case FaultKind::slow_node:
    case FaultKind::heavy_stage:
    case FaultKind::data_shards:
    case FaultKind::sequence_lengths:
    case FaultKind::expert_load:
    case FaultKind::expert_drift:
    case FaultKind::thermal_rank:
    case FaultKind::jitter:
      return {"balance"};
    case FaultKind::microbatch_lengths:
      return {"balance", "dependency"};
    case FaultKind::slow_dp_group:
    case FaultKind::slow_lockstep_group:
    case FaultKind::slow_dp_transfer:
    case FaultKind::slow_lockstep_transfer:
      return {"transfer"};
    case FaultKind::input_stall:
    case FaultKind::input_stall_stage0:
    case FaultKind::rank_stall:
    case FaultKind::checkpoint:
    case FaultKind::gc_pauses:
      return {"own_stall"};
    case FaultKind::thermal:
    case FaultKind::slow_kernels:
      return {"single_gpu"};
  }
  return {};
}

Comparison compared(const Pair& pair, const CompareOptions& options) {
  return compare(side(pair.before, "before"), side(pair.after, "after"), options);
}

}  // namespace mfu::faults
