// Rules on what all ranks have in common: stalls and exposed transfer. Each is split into its
// bursts and its level, since a checkpoint and a slow input pipeline have different owners.
#include <algorithm>
#include <memory>
#include <set>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/candidate.hpp"
#include "diagnose/step_terms.hpp"
#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kJobBurstFloor = 0.05;   // of the step
constexpr double kLeastJobShare = 0.005;  // of the step: smaller losses are not worth a finding
// Healthy jobs expose less than this share of the step. Above it a slow link can be among transfer
// whose groups are not known.
constexpr double kUnplacedShare = 0.08;
constexpr std::size_t kLeastPausing = 3;  // ranks whose pauses are those of all

bool worth_a_finding(const RuleContext& context, std::span<const double> loss) {
  return mean(loss) > kLeastJobShare * context.mean_step();
}

// The rank that stalls longest in each of these steps.
std::vector<std::size_t> who_stops(RuleContext& context, const std::vector<bool>& on) {
  std::vector<std::size_t> ranks;
  for (std::size_t s = 0; s < on.size(); ++s) {
    if (!on[s]) continue;
    const auto row = context.model.own_stall_row(context.local_fixed, s);
    ranks.push_back(
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return ranks;
}

// All that stopped in one step: those that took part for half as long as the longest.
std::vector<std::size_t> all_that_stop(RuleContext& context, std::size_t step) {
  std::vector<std::size_t> ranks;
  const auto row = context.model.own_stall_row(context.local_fixed, step);
  const double half = 0.5 * *std::max_element(row.begin(), row.end());
  for (std::size_t r = 0; r < row.size(); ++r) {
    if (row[r] > half) ranks.push_back(r);
  }
  return ranks;
}

std::int64_t steps_with(std::span<const double> series, double least) {
  return std::count_if(series.begin(), series.end(), [&](double v) { return v > least; });
}

// Several groups move data at the same time and the job waits for the last: what the slowest adds
// to the typical one is transfer too, as far as nothing else explains those seconds. Inside the
// microbatches of a pipeline it is not known whose turn it was.
void add_uneven_transfers(RuleContext& context) {
  const Job& job = context.job();
  const Attribution& attribution = context.model.attribution();
  for (const TransferKind& kind : attribution.kinds) {
    if (kind.groups.size() < 2) continue;
    if (kind.kind != "dp" && (job.stages() > 1 || !attribution.kinds_add_up)) continue;
    for (std::size_t s = 0; s < job.steps(); ++s) {
      std::vector<double> values = kind.value[s];
      const double slowest = *std::max_element(values.begin(), values.end());
      const double typical = quantile_inplace(values, 0.25);
      const double extra = std::clamp(slowest - typical - context.model.measured().link[s], 0.0,
                                      context.model.unexplained()[s]);
      context.model.measured().transfer[s] += extra;
      context.local_fixed.transfer[s] += extra;
    }
    context.model.settle();
  }
}

// Several stages, bubbles recorded elsewhere: a rank's stall beyond its own usual is its own, as
// far as the step has room for it.
void book_scattered_stalls(RuleContext& context) {
  const Job& job = context.job();
  const Attribution& attribution = context.model.attribution();
  if (job.stages() < 2 || attribution.bubbles_in_stall || job.run().waits_in == WaitsIn::stall) {
    return;
  }
  const auto bursts = std::make_shared<Column>(job.steps(), job.ranks());
  std::vector<double> series(job.steps());
  bool any = false;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    for (std::size_t s = 0; s < job.steps(); ++s) series[s] = job.stall(s)[r];
    const BurstSplit split = split_bursts(series, 0.02 * context.mean_step());
    any = any || split.on_count > 0;
    for (std::size_t s = 0; s < job.steps(); ++s) bursts->at(s, r) = split.excess[s];
  }
  if (!any) return;
  std::vector<double> room = context.model.unexplained();
  if (attribution.method == SplitMethod::pipeline_model) {
    for (std::size_t s = 0; s < room.size(); ++s) room[s] += context.model.measured().transfer[s];
  }
  book_own_stall(
      context, [bursts, room = std::move(room), common = context.local_fixed.common_stall](
                   std::size_t s, std::span<double> row) {
        for (std::size_t r = 0; r < row.size(); ++r) {
          row[r] = std::max(row[r], std::clamp(bursts->at(s, r) - common[s], 0.0, room[s]));
        }
      });
}

// What a job would save in each step with `seconds` of transfer less: transfer inside the
// microbatches stretches the pipeline's bubble too.
std::vector<double> saved_without(RuleContext& context, std::span<const double> seconds) {
  Scenario without = context.local_fixed;
  for (std::size_t s = 0; s < without.transfer.size(); ++s) {
    if (!(without.transfer[s] > 0.0)) continue;
    const double kept = std::max(0.0, 1.0 - seconds[s] / without.transfer[s]);
    without.transfer[s] *= kept;
    without.inner[s] *= kept;
  }
  return difference(context.model.steps_under(context.local_fixed),
                    context.model.steps_under(without));
}

// The step stays while the slowest rank's compute moves from a to b.
Fact host_bound_fact(const Job& job) {
  std::vector<double> work;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = job.compute(s);
    work.push_back(*std::max_element(row.begin(), row.end()));
  }
  return {FactKind::host_bound, quantile(work, 0.1), quantile(work, 0.9), 0, 0, {}};
}

