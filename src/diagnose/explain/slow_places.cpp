// Rules: places that compute, or stall by themselves, longer than their peers.
#include "diagnose/explain/slow_places.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "diagnose/devices/health.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/explain/levels.hpp"
#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr int kMostRounds = 4;  // a second place can hide behind the first

// Slower hardware stretches forward and backward alike; other work need not.
void add_forward_backward(const Job& job, const RankSet& place, Finding& finding) {
  if (job.run().forward.empty() || job.run().backward.empty()) return;
  Sum forward;
  Sum backward;
  std::size_t count = 0;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto f = contrast(job, place, job.raw(job.run().forward, s));
    const auto b = contrast(job, place, job.raw(job.run().backward, s));
    if (!(f.peers > 0.0) || !(b.peers > 0.0) || std::isnan(f.culprits + b.culprits)) continue;
    forward.add(f.culprits / f.peers);
    backward.add(b.culprits / b.peers);
    ++count;
  }
  if (count == 0) return;
  finding.facts.emplace_back(FactKind::fwd_bwd_ratio, forward.value() / static_cast<double>(count),
                             backward.value() / static_cast<double>(count));
}

// Applies a fix on top of the earlier fixes; returns what it saves in each step.
std::vector<double> saved_by(RuleContext& context, const std::function<void(Scenario&)>& fix) {
  const std::vector<double> before = context.model.steps_under(context.local_fixed);
  fix(context.local_fixed);
  return difference(before, context.model.steps_under(context.local_fixed));
}

// Did both come at the same time, so that one cause can be behind them?
bool together(const Course& a, const Course& b) {
  const auto lasts = [](const Course& course) {
    return course.persistence == Persistence::steady || course.persistence == Persistence::drift;
  };
  if (lasts(a) && lasts(b)) return true;
  if (lasts(a) != lasts(b) || a.persistence != b.persistence) return false;
  if (a.onset && b.onset) {
    const auto [low, high] = std::minmax(*a.onset, *b.onset);
    return high - low <= limits::kSameOnset;
  }
  std::size_t both = 0;
  for (std::size_t s = 0; s < a.on.size(); ++s) both += a.on[s] && b.on[s];
  return static_cast<double>(both) >=
         limits::kSameBursts * static_cast<double>(std::min(a.on_count, b.on_count));
}

// The members of a place that came at different times are places of their own.
std::vector<RankSet> by_course(const RuleContext& context, const RankSet& place,
                               const RowOf& row_of) {
  const Job& job = context.job();
  const std::size_t units = place.units();
  if (units < 2 || units > limits::kMostWatched) return {place};
  const auto members = [&](std::size_t u) -> std::vector<std::size_t> {
    if (place.nodes.empty()) return {place.ranks[u]};
    return job.nodes()[place.nodes[u]].ranks;
  };
  // Held against the ranks that are not slow, not against each other.
  std::vector<std::vector<double>> excess(units, std::vector<double>(job.steps(), 0.0));
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = row_of(s);
    std::vector<double> fast(row.begin(), row.end());
    to_peers_median(job, place.holds)(s, fast);
    for (std::size_t u = 0; u < units; ++u) {
      for (const std::size_t r : members(u)) excess[u][s] += row[r] - fast[r];
    }
  }
  std::vector<Course> courses;
  std::vector<std::vector<std::size_t>> parts;
  for (std::size_t u = 0; u < units; ++u) {
    const Course course = course_of(excess[u], context.step_ids);
    std::size_t same = 0;
    while (same < courses.size() && !together(courses[same], course)) ++same;
    if (same == courses.size()) {
      courses.push_back(course);
      parts.emplace_back();
    }
    for (const std::size_t r : members(u)) parts[same].push_back(r);
  }
  std::vector<RankSet> result;
  for (auto& ranks : parts) result.push_back(place_of(job, std::move(ranks)));
  return result;
}

}  // namespace

