// Rule: one transfer group is slower than the groups like it (same kind, same stage).
#include <algorithm>
#include <map>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/candidate.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kSlowGroup = 1.3;        // times the lower quartile of its equals
constexpr double kLeastLinkShare = 0.02;  // of the step

struct SlowGroup {
  const TransferKind* kind = nullptr;
  std::size_t group = 0;
  std::vector<double> typical;  // [step] lower quartile of the groups it is compared with
  double excess = 0.0;          // mean seconds a step
};

std::vector<double> typical_of(const TransferKind& kind, const std::vector<std::size_t>& groups,
                               std::size_t steps) {
  std::vector<double> typical;
  std::vector<double> values;
  for (std::size_t s = 0; s < steps; ++s) {
    values.clear();
    for (const std::size_t g : groups) values.push_back(kind.value[s][g]);
    typical.push_back(lower_quartile_inplace(values));
  }
  return typical;
}

// Groups of the same stage are equals. Where a stage has one group alone, the other stages' stand
// in: they move gradients of the same size but for the embedding's.
std::map<int, std::vector<std::size_t>> sets_of_equals(const TransferKind& kind) {
  std::map<int, std::vector<std::size_t>> by_stage;
  for (std::size_t g = 0; g < kind.groups.size(); ++g) {
    by_stage[kind.groups[g].stage].push_back(g);
  }
  const bool alone = std::all_of(by_stage.begin(), by_stage.end(),
                                 [](const auto& entry) { return entry.second.size() < 2; });
  if (!alone) return by_stage;
  std::vector<std::size_t> all;
  for (const auto& [stage, groups] : by_stage) all.insert(all.end(), groups.begin(), groups.end());
  return {{0, std::move(all)}};
}

std::optional<SlowGroup> slowest_group(const TransferKind& kind, std::size_t steps) {
  std::optional<SlowGroup> worst;
  for (const auto& [stage, groups] : sets_of_equals(kind)) {
    if (groups.size() < 2) continue;
    std::vector<double> typical = typical_of(kind, groups, steps);
    std::vector<double> effect;
    for (const std::size_t g : groups) {
      Sum total;
      for (std::size_t s = 0; s < steps; ++s) total.add(kind.value[s][g] - typical[s]);
      effect.push_back(total.value() / static_cast<double>(steps));
    }
    const auto largest = std::max_element(effect.begin(), effect.end());
    // It must stand out: the next one has under half of its excess, or they are all uneven.
    const auto close =
        std::count_if(effect.begin(), effect.end(), [&](double e) { return e > 0.5 * *largest; });
    if (close > static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, groups.size() / 4))) continue;
    if (!worst || *largest > worst->excess) {
      worst = SlowGroup{&kind, groups[static_cast<std::size_t>(largest - effect.begin())],
                        std::move(typical), *largest};
    }
  }
  return worst;
}

// Ranks that a group of this kind has.
std::size_t members_of(const Job& job, const std::string& kind) {
  for (const Axis axis : kAxes) {
    if (kind == to_string(axis)) {
      return static_cast<std::size_t>(job.run().parallelism[axis].value_or(1));
    }
  }
  return static_cast<std::size_t>(expected_ranks(job.run()));
}

}  // namespace

void find_slow_link(RuleContext& context) {
  const Job& job = context.job();
  std::optional<SlowGroup> worst;
  for (const TransferKind& kind : context.model.attribution().kinds) {
    auto slow = slowest_group(kind, job.steps());
    if (slow && (!worst || slow->excess > worst->excess)) worst = std::move(slow);
  }
  if (!worst || worst->excess < kLeastLinkShare * context.mean_step()) return;

  Scenario& measured = context.model.measured();
  const bool shared = context.model.attribution().stall == StallMeaning::shared;
  std::vector<double> effect;
  std::vector<double> value;
  std::vector<double> usual;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    value.push_back(worst->kind->value[s][worst->group]);
    usual.push_back(worst->typical[s]);
    // A group with an unrecorded member may just have waited for it, and part of a slow
    // transfer can hide in the drain of a pipeline: what the step has no room for cost nothing.
    const double room = context.model.unexplained()[s] + (shared ? measured.common_stall[s] : 0.0);
    effect.push_back(std::clamp(value.back() - usual.back(), 0.0, room));
  }
  if (mean(effect) < kLeastLinkShare * context.mean_step()) return;
  const Course course = course_of(effect, context.step_ids);
  Sum on_value;
  Sum on_usual;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    if (!course.on[s]) continue;
    on_value.add(value[s]);
    on_usual.add(usual[s]);
  }
  if (on_value.value() < kSlowGroup * on_usual.value()) return;

  Candidate candidate;
  candidate.materiality = context.options.materiality;
  Finding& finding = candidate.finding;
  finding.family = Family::straggler;
  finding.locality = Locality::link;
  finding.cause = Cause::link;
  context.date(finding, course);
  const Group& group = worst->kind->groups[worst->group];
  candidate.unseen_member = group.ranks.size() < members_of(job, worst->kind->kind);
  finding.culprits.groups.push_back(group.name);
  const auto on = static_cast<double>(std::max<std::size_t>(1, course.on_count));
  finding.facts.push_back({FactKind::link_excess, on_value.value() / on, on_usual.value() / on,
                           static_cast<std::int64_t>(course.on_count),
                           static_cast<std::int64_t>(job.steps()), group.name});
  // A group inside one node is that node's own fabric.
  const int node = job.node_of(group.ranks.front());
  const bool one_node =
      node >= 0 && std::all_of(group.ranks.begin(), group.ranks.end(),
                               [&](std::size_t r) { return job.node_of(r) == node; });
  if (one_node) {
    finding.culprits.nodes.push_back(job.nodes()[static_cast<std::size_t>(node)].name);
  }
  if (course.onset) {
    finding.facts.push_back(
        {FactKind::onset, course.before, course.after, *finding.onset_step, 0, {}});
  }

  // Peers of a slow group are idle meanwhile: where that is recorded alike, it was taken for a
  // common stall until here.
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const double room = context.model.unexplained()[s];
    const double from_stall =
        shared ? std::clamp(effect[s] - room, 0.0, measured.common_stall[s]) : 0.0;
    measured.common_stall[s] -= from_stall;
  }
  measured.link = effect;
  context.local_fixed.common_stall = measured.common_stall;
  context.local_fixed.link.assign(job.steps(), 0.0);
  context.model.settle();
  Scenario alone = context.model.measured();
  alone.link.assign(job.steps(), 0.0);
  candidate.loss = context.loss_under(alone);
  candidate.on = course.on;
  context.found.push_back(std::move(candidate));
}

}  // namespace mfu::diagnosis