BurstSplit no_bursts(std::size_t steps) {
  return {std::vector<bool>(steps, false), 0, 0.0, std::vector<double>(steps, 0.0)};
}

// A lasting change for the worse is not a burst, however late it came.
bool began_at_some_step(const RuleContext& context, std::span<const double> series) {
  const double low = quantile(series, 0.1);
  std::vector<double> above(series.begin(), series.end());
  for (double& value : above) value = std::max(0.0, value - low);
  return course_of(above, context.step_ids).persistence == Persistence::onset;
}

// How far the recording shows which groups the transfer belongs to.
enum class Groups {
  told_apart,  // several, each with its own seconds
  one_ring,    // all ranks are in one group: nothing to distinguish
  unknown,     // several groups, but waits and transfer of all in one bucket
};

Groups groups_of(const RuleContext& context) {
  const Job& job = context.job();
  const auto& sizes = job.run().parallelism;
  const bool lockstep = sizes[Axis::tp].value_or(1) > 1 || sizes[Axis::cp].value_or(1) > 1 ||
                        sizes[Axis::ep].value_or(1) > 1;
  if (job.stages() == 1 && !lockstep) return Groups::one_ring;
  // Each rank's own transfer is known where waits are recorded apart, or groups are.
  return context.model.attribution().waits_in_transfer ? Groups::unknown : Groups::told_apart;
}

// Transfer that comes and goes. What the job does is the same in every step, so this is the
// network's doing. Where all ranks are in one ring one bad place in it slows everybody alike.
void describe_transfer_bursts(const RuleContext& context, Groups groups, Candidate& candidate) {
  Finding& finding = candidate.finding;
  candidate.unseen_member = true;  // where a rank is missing, it is of one of the groups
  if (groups == Groups::one_ring) {
    // One place in it, or all of it: the ring shows the same.
    candidate.most_confidence = limits::kOneRing;
    finding.family = Family::straggler;
    finding.locality = Locality::link;
    finding.cause = Cause::link;
    for (const Group& group : context.job().groups_along(Axis::dp)) {
      finding.culprits.groups.push_back(group.name);
    }
    return;
  }
  if (groups == Groups::unknown) {
    candidate.alike = {Family::straggler, Family::communication};
    finding.facts.emplace_back(FactKind::slow_everywhere);
  }
}

}  // namespace

