// What a diagnosis stands on beside its verdict: for the words, and for comparisons.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/setup.hpp"
#include "diagnose/step_terms.hpp"
#include "diagnose/worth/exchanges.hpp"
#include "diagnose/worth/fix_worth.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"

namespace mfu {

struct DiagnosisDetail {
  Setup setup;
  std::vector<StepTerms> terms;   // one for each of steps_used: what factors and parts are sums of
  std::vector<Finding> findings;  // by loss, largest first; the immaterial ones too
  // Nothing where ranks are missing, or no rank has a place or coordinates.
  std::optional<Placement> placement;
  // Nothing where the parts explain more time than the step has.
  std::optional<FixWorth> worth;
  std::optional<EndState> end_state;          // nothing: the run is in one state from start to end
  std::vector<std::int64_t> without_compute;  // ranks (numbers) whose kernels were not recorded
  bool waits_unknown = false;                 // one rank of several
  SplitMethod split = SplitMethod::step_minimum;
  WaitsIn waits_in = WaitsIn::comm;
  std::vector<std::int64_t> steps_used;    // ids
  std::vector<std::int64_t> warmup_steps;  // ids that the warm-up rule left out
  double target_efficiency = 0.45;
  double materiality = 0.05;
  double communication_materiality = 0.15;
  Health health;
  std::vector<Fact> verdict_facts;  // evidence; for inconclusive: why
  std::vector<HealthFact> verdict_health;
};
// Throws Error{usage} for a diagnosis that diagnose() did not make.
[[nodiscard]] const DiagnosisDetail& detail_of(const Diagnosis& diagnosis);

}  // namespace mfu