std::vector<SlowPlace> slow_places(RuleContext& context, const std::function<RowOf()>& rows,
                                   const std::function<void(const RankSet&)>& mend, bool by_stage) {
  const Job& job = context.job();
  const double least = limits::kLeastExcess * context.mean_step();
  std::vector<SlowPlace> found;
  for (int round = 0; round < kMostRounds; ++round) {
    const RowOf row_of = rows();
    std::optional<RankSet> place;
    {
      Column excess = excess_over_fast(job, row_of, by_stage);
      place = slow_place(job, excess, least);
      if (!place && round == 0) {
        take_out_the_least(job, excess, by_stage);
        place = slow_place(job, excess, least);
      }
    }
    if (!place) break;
    std::vector<SlowPlace> now;
    for (RankSet& part : by_course(context, *place, row_of)) {
      now.push_back(watched(context, std::move(part), row_of));
    }
    for (SlowPlace& one : now) {
      mend(one.place);
      const auto like = std::find_if(found.begin(), found.end(), [&](const SlowPlace& other) {
        const auto [small, large] = std::minmax(one.excess(), other.excess());
        return other.place.locality == one.place.locality && together(other.course, one.course) &&
               small >= limits::kAlikeExcess * large;
      });
      if (like == found.end()) {
        found.push_back(std::move(one));
        continue;
      }
      std::vector<std::size_t> ranks = like->place.ranks;
      ranks.insert(ranks.end(), one.place.ranks.begin(), one.place.ranks.end());
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      like->place = place_of(job, std::move(ranks));
    }
  }
  return found;
}

SlowPlace watched(const RuleContext& context, RankSet place, const RowOf& row_of) {
  SlowPlace result;
  result.place = std::move(place);
  std::vector<double> excess;
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    result.levels.push_back(contrast(context.job(), result.place, row_of(s)));
    excess.push_back(result.levels.back().culprits - result.levels.back().peers);
  }
  result.course = course_of(excess, context.step_ids);
  Sum own;
  Sum peers;
  for (std::size_t s = 0; s < excess.size(); ++s) {
    if (!result.course.on[s]) continue;
    own.add(result.levels[s].culprits);
    peers.add(result.levels[s].peers);
  }
  const auto on = static_cast<double>(std::max<std::size_t>(1, result.course.on_count));
  result.on = {own.value() / on, peers.value() / on};
  return result;
}

void name_coincidence(const Job& job, const RankSet& place, Finding& finding) {
  std::string logical;
  if (place.logical) {
    logical = index_names(*place.logical);
    for (const int index : place.logical->indices) {
      finding.culprits.groups.push_back(std::string(to_string(place.logical->axis)) + "=" +
                                        std::to_string(index));
    }
  } else if (fills_a_stage(job, place)) {
    for (int p = 0; p < job.stages(); ++p) {
      const auto& here = job.stage_ranks()[static_cast<std::size_t>(p)];
      if (here.empty() || !place.holds[here.front()]) continue;
      finding.culprits.stages.push_back(p);
      logical += (logical.empty() ? "stage " : ", ") + std::to_string(p);
    }
  }
  if (logical.empty()) return;
  finding.facts.emplace_back(FactKind::coincides, 0, 0, -1, 0,
                             logical + " and " + place_name(place.named));
}

Candidate candidate_of(RuleContext& context, const SlowPlace& slow, const Readings& readings,
                       FactKind kind) {
  const Job& job = context.job();
  Candidate candidate = context.candidate(readings.families.front(), slow.place.locality);
  Finding& finding = candidate.finding;
  finding.culprits = slow.place.named;
  finding.facts.emplace_back(kind, slow.on.culprits, slow.on.peers, slow.course.on_count,
                             job.steps());
  context.follow(candidate, slow.course, slow.excess());
  if (readings.near_boundary) candidate.most_confidence = limits::kNearBoundary;
  if (readings.families.size() < 2) return candidate;
  candidate.alike = readings.families;
  const std::size_t coincident = finding.facts.size();
  name_coincidence(job, slow.place, finding);
  if (finding.facts.size() == coincident) {
    finding.facts.emplace_back(FactKind::many_slow, slow.on.culprits, slow.on.peers,
                               slow.place.ranks.size(), job.ranks());
  }
  return candidate;
}

DeviceStory devices_of(const RuleContext& context, const SlowPlace& slow) {
  const double slowdown = slow.on.peers > 0.0 ? slow.on.culprits / slow.on.peers : 1.0;
  const DeviceEvidence devices = evidence_on(context, slow.place.ranks, slowdown);
  if (devices.cause != Cause::none) return DeviceStory::bad;
  return devices.clocks_measured ? DeviceStory::sound : DeviceStory::silent;
}

