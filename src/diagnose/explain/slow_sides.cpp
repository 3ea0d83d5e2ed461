// Suspects beyond a few outliers: ranks of two speeds, and places that were slow in turn.
#include <algorithm>
#include <cmath>

#include "diagnose/explain/suspects.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kLeastSideShare = 0.02;  // of the step: smaller mean excesses are not looked at
constexpr std::size_t kLeastAtOnce = 4;   // ranks of a node
constexpr double kWithinSide = 0.25;      // spread on a side of the gap, times the gap
constexpr double kKeptGap = 0.5;          // times the mean gap, from which sides are apart
constexpr double kKeptSteps = 0.9;        // of the steps
constexpr double kInOrder = 0.95;         // pairs of a slow and another rank, the slow one longer
constexpr double kQuiet = 0.2;            // gap of the other steps, of the one where they part
constexpr std::size_t kLeastPassing = 3;  // steps
constexpr std::size_t kLeastOfFew = 5;    // the same, in jobs of few ranks
constexpr std::size_t kManySideRanks = 8;
constexpr std::size_t kLeastTurn = 3;  // steps in which a place was slow, and no other
constexpr std::size_t kMostTurns = 3;  // as many as single places are looked for
constexpr double kOneStretch = 0.8;    // of the steps between its first and last one
constexpr double kMostShared = 0.1;    // of them, with another place

// Of all pairs of a slow and another rank, the share in which the slow one takes longer.
double share_in_order(const std::vector<double>& high, std::vector<double> low) {
  std::sort(low.begin(), low.end());
  std::size_t ordered = 0;
  for (const double value : high) {
    ordered +=
        static_cast<std::size_t>(std::lower_bound(low.begin(), low.end(), value) - low.begin());
  }
  return static_cast<double>(ordered) / static_cast<double>(high.size() * low.size());
}

// When the slow side lies clearly above the other: in nearly every step, or in the steps of an
// onset, a drift or bursts, and there in nearly every one. Means of work that moves differ too,
// where there are few of them; nothing then.
std::optional<Course> keeps_apart(const Column& excess, const Suspects& slow, double gap,
                                  std::span<const std::int64_t> ids) {
  std::size_t apart = 0;
  std::vector<double> gaps;
  std::vector<bool> in_order;
  for (std::size_t s = 0; s < excess.steps(); ++s) {
    std::vector<double> high;
    std::vector<double> low;
    for (std::size_t r = 0; r < excess.ranks(); ++r) {
      (slow.is_culprit[r] ? high : low).push_back(excess.at(s, r));
    }
    gaps.push_back(mean(high) - mean(low));
    apart += gaps.back() > kKeptGap * gap;
    in_order.push_back(share_in_order(high, low) >= kInOrder);
  }
  Course course = course_of(gaps, ids);
  if (static_cast<double>(apart) >= kKeptSteps * static_cast<double>(excess.steps())) {
    return course;
  }
  if (course.persistence == Persistence::steady) return {};
  // Two sides of few ranks fall apart by chance in single steps, and hardly in many on end.
  const bool few = excess.ranks() < kManySideRanks;
  if (few && course.persistence == Persistence::bursts) return {};
  Sum on;
  Sum off;
  std::size_t clear = 0;
  for (std::size_t s = 0; s < gaps.size(); ++s) {
    (course.on[s] ? on : off).add(std::fabs(gaps[s]));
    clear += course.on[s] && in_order[s];
  }
  const std::size_t off_count = gaps.size() - course.on_count;
  if (course.on_count < (few ? kLeastOfFew : kLeastPassing) ||
      static_cast<double>(clear) < kKeptSteps * static_cast<double>(course.on_count)) {
    return {};
  }
  // A drift's first steps are neither on nor off.
  if (course.persistence != Persistence::drift && off_count > 0 &&
      off.value() / static_cast<double>(off_count) >
          kQuiet * on.value() / static_cast<double>(course.on_count)) {
    return {};
  }
  return course;
}

}  // namespace