void find_common_stall(RuleContext& context) {
  const Job& job = context.job();
  book_scattered_stalls(context);
  const Scenario& base = context.local_fixed;
  Scenario without = base;
  without.own_stall.push_back(
      [](std::size_t, std::span<double> row) { std::fill(row.begin(), row.end(), 0.0); });
  without.common_stall.assign(job.steps(), 0.0);
  const std::vector<double> worth =
      difference(context.model.steps_under(base), context.model.steps_under(without));
  // What the median rank has is common to all; what only the slowest ranks add is scattered.
  std::vector<double> together;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    together.push_back(base.common_stall[s] + median(context.model.own_stall_row(base, s)));
  }

  const bool began = began_at_some_step(context, worth);
  const BurstSplit split =
      began ? no_bursts(job.steps()) : split_bursts(worth, kJobBurstFloor * context.mean_step());
  const std::vector<double> level = difference(worth, split.excess);

  const auto add = [&](std::vector<double> loss, std::vector<bool> on, bool bursts) {
    if (!worth_a_finding(context, loss)) return;
    Candidate candidate = context.candidate(Family::stall, Locality::all);
    Finding& finding = candidate.finding;
    // Compared where it acts: bursts with bursts, the level with the level.
    Sum all;
    Sum shared;
    for (std::size_t s = 0; s < job.steps(); ++s) {
      if (bursts && !on[s]) continue;
      all.add(worth[s]);
      shared.add(std::min(worth[s], together[s]));
    }
    const bool scattered = shared.value() < 0.5 * all.value();
    if (bursts) {
      std::vector<std::size_t> ranks;
      if (scattered) ranks = who_stops(context, on);
      if (split.on_count == 1) {
        // Where one rank stopped it is that rank's; what all did at once stays the job's.
        const auto step =
            static_cast<std::size_t>(std::find(on.begin(), on.end(), true) - on.begin());
        const std::vector<std::size_t> whose =
            scattered ? all_that_stop(context, step) : std::vector<std::size_t>{};
        context.tell_once(finding, step, split.excess[step], whose, FactKind::stall_excess,
                          context.model.own_stall_row(context.local_fixed, step));
      } else {
        context.follow(candidate, course_of_bursts(split, context.step_ids), split.mean_excess());
      }
      const std::set<std::size_t> distinct(ranks.begin(), ranks.end());
      if (distinct.size() >= kLeastPausing) {
        finding.cause = Cause::gc;
      } else if (!scattered && finding.period_steps) {
        finding.cause = Cause::checkpoint;
      }
    } else if (scattered) {
      finding.persistence = Persistence::moving;
    } else {
      context.follow(candidate, course_of(loss, context.step_ids));
      finding.cause = Cause::input;
      if (context.model.attribution().host_bound) {
        finding.cause = Cause::none;
        finding.facts.push_back(host_bound_fact(job));
      }
    }
    if (scattered && finding.family == Family::stall) {
      finding.facts.emplace_back(FactKind::scattered_stall,
                                 all.value() / static_cast<double>(job.steps()), 0.0,
                                 steps_with(loss, 0.5 * mean(loss)), job.steps());
    } else if (!scattered && !bursts) {
      finding.facts.emplace_back(FactKind::common_stall, quantile(loss, 0.1), quantile(loss, 0.9),
                                 steps_with(loss, 0.5 * mean(loss)), job.steps());
    }
    candidate.loss = std::move(loss);
    candidate.on = std::move(on);
    context.found.push_back(std::move(candidate));
  };
  add(split.excess, split.on, true);
  add(level, std::vector<bool>(job.steps(), true), false);
}

void find_exposed_transfer(RuleContext& context) {
  const Job& job = context.job();
  add_uneven_transfers(context);
  const std::vector<double>& transfer = context.local_fixed.transfer;
  const bool began = began_at_some_step(context, transfer);
  const BurstSplit split =
      began ? no_bursts(job.steps()) : split_bursts(transfer, kJobBurstFloor * context.mean_step());
  std::vector<double> level = difference(transfer, split.excess);
  const double share = mean(transfer) / context.mean_step();
  const Groups groups = groups_of(context);

  if (worth_a_finding(context, split.excess)) {
    Candidate candidate = context.candidate(Family::communication, Locality::all);
    describe_transfer_bursts(context, groups, candidate);
    context.follow(candidate, course_of_bursts(split, context.step_ids), split.mean_excess());
    candidate.loss = saved_without(context, split.excess);
    context.found.push_back(std::move(candidate));
  }
  if (!worth_a_finding(context, level)) return;

  Candidate candidate = context.candidate(Family::communication, Locality::all);
  candidate.materiality = context.options.communication_materiality;
  Finding& finding = candidate.finding;
  candidate.unseen_member = true;
  finding.facts.emplace_back(FactKind::exposed_transfer, mean(transfer), share);
  const double floor_level = quantile(level, 0.1);
  std::vector<double> above = level;
  for (double& value : above) value = std::max(0.0, value - floor_level);
  const Course course = course_of(above, context.step_ids);
  finding.persistence = Persistence::steady;
  // A change for the worse is an event with a date, not the job's own cost: it counts from the
  // general materiality on.
  if (course.persistence == Persistence::onset &&
      course.after - course.before > 0.03 * context.mean_step()) {
    context.follow(candidate, course);
    const double before = floor_level + course.before;
    for (double& value : level) value = std::max(0.0, value - before);
    candidate.materiality = context.options.materiality;
  }
  if (groups != Groups::told_apart) {
    finding.facts.emplace_back(FactKind::slow_everywhere);
  }
  if (groups == Groups::unknown) {
    candidate.alike = {Family::communication, Family::straggler};
    candidate.materiality = std::min(candidate.materiality, kUnplacedShare);
  }
  // Waiting for a rank that nobody sees is in it.
  if (static_cast<std::int64_t>(job.ranks()) < expected_ranks(job.run()) &&
      context.model.attribution().waits_in_transfer) {
    candidate.materiality = std::min(candidate.materiality, kUnplacedShare);
  }
  if (candidate.on.empty()) candidate.on.assign(job.steps(), true);
  candidate.loss = saved_without(context, level);
  context.found.push_back(std::move(candidate));
}

}  // namespace mfu::diagnosis
