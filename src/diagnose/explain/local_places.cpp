// Rule: one place computes longer than its stage peers.
#include <algorithm>
#include <cmath>
#include <memory>

#include "diagnose/devices/health.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/explain/suspects.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr int kMostRounds = 3;  // a second place can hide behind the first

// Slower hardware stretches forward and backward alike; other work need not.
void add_forward_backward(const Job& job, const Suspects& suspects, Finding& finding) {
  if (job.run().forward.empty() || job.run().backward.empty()) return;
  Sum forward;
  Sum backward;
  std::size_t count = 0;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto f = contrast(job, suspects, job.raw(job.run().forward, s));
    const auto b = contrast(job, suspects, job.raw(job.run().backward, s));
    if (!(f.peers > 0.0) || !(b.peers > 0.0) || std::isnan(f.culprits + b.culprits)) continue;
    forward.add(f.culprits / f.peers);
    backward.add(b.culprits / b.peers);
    ++count;
  }
  if (count == 0) return;
  finding.facts.push_back({FactKind::fwd_bwd_ratio,
                           forward.value() / static_cast<double>(count),
                           backward.value() / static_cast<double>(count),
                           0,
                           0,
                           {}});
}

// Applies a fix on top of the earlier fixes; returns what it saves in each step.
std::vector<double> saved_by(RuleContext& context, const std::function<void(Scenario&)>& fix) {
  const std::vector<double> before = context.model.steps_under(context.local_fixed);
  fix(context.local_fixed);
  return difference(before, context.model.steps_under(context.local_fixed));
}

// Compute of the suspects and of their peers in each step.
std::vector<Contrast> levels_by_step(const RuleContext& context, const Suspects& suspects) {
  std::vector<Contrast> levels;
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    levels.push_back(
        contrast(context.job(), suspects, context.model.compute_row(context.local_fixed, s)));
  }
  return levels;
}

// Their means over the steps in which the suspects take longer.
Contrast mean_level(std::span<const Contrast> levels, const Course& course) {
  Sum own;
  Sum peers;
  for (std::size_t s = 0; s < levels.size(); ++s) {
    if (!course.on[s]) continue;
    own.add(levels[s].culprits);
    peers.add(levels[s].peers);
  }
  const auto on = static_cast<double>(std::max<std::size_t>(1, course.on_count));
  return {own.value() / on, peers.value() / on};
}

Course course_of_excess(const RuleContext& context, std::span<const Contrast> levels) {
  std::vector<double> excess;
  for (const Contrast& level : levels) excess.push_back(level.culprits - level.peers);
  return course_of(excess, context.step_ids);
}

DeviceEvidence devices_of(const RuleContext& context, const Suspects& suspects,
                          const Contrast& levels) {
  return evidence_on(context, suspects.ranks,
                     levels.peers > 0.0 ? levels.culprits / levels.peers : 1.0);
}

// Too many slow ranks for outliers. Whole nodes, or devices that are seen to be bad, are places;
// where the devices were not checked it stays open, and the rules on uneven work are informed.
std::optional<Suspects> take_slow_side(RuleContext& context, const Column& excess) {
  auto side = find_slow_side(context.job(), excess, context.step_ids);
  if (!side) return std::nullopt;
  const Contrast levels = mean_level(levels_by_step(context, side->suspects), side->course);
  const DeviceEvidence devices = devices_of(context, side->suspects, levels);
  const auto place = logical_place(context.job(), side->suspects);
  if (place && place->physical.empty()) return std::move(side->suspects);
  if (side->whole_nodes || devices.cause != Cause::none) return std::move(side->suspects);
  context.uneven = side->suspects.is_culprit;
  context.two_speeds = TwoSpeeds{side->suspects.ranks,
                                 levels.culprits,
                                 levels.peers,
                                 devices.clocks_measured,
                                 {std::move(side->course), levels.culprits - levels.peers}};
  return std::nullopt;
}

Candidate describe_effect(RuleContext& context, const Suspects& suspects, FactKind kind,
                          const Scenario& before, bool of_compute) {
  const Job& job = context.job();
  Candidate candidate;
  candidate.materiality = context.options.materiality;
  Finding& finding = candidate.finding;
  finding.family = Family::straggler;
  finding.locality = suspects.locality;
  finding.culprits = suspects.named;

  std::vector<Contrast> levels;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row =
        of_compute ? context.model.compute_row(before, s) : context.model.own_stall_row(before, s);
    levels.push_back(contrast(job, suspects, row));
  }
  const Course course = course_of_excess(context, levels);
  context.date(finding, course);
  const Contrast on = mean_level(levels, course);
  finding.facts.push_back({kind,
                           on.culprits,
                           on.peers,
                           static_cast<std::int64_t>(course.on_count),
                           static_cast<std::int64_t>(job.steps()),
                           {}});
  if (course.persistence == Persistence::bursts) {
    finding.facts.push_back({FactKind::burst_excess,
                             on.culprits - on.peers,
                             course.period_steps.value_or(0.0),
                             static_cast<std::int64_t>(course.on_count),
                             static_cast<std::int64_t>(job.steps()),
                             {}});
  }
  if (course.onset) {
    finding.facts.push_back(
        {FactKind::onset, course.before, course.after, *finding.onset_step, 0, {}});
  }
  candidate.on = course.on;
  return candidate;
}

}  // namespace

std::vector<double> difference(std::span<const double> from, std::span<const double> what) {
  std::vector<double> rest(from.begin(), from.end());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= what[i];
  return rest;
}

