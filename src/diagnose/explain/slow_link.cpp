// Rule: the transfer of some groups is slower than that of the groups like them. The ranks of a
// group share the seconds of its transfer, so slow groups are slow places of those seconds.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/slow_places.hpp"
#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

// Seconds of transfer, one a rank, and the groups that they belong to where those are known.
struct Lanes {
  std::shared_ptr<Column> seconds;
  const TransferKind* kind = nullptr;
};

Lanes lanes_of(const Job& job, const TransferKind& kind) {
  Lanes lanes{std::make_shared<Column>(job.steps(), job.ranks()), &kind};
  for (std::size_t s = 0; s < job.steps(); ++s) {
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const int g = kind.group_of[r];
      if (g >= 0) lanes.seconds->at(s, r) = kind.value[s][static_cast<std::size_t>(g)];
    }
  }
  return lanes;
}

Lanes lanes_of(const Job& job, const Column& column) {
  Lanes lanes{std::make_shared<Column>(job.steps(), job.ranks()), nullptr};
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = job.raw(column, s);
    for (std::size_t r = 0; r < row.size(); ++r) {
      lanes.seconds->at(s, r) = std::isnan(row[r]) ? 0.0 : row[r];
    }
  }
  return lanes;
}

// Columns of transfer that belong to groups nobody names: kinds that are no axis of the layout (the
// two halves of hybrid sharding), or all of it where waits are apart.
std::vector<const Column*> transfers_of_unknown_groups(const RuleContext& context) {
  const RunTimings& run = context.job().run();
  std::vector<const Column*> columns;
  for (const auto& [kind, column] : run.comm_by_group) {
    const bool axis =
        std::any_of(kAxes.begin(), kAxes.end(), [&](Axis one) { return kind == to_string(one); });
    if (!axis && kind != "world") columns.push_back(&column);
  }
  const bool lockstep = run.parallelism[Axis::tp].value_or(1) > 1 ||
                        run.parallelism[Axis::cp].value_or(1) > 1 ||
                        run.parallelism[Axis::ep].value_or(1) > 1;
  if (columns.empty() && context.job().stages() == 1 && !lockstep &&
      !context.model.attribution().waits_in_transfer && run.comm_by_group.empty()) {
    columns.push_back(&run.comm);
  }
  return columns;
}

// Groups of the same stage are equals. Where a stage has one group alone, the other stages' stand
// in: they move gradients of the same size but for the embedding's.
bool equals_in_stages(const TransferKind& kind) {
  std::map<int, std::size_t> count;
  for (const Group& group : kind.groups) ++count[group.stage];
  return std::any_of(count.begin(), count.end(), [](const auto& of) { return of.second > 1; });
}

std::vector<SlowPlace> slow_lanes(RuleContext& context, const Lanes& lanes) {
  const Job& job = context.job();
  const auto mended = std::make_shared<Column>(*lanes.seconds);
  auto found = slow_places(
      context,
      [&]() -> RowOf {
        return [mended](std::size_t s) { return std::span<const double>(mended->row(s)); };
      },
      [&](const RankSet& place) {
        RowEdit edit = to_peers_median(job, place.holds);
        for (std::size_t s = 0; s < job.steps(); ++s) edit(s, mended->row(s));
      },
      lanes.kind != nullptr && equals_in_stages(*lanes.kind));
  // More than half of the ranks: then the others are the odd ones.
  std::erase_if(found, [&](const SlowPlace& slow) {
    return 2 * slow.place.ranks.size() > job.ranks() ||
           slow.on.culprits < limits::kSlowGroup * slow.on.peers;
  });
  return found;
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

void name_groups(const Job& job, const TransferKind& kind, const RankSet& place,
                 Candidate& candidate) {
  Finding& finding = candidate.finding;
  finding.locality = Locality::link;
  finding.culprits = {};
  for (const Group& group : kind.groups) {
    if (!place.holds[group.ranks.front()]) continue;
    finding.culprits.groups.push_back(group.name);
    candidate.unseen_member =
        candidate.unseen_member || group.ranks.size() < members_of(job, kind.kind);
    // A group inside one node is that node's own fabric.
    const int node = job.node_of(group.ranks.front());
    if (node >= 0 && std::all_of(group.ranks.begin(), group.ranks.end(),
                                 [&](std::size_t r) { return job.node_of(r) == node; })) {
      const std::string& name = job.nodes()[static_cast<std::size_t>(node)].name;
      if (finding.culprits.nodes.empty() || finding.culprits.nodes.back() != name) {
        finding.culprits.nodes.push_back(name);
      }
    }
  }
}

void book_slow_link(RuleContext& context, const SlowPlace& slow, const TransferKind* kind) {
  const Job& job = context.job();
  Scenario& measured = context.model.measured();
  const bool shared = context.model.attribution().stall == StallMeaning::shared;
  std::vector<double> effect;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    // A group with an unrecorded member may just have waited for it, and part of a slow
    // transfer can hide in the drain of a pipeline: what the step has no room for cost nothing.
    const double room = context.model.unexplained()[s] + (shared ? measured.common_stall[s] : 0.0);
    effect.push_back(std::clamp(slow.levels[s].culprits - slow.levels[s].peers, 0.0, room));
  }
  if (mean(effect) < limits::kLeastLinkShare * context.mean_step()) return;
  Readings readings;
  readings.families = {Family::straggler};
  Candidate candidate = candidate_of(context, slow, readings, FactKind::link_excess);
  Finding& finding = candidate.finding;
  finding.cause = Cause::link;
  if (kind != nullptr) {
    name_groups(job, *kind, slow.place, candidate);
  } else if (finding.locality == Locality::rank) {
    finding.locality = Locality::link;
  }
  finding.facts.front().name = place_name(finding.culprits);
  // Peers of a slow group are idle meanwhile: where that is recorded alike, it was taken for a
  // common stall until here.
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const double over = effect[s] - context.model.unexplained()[s];
    if (shared) measured.common_stall[s] -= std::clamp(over, 0.0, measured.common_stall[s]);
    measured.link[s] += effect[s];
  }
  context.local_fixed.common_stall = measured.common_stall;
  context.local_fixed.link.assign(job.steps(), 0.0);
  context.model.settle();
  Scenario alone = context.model.measured();
  for (std::size_t s = 0; s < job.steps(); ++s) alone.link[s] -= effect[s];
  candidate.loss = context.loss_under(alone);
  context.found.push_back(std::move(candidate));
}

}  // namespace

void find_slow_link(RuleContext& context) {
  // The same seconds can be seen along several axes: what stands out most of all is it.
  std::optional<SlowPlace> worst;
  const TransferKind* its_kind = nullptr;
  for (const TransferKind& kind : context.model.attribution().kinds) {
    if (kind.groups.size() < 2) continue;
    for (SlowPlace& slow : slow_lanes(context, lanes_of(context.job(), kind))) {
      if (worst && slow.excess() <= worst->excess()) continue;
      worst = std::move(slow);
      its_kind = &kind;
    }
  }
  if (worst) book_slow_link(context, *worst, its_kind);
  for (const Column* column : transfers_of_unknown_groups(context)) {
    for (const SlowPlace& slow : slow_lanes(context, lanes_of(context.job(), *column))) {
      book_slow_link(context, slow, nullptr);
    }
  }
}

}  // namespace mfu::diagnosis