std::optional<SlowSide> find_slow_side(const Job& job, const Column& excess,
                                       std::span<const std::int64_t> ids) {
  std::vector<double> effect(job.ranks());
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    Sum total;
    for (std::size_t s = 0; s < excess.steps(); ++s) total.add(excess.at(s, r));
    effect[r] = total.value() / static_cast<double>(excess.steps());
  }
  std::vector<double> sorted = effect;
  std::sort(sorted.begin(), sorted.end());
  std::size_t split = 0;  // the slow side begins here
  double gap = 0.0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] > gap) {
      gap = sorted[i] - sorted[i - 1];
      split = i;
    }
  }
  const std::size_t slow = sorted.size() - split;
  if (gap < kLeastSideShare * job.mean_step() || slow * 4 <= sorted.size() ||
      slow * 4 > 3 * sorted.size()) {
    return std::nullopt;
  }
  const double within = std::max(sorted[split - 1] - sorted.front(), sorted.back() - sorted[split]);
  if (within >= kWithinSide * gap) return std::nullopt;
  SlowSide result;
  Suspects& suspects = result.suspects;
  for (std::size_t r = 0; r < effect.size(); ++r) {
    if (effect[r] >= sorted[split]) suspects.ranks.push_back(r);
  }
  mark_culprits(job, suspects);
  auto course = keeps_apart(excess, suspects, gap, ids);
  if (!course) return std::nullopt;
  result.course = std::move(*course);
  const std::vector<std::size_t> nodes = nodes_filled(job, suspects);
  result.whole_nodes = !nodes.empty() && 2 * nodes.size() <= job.nodes().size() &&
                       suspects.ranks.size() >= kLeastAtOnce;
  if (result.whole_nodes) {
    suspects.ranks.clear();
    name_nodes(job, nodes, suspects);
  } else {
    name_ranks(job, suspects);
  }
  return result;
}

Suspects last_in_turn(const Job& job, const Column& excess, Suspects suspects) {
  const bool of_nodes = suspects.locality == Locality::node;
  std::vector<std::vector<std::size_t>> places;
  std::vector<std::size_t> nodes;  // of `places`
  for (std::size_t n = 0; of_nodes && n < job.nodes().size(); ++n) {
    const auto& here = job.nodes()[n].ranks;
    if (here.empty() || !suspects.is_culprit[here.front()]) continue;
    nodes.push_back(n);
    places.push_back(here);
  }
  for (std::size_t i = 0; !of_nodes && i < suspects.ranks.size(); ++i) {
    places.push_back({suspects.ranks[i]});
  }
  if (places.size() < 2 || places.size() > kMostTurns) return suspects;
  std::size_t last = 0;
  std::size_t latest = 0;
  std::vector<bool> taken(excess.steps(), false);
  for (std::size_t p = 0; p < places.size(); ++p) {
    std::vector<double> series(excess.steps(), 0.0);
    for (std::size_t s = 0; s < excess.steps(); ++s) {
      for (const std::size_t r : places[p]) series[s] += excess.at(s, r);
    }
    const double half = 0.5 * quantile(series, 0.95);
    std::size_t first = excess.steps();
    std::size_t end = 0;
    std::size_t on = 0;
    std::size_t shared = 0;
    for (std::size_t s = 0; s < excess.steps(); ++s) {
      if (!(series[s] > half)) continue;
      first = std::min(first, s);
      end = s + 1;
      ++on;
      shared += taken[s];
      taken[s] = true;
    }
    const bool stretch = on >= kLeastTurn &&
                         static_cast<double>(on) >= kOneStretch * static_cast<double>(end - first);
    if (!stretch || static_cast<double>(shared) > kMostShared * static_cast<double>(on)) {
      return suspects;
    }
    if (end > latest) {
      latest = end;
      last = p;
    }
  }
  Suspects result;
  if (of_nodes) {
    name_nodes(job, {nodes[last]}, result);
  } else {
    result.ranks = places[last];
    name_ranks(job, result);
  }
  mark_culprits(job, result);
  return result;
}

}  // namespace mfu::diagnosis