std::vector<double> RuleContext::loss_under(const Scenario& scenario) const {
  return difference(job().step_seconds(), model.steps_under(scenario));
}

void RuleContext::date(Finding& finding, const Course& course) const {
  finding.persistence = course.persistence;
  finding.period_steps = course.period_steps;
  if (course.onset) finding.onset_step = step_ids[*course.onset];
}

void RuleContext::tell_once(Finding& finding, std::size_t step, double seconds,
                            std::optional<std::size_t> rank) const {
  std::string whose;
  if (rank) {
    finding.family = Family::straggler;
    finding.locality = Locality::rank;
    finding.culprits.ranks = {job().run().ranks[*rank].rank};
    whose = place_name(finding.culprits);
  }
  finding.facts.push_back({FactKind::once, seconds, 0, step_ids[step],
                           static_cast<std::int64_t>(job().steps()), whose});
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

void find_local_compute(RuleContext& context) {
  const Job& job = context.job();
  for (int round = 0; round < kMostRounds; ++round) {
    std::optional<Suspects> suspects;
    {
      Column excess(job.steps(), job.ranks());
      for (std::size_t s = 0; s < job.steps(); ++s) {
        excess_over_peers(job, context.model.compute_row(context.local_fixed, s), excess.row(s));
      }
      suspects = find_suspects(job, excess);
      if (suspects) suspects = last_in_turn(job, excess, std::move(*suspects));
      if (!suspects) suspects = take_slow_side(context, excess);
    }
    if (!suspects) return;
    if (auto place = logical_place(job, *suspects)) {
      const std::vector<Contrast> levels = levels_by_step(context, *suspects);
      Course course = course_of_excess(context, levels);
      const Contrast on = mean_level(levels, course);
      // What fills a node or a rank as well is its device where the device is seen to be bad.
      const bool device =
          !place->physical.empty() && devices_of(context, *suspects, on).cause != Cause::none;
      if (!device) {
        place->excess = {std::move(course), on.culprits - on.peers};
        context.uneven = suspects->is_culprit;
        context.heavy_place = std::move(place);  // left for the rules on uneven work
        return;
      }
    }
    Candidate candidate =
        describe_effect(context, *suspects, FactKind::compute_excess, context.local_fixed, true);
    add_forward_backward(job, *suspects, candidate.finding);
    RowEdit fix = to_peers_median(job, suspects->is_culprit);
    // What it adds when the places found before it are put right: a second slow rank hides behind
    // the first, and fixing it alone would save nothing.
    candidate.mend = [fix](Scenario& fixed) { fixed.compute.push_back(fix); };
    candidate.loss = saved_by(context, candidate.mend);
    context.found.push_back(std::move(candidate));
  }
}

void book_own_stall(RuleContext& context, const RowEdit& stall) {
  StepModel& model = context.model;
  Scenario& measured = model.measured();
  const std::vector<double> before = model.steps_under(measured);
  const std::vector<double> unexplained = model.unexplained();
  measured.own_stall.push_back(stall);
  const std::vector<double> after = model.steps_under(measured);
  // Its seconds come from what nothing explained, then from what was taken for transfer.
  for (std::size_t s = 0; s < after.size(); ++s) {
    const double excess = std::max(0.0, after[s] - before[s] - unexplained[s]);
    measured.transfer[s] = std::max(0.0, measured.transfer[s] - excess);
  }
  context.local_fixed.own_stall.push_back(stall);
  context.local_fixed.transfer = measured.transfer;
  model.settle();
}

void find_local_stall(RuleContext& context) {
  const Job& job = context.job();
  const Attribution& attribution = context.model.attribution();
  const bool own = attribution.stall == StallMeaning::own;
  // One stage and waits in the idle time: an own stall and a wait look the same.
  if (!own && job.stages() == 1) return;
  // Shared: scenarios are copied, and each copy of an edit must not hold the table again.
  const auto shared = std::make_shared<Column>(job.steps(), job.ranks());
  Column& excess = *shared;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    excess_over_peers(job, job.stall(s), excess.row(s));
    if (own) continue;
    const double room = std::max(0.0, attribution.own_limit[s] - context.model.measured().link[s]);
    for (double& value : excess.row(s)) value = std::min(value, room);
  }
  const auto suspects = find_suspects(job, excess);
  if (!suspects) return;
  if (!own) {
    // Only what these ranks lack beyond their peers is theirs, as far as the step has room for it.
    const auto local = [culprits = suspects->ranks, shared](std::size_t s, std::span<double> row) {
      for (const std::size_t r : culprits) row[r] = std::max(0.0, shared->at(s, r));
    };
    book_own_stall(context, local);
  }
  Candidate candidate =
      describe_effect(context, *suspects, FactKind::stall_excess, context.local_fixed, false);
  candidate.finding.cause = Cause::none;
  if (attribution.waits_in_stall) {
    // Ranks that wait for the one that stopped are idle with it.
    candidate.alike = {Family::straggler, Family::stall};
    candidate.finding.facts.push_back({FactKind::waits_unsplit, 0, 0, 0, 0, {}});
  }
  RowEdit fix = to_peers_median(job, suspects->is_culprit);
  candidate.mend = [fix](Scenario& fixed) { fixed.own_stall.push_back(fix); };
  candidate.loss = saved_by(context, candidate.mend);
  context.found.push_back(std::move(candidate));
}

}  // namespace mfu::diagnosis
