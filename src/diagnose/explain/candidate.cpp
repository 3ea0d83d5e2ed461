#include "diagnose/explain/candidate.hpp"

#include <algorithm>

#include "diagnose/places/place.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

std::vector<double> difference(std::span<const double> from, std::span<const double> what) {
  std::vector<double> rest(from.begin(), from.end());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= what[i];
  return rest;
}

std::vector<double> RuleContext::loss_under(const Scenario& scenario) const {
  return difference(job().step_seconds(), model.steps_under(scenario));
}

Candidate RuleContext::candidate(Family family, Locality locality) const {
  Candidate candidate;
  candidate.materiality = options.materiality;
  candidate.finding.family = family;
  candidate.finding.locality = locality;
  return candidate;
}

void RuleContext::follow(Candidate& candidate, const Course& course, double burst_s) const {
  Finding& finding = candidate.finding;
  candidate.on = course.on;
  finding.persistence = course.persistence;
  finding.period_steps = course.period_steps;
  if (course.persistence == Persistence::bursts && burst_s > 0.0) {
    finding.facts.emplace_back(FactKind::burst_excess, burst_s, course.period_steps.value_or(0.0),
                               course.on_count, course.on.size());
  }
  if (!course.onset) return;
  finding.onset_step = step_ids[*course.onset];
  finding.facts.emplace_back(FactKind::onset, course.before, course.after, *finding.onset_step);
}

void RuleContext::tell_once(Finding& finding, std::size_t step, double seconds,
                            std::span<const std::size_t> ranks, FactKind what,
                            std::span<const double> row) const {
  std::string whose;
  if (!ranks.empty()) {
    const RankSet place = place_of(job(), {ranks.begin(), ranks.end()});
    finding.family = Family::straggler;
    finding.locality = place.locality;
    finding.culprits = place.named;
    whose = place_name(finding.culprits);
    const Contrast levels = contrast(job(), place, row);
    finding.facts.emplace_back(what, levels.culprits, levels.peers, 1, job().steps());
  }
  finding.persistence = Persistence::once;
  finding.facts.emplace_back(FactKind::once, seconds, 0, step_ids[step], job().steps(), whose);
}

void price_alone(RuleContext& context) {
  const auto places = std::count_if(context.found.begin(), context.found.end(),
                                    [](const Candidate& one) { return one.mend != nullptr; });
  if (places < 2) return;
  for (Candidate& candidate : context.found) {
    if (!candidate.mend) continue;
    Scenario fixed = context.model.measured();
    candidate.mend(fixed);
    candidate.alone = context.loss_under(fixed);
  }
}

}  // namespace mfu::diagnosis