void find_slow_compute(RuleContext& context) {
  const Job& job = context.job();
  if (context.model.attribution().host_bound) return;
  Scenario scratch = context.local_fixed;
  const auto rows = [&]() -> RowOf {
    return [&](std::size_t s) { return context.model.compute_row(scratch, s); };
  };
  const auto mend = [&](const RankSet& place) {
    scratch.compute.push_back(to_peers_median(job, place.holds));
  };
  for (SlowPlace& slow : slow_places(context, rows, mend, true)) {
    const Readings readings = readings_of_compute(job, slow.place, devices_of(context, slow));
    if (readings.families == std::vector{Family::imbalance}) {
      // Left for the rules on uneven work: moving it elsewhere is the fix.
      if (!context.uneven) context.uneven = UnevenPlace{slow.place, slow.course, slow.on};
      continue;
    }
    Candidate candidate = candidate_of(context, slow, readings, FactKind::compute_excess);
    add_forward_backward(job, slow.place, candidate.finding);
    RowEdit fix = to_peers_median(job, slow.place.holds);
    // What it adds when the places found before it are put right: a second slow rank hides behind
    // the first, and fixing it alone would save nothing.
    candidate.mend = [fix](Scenario& fixed) { fixed.compute.push_back(fix); };
    candidate.loss = saved_by(context, candidate.mend);
    if (!candidate.alike.empty()) candidate.balanced = saved_by_balancing(context);
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

void find_slow_stall(RuleContext& context) {
  const Job& job = context.job();
  const Attribution& attribution = context.model.attribution();
  const bool own = attribution.stall == StallMeaning::own;
  // One stage and waits in the idle time: an own stall and a wait look the same.
  if (!own && job.stages() == 1) return;
  const bool by_stage = attribution.bubbles_in_stall;
  std::shared_ptr<Column> bounded;  // where stalls are the ranks' own, they are as recorded
  if (!own) {
    // What a stall can be worth: bubbles sit in `stall` in real files whatever they declare.
    const RowOf recorded = [&](std::size_t s) { return job.stall(s); };
    bounded = std::make_shared<Column>(excess_over_fast(job, recorded, by_stage));
    for (std::size_t s = 0; s < job.steps(); ++s) {
      const double room =
          std::max(0.0, attribution.own_limit[s] - context.model.measured().link[s]);
      for (double& value : bounded->row(s)) value = std::min(value, room);
    }
  }
  std::shared_ptr<Column> mended;  // a copy, once something is put right
  const auto rows = [&]() -> RowOf {
    return [&](std::size_t s) -> std::span<const double> {
      if (mended) return mended->row(s);
      return bounded ? std::span<const double>(bounded->row(s)) : job.stall(s);
    };
  };
  const auto mend = [&](const RankSet& place) {
    if (!mended) {
      mended = std::make_shared<Column>(job.steps(), job.ranks());
      for (std::size_t s = 0; s < job.steps(); ++s) {
        const auto row = bounded ? std::span<const double>(bounded->row(s)) : job.stall(s);
        std::copy(row.begin(), row.end(), mended->row(s).begin());
      }
    }
    RowEdit edit = to_peers_median(job, place.holds);
    for (std::size_t s = 0; s < job.steps(); ++s) edit(s, mended->row(s));
  };
  for (SlowPlace& slow : slow_places(context, rows, mend, by_stage)) {
    const Readings readings = readings_of_stall(job, slow.place);
    const bool of_a_stage = readings.families == std::vector{Family::stall};
    // Of stages only the first has a stall of its own, its input: the others' idle time is waiting.
    if (of_a_stage && slow.place.ranks != job.stage_ranks().front()) continue;
    if (!own) {
      // Only what these ranks lack beyond their peers is theirs, as far as the step has room for
      // it.
      book_own_stall(context,
                     [ranks = slow.place.ranks, bounded](std::size_t s, std::span<double> row) {
                       for (const std::size_t r : ranks) row[r] = std::max(0.0, bounded->at(s, r));
                     });
    }
    Candidate candidate = candidate_of(context, slow, readings, FactKind::stall_excess);
    if (of_a_stage) {
      candidate.finding.locality = Locality::stage;
      candidate.finding.culprits = {};
      candidate.finding.cause = Cause::input;
      name_coincidence(job, slow.place, candidate.finding);
      candidate.finding.facts.pop_back();
    } else if (attribution.waits_in_stall) {
      // Ranks that wait for the one that stopped are idle with it.
      candidate.alike = {Family::straggler, Family::stall};
      candidate.finding.facts.emplace_back(FactKind::waits_unsplit);
    }
    RowEdit fix = to_peers_median(job, slow.place.holds);
    candidate.mend = [fix](Scenario& fixed) { fixed.own_stall.push_back(fix); };
    candidate.loss = saved_by(context, candidate.mend);
    context.found.push_back(std::move(candidate));
  }
}

}  // namespace mfu::diagnosis
