// Candidates: losses that the rules look for, each with what it costs in every step. A rule is one
// function in one file (slow_places.cpp, slow_link.cpp, whole_job.cpp, balance.cpp,
// single_gpu.cpp); diagnose.cpp runs them in the order in which their fixes are applied.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/course.hpp"
#include "diagnose/fit/model.hpp"
#include "diagnose/places/place.hpp"
#include "diagnose/setup.hpp"
#include "mfu/diagnose.hpp"

namespace mfu::diagnosis {

struct Candidate {
  Finding finding;
  std::vector<double> loss;  // [step] seconds that its fix alone would save
  // The same for a single place, where the others are left as they are: what hides behind a slower
  // one saves nothing alone. Empty: as `loss`.
  std::vector<double> alone;
  // The same, if the work were spread evenly: where uneven work is one of its readings.
  std::vector<double> balanced;
  std::function<void(Scenario&)> mend;  // that, for places that can hide behind each other
  double materiality = 0.05;            // share of the step from which it counts
  std::vector<bool> on;                 // steps in which it acts, for the strata of the bootstrap
  // Families that these data cannot distinguish, including this one's: a logical place that is
  // exactly one physical place, transfer of unidentified groups. Empty where there is no doubt.
  std::vector<Family> alike;
  double most_confidence = 1.0;  // that a verdict of this can have
  bool unseen_member = false;    // of the slow group: the others may have waited for it
  // Puts it right in a scenario, where that cannot be done by taking `loss` off the step: fixes of
  // the compute itself, which later fixes build upon. See fix_chain.hpp.
  std::function<void(Scenario&)> fix;
};

// A place whose compute is longer because its work is: moving the work is the fix.
struct UnevenPlace {
  RankSet place;
  Course course;
  Contrast on;  // its seconds and its peers', where it is there
};

// from - what, element by element.
[[nodiscard]] std::vector<double> difference(std::span<const double> from,
                                             std::span<const double> what);

struct RuleContext {
  StepModel& model;
  const DiagnoseOptions& options;
  const Setup& setup;
  std::vector<std::int64_t> step_ids;
  // What the local rules have found so far, put right: single places no longer drag the rest.
  Scenario local_fixed;
  std::vector<Candidate> found;
  std::optional<UnevenPlace> uneven;
  double spread_sigma = 0.0;  // log spread of a microbatch, where one was replayed

  [[nodiscard]] const Job& job() const noexcept { return model.job(); }
  [[nodiscard]] double mean_step() const noexcept { return job().mean_step(); }
  // T - T_fixed for each step.
  [[nodiscard]] std::vector<double> loss_under(const Scenario& scenario) const;
  // A candidate from the general materiality on.
  [[nodiscard]] Candidate candidate(Family family, Locality locality) const;
  // When it acts: persistence, period, the id of the step of its onset. Bursts that are no more
  // than their steps say have `burst_s` 0.
  void follow(Candidate& candidate, const Course& course, double burst_s = 0.0) const;
  // A finding that is one event, `seconds` longer than usual in a step (index). Where `ranks`
  // (indices) made it, it is theirs, and `row` (one value a rank) has what they did: seconds of
  // compute, or of their own stalls. Without ranks it stays the job's.
  void tell_once(Finding& finding, std::size_t step, double seconds,
                 std::span<const std::size_t> ranks, FactKind what = FactKind::stall_excess,
                 std::span<const double> row = {}) const;
};

// Books own stalls that were found inside recorded idle time (see StallMeaning::shared): adds them
// to the measured scenario and to local_fixed, and takes their seconds from where they were before.
void book_own_stall(RuleContext& context, const RowEdit& stall);

// What each single place would save alone, where there are several.
void price_alone(RuleContext& context);

// Rules. Each appends to context.found.
void find_slow_compute(RuleContext& context);
void find_slow_stall(RuleContext& context);
void find_slow_link(RuleContext& context);
void find_microbatch_spread(RuleContext& context);
void find_common_stall(RuleContext& context);
void find_imbalance(RuleContext& context);
void find_exposed_transfer(RuleContext& context);
void find_slowdown(RuleContext& context);
void find_low_efficiency(RuleContext& context);

}  // namespace mfu::diagnosis
