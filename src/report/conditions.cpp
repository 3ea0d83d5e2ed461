#include "report/conditions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "diagnose/detail.hpp"
#include "report/diagnose/run_flags.hpp"

namespace mfu {
namespace {

// Of what ranks spend on communication, the part that compute hides.
std::optional<double> hidden_share(const Diagnosis& diagnosis, const RunTimings& run) {
  if (run.overlapped_comm.empty()) return std::nullopt;
  double hidden = 0.0;
  std::size_t count = 0;
  for (std::size_t s = 0; s < run.overlapped_comm.steps(); ++s) {
    for (const double value : run.overlapped_comm.row(s)) {
      if (std::isnan(value)) continue;
      hidden += value;
      ++count;
    }
  }
  double exposed = 0.0;
  for (const Part& part : diagnosis.parts) {
    if (part.id == PartId::exposed_transfer) exposed = std::max(0.0, part.seconds);
  }
  if (count == 0) return std::nullopt;
  hidden /= static_cast<double>(count);
  if (!(hidden + exposed > 0.0)) return std::nullopt;
  return hidden / (hidden + exposed);
}

struct Check {
  std::string_view name;
  HealthCheck check;
};
constexpr std::array<Check, 5> kChecks{{{"temperature", HealthCheck::temperature},
                                        {"SM clock", HealthCheck::clock},
                                        {"power cap", HealthCheck::power},
                                        {"ECC", HealthCheck::ecc},
                                        {"Xid", HealthCheck::xid}}};

// Of any rank: wherever it came from, in the run or beside it.
std::vector<std::string> unmeasured(const Diagnosis& diagnosis) {
  std::vector<std::string> names;
  for (const Check& check : kChecks) {
    const std::int64_t ranks =
        diagnosis.detail->health.measured[static_cast<std::size_t>(check.check)];
    if (ranks == 0 || ranks < diagnosis.detail->setup.recorded_ranks)
      names.emplace_back(check.name);
  }
  return names;
}

bool is_communication_heavy(const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.detail->findings.begin(), diagnosis.detail->findings.end(),
                     [](const Finding& finding) {
                       const bool transfer = finding.family == Family::communication ||
                                             finding.locality == Locality::link ||
                                             finding.locality == Locality::group;
                       return finding.material && transfer;
                     });
}

}  // namespace

Conditions conditions_of(const Diagnosis& diagnosis, const RunTimings& run) {
  Conditions conditions;
  conditions.recompute = run.workload.recompute;
  conditions.interleaved = run.workload.pipeline_schedule == PipelineSchedule::interleaved ||
                           run.workload.virtual_stages > 1;
  conditions.forward_backward = !run.forward.empty() && !run.backward.empty();
  conditions.hidden_share = hidden_share(diagnosis, run);
  conditions.unmeasured = unmeasured(diagnosis);
  conditions.communication_heavy = is_communication_heavy(diagnosis);
  conditions.placement = diagnosis.detail->placement;
  for (const auto& [key, value] : run.job) read_job_word(key, value, conditions);
  const std::string& precision = diagnosis.detail->setup.precision;
  conditions.peak_without_fp8 = conditions.fp8 && !diagnosis.detail->setup.peak_given &&
                                !precision.empty() && precision.find('8') == std::string::npos;
  return conditions;
}

Conditions conditions_for(Conditions conditions, const std::vector<Fact>& facts,
                          const std::vector<HealthFact>& health) {
  conditions.stands_still = std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
    return fact.kind == FactKind::stall_excess;
  });
  conditions.other_chip = std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
    return fact.kind == FactKind::other_chip;
  });
  if (health.empty()) return conditions;
  conditions.unmeasured.clear();
  for (const Check& check : kChecks) {
    const bool measured = std::any_of(health.begin(), health.end(), [&](const HealthFact& fact) {
      return fact.check == check.check && fact.stance != Stance::not_measured;
    });
    if (!measured) conditions.unmeasured.emplace_back(check.name);
  }
  return conditions;
}

}  // namespace mfu
