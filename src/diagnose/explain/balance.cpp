// Rules on uneven work: pipeline stages, data shards, sequence lengths that move from rank to rank.
#include <algorithm>
#include <cmath>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/levels.hpp"
#include "diagnose/explain/moving_work.hpp"
#include "diagnose/explain/slow_places.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kLeastShare = 0.005;      // of the step
constexpr double kHeavyStage = 1.05;       // times the median of the other stages
constexpr double kJitterVariation = 0.03;  // of a rank's compute: shards that stay, beside it

double mean_difference(std::span<const double> a, std::span<const double> b) {
  return mean(difference(a, b));
}

RowEdit even_inside_stages(const Job& job) {
  return [&job](std::size_t, std::span<double> row) {
    const std::vector<double> means = stage_means(job, row);
    for (std::size_t r = 0; r < row.size(); ++r) {
      row[r] = means[static_cast<std::size_t>(job.stage_of(r))];
    }
  };
}

RowEdit even_stages(const Job& job, std::vector<double> stage_level, double level) {
  return [&job, stage_level = std::move(stage_level), level](std::size_t, std::span<double> row) {
    for (std::size_t r = 0; r < row.size(); ++r) {
      const double own = stage_level[static_cast<std::size_t>(job.stage_of(r))];
      if (own > 0.0) row[r] *= level / own;
    }
  };
}

RowEdit even_ranks(std::vector<double> levels) {
  const double level = mean(levels);
  return [levels = std::move(levels), level](std::size_t, std::span<double> row) {
    for (std::size_t r = 0; r < row.size(); ++r) {
      if (levels[r] > 0.0) row[r] *= level / levels[r];
    }
  };
}

void add_slowest_fact(RuleContext& context, const Scenario& scenario, bool moves,
                      Finding& finding) {
  const Job& job = context.job();
  std::vector<std::int64_t> times(job.ranks(), 0);
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = context.model.compute_row(scenario, s);
    ++times[static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin())];
  }
  finding.facts.emplace_back(moves ? FactKind::slowest_moves : FactKind::slowest_stays, 0, 0,
                             *std::max_element(times.begin(), times.end()), job.steps());
}

// A slow GPU stretches forward and backward alike; a stage with other work (logits, embedding) does
// not. Returns false where the two differ, or cannot be compared.
bool stretched_alike(const Job& job, const std::vector<bool>& heavy, Finding& finding) {
  if (job.run().forward.empty() || job.run().backward.empty()) return true;
  const auto ratio = [&](const Column& column) {
    std::vector<double> in;
    std::vector<double> out;
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const double level = mean(job.series(column, r));
      (heavy[static_cast<std::size_t>(job.stage_of(r))] ? in : out).push_back(level);
    }
    return in.empty() || out.empty() ? 0.0 : median_inplace(in) / median_inplace(out);
  };
  const double forward = ratio(job.run().forward);
  const double backward = ratio(job.run().backward);
  if (!(forward > 0.0) || !(backward > 0.0)) return true;
  finding.facts.emplace_back(FactKind::fwd_bwd_ratio, forward, backward);
  return std::fabs(forward / backward - 1.0) < 0.15;
}

// Work that stays at some ranks: they hold some experts, slices or shards, or their devices were
// looked at and are sound.
void describe_uneven(const Job& job, const UnevenPlace& uneven, Candidate& candidate) {
  Finding& finding = candidate.finding;
  const RankSet& place = uneven.place;
  if (place.logical) {
    const Axis axis = place.logical->axis;
    for (const int index : place.logical->indices) {
      finding.culprits.groups.push_back(std::string(to_string(axis)) + "=" + std::to_string(index));
    }
    finding.locality = Locality::group;
    if (axis == Axis::ep) finding.cause = Cause::expert_load;
    if (axis == Axis::cp || axis == Axis::tp) finding.cause = Cause::none;
    return;
  }
  finding.culprits = place.named;
  finding.facts.emplace_back(FactKind::two_speeds, uneven.on.culprits, uneven.on.peers,
                             place.ranks.size(), job.ranks());
}

// The uneven work at known ranks, where it is not there in every step; else null.
const UnevenPlace* passing_place(const RuleContext& context) {
  const bool passing = context.uneven && context.uneven->course.persistence != Persistence::steady;
  return passing ? &*context.uneven : nullptr;
}

struct HeavyStages {
  std::vector<bool> heavy;  // by stage
  std::size_t worst = 0;
  double others = 0.0;  // seconds: the median of the stages beside the worst
};

HeavyStages heavy_stages(std::span<const double> levels) {
  HeavyStages result;
  result.heavy.assign(levels.size(), false);
  for (std::size_t p = 0; p < levels.size(); ++p) {
    std::vector<double> rest;
    for (std::size_t q = 0; q < levels.size(); ++q) {
      if (q != p) rest.push_back(levels[q]);
    }
    const double usual = median_inplace(rest);
    result.heavy[p] = levels[p] > kHeavyStage * usual;
    if (levels[p] > levels[result.worst] || p == 0) {
      result.worst = p;
      result.others = usual;
    }
  }
  result.heavy[result.worst] = true;
  return result;
}

RankSet place_of_stages(const Job& job, const std::vector<bool>& heavy) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    if (heavy[static_cast<std::size_t>(job.stage_of(r))]) ranks.push_back(r);
  }
  return place_of(job, std::move(ranks));
}

void describe_stages(RuleContext& context, const HeavyStages& stages,
                     std::span<const double> levels, const RankSet& place, Candidate& candidate) {
  const Job& job = context.job();
  Finding& finding = candidate.finding;
  finding.persistence = Persistence::steady;
  finding.cause = Cause::stage_partition;
  finding.facts.emplace_back(FactKind::stage_work, levels[stages.worst], stages.others,
                             stages.worst, levels.size());
  const bool alike = stretched_alike(job, stages.heavy, finding);
  if (alike && readings_of_compute(job, place, DeviceStory::silent).families.size() > 1) {
    candidate.alike = {Family::straggler, Family::imbalance};
    finding.locality = place.locality;
    finding.culprits = place.named;
    name_coincidence(job, place, finding);
  } else {
    finding.locality = Locality::stage;
    for (std::size_t p = 0; p < stages.heavy.size(); ++p) {
      if (stages.heavy[p]) finding.culprits.stages.push_back(static_cast<std::int64_t>(p));
    }
  }
}

// Stages can also get heavier: the course of the heavy ones, if they did so from some step on.
std::optional<Course> onset_of_stages(RuleContext& context, const std::vector<bool>& heavy,
                                      const Scenario& base) {
  const Job& job = context.job();
  std::vector<double> excess;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const std::vector<double> levels = stage_means(job, context.model.compute_row(base, s));
    std::vector<double> in;
    std::vector<double> out;
    for (std::size_t p = 0; p < levels.size(); ++p) (heavy[p] ? in : out).push_back(levels[p]);
    if (in.empty() || out.empty()) return std::nullopt;
    excess.push_back(mean(in) - mean(out));
  }
  Course course = course_of(excess, context.step_ids);
  if (!course.onset) return std::nullopt;
  return course;
}

// All stages balanced in each step; the ratios between the ranks of a stage are kept.
RowEdit even_stages_by_step(const Job& job) {
  return [&job](std::size_t, std::span<double> row) {
    const std::vector<double> means = stage_means(job, row);
    const double level = mean(row);
    for (std::size_t r = 0; r < row.size(); ++r) {
      const double own = means[static_cast<std::size_t>(job.stage_of(r))];
      if (own > 0.0) row[r] *= level / own;
    }
  };
}

// Takes the fix of the candidate, and what it saves after the local places.
void fix_by(RuleContext& context, const RowEdit& edit, bool evens_microbatches,
            Candidate& candidate) {
  candidate.fix = [edit, evens_microbatches](Scenario& scenario) {
    scenario.compute.push_back(edit);
    if (evens_microbatches) std::fill(scenario.spread.begin(), scenario.spread.end(), 0.0);
  };
  Scenario fixed = context.local_fixed;
  candidate.fix(fixed);
  candidate.loss =
      difference(context.model.steps_under(context.local_fixed), context.model.steps_under(fixed));
}

// A stage that is one node: slow hardware there can cost much while balancing the stages would save
// little, since the pipeline hides part of a heavy first stage. Found before the size of the
// imbalance is looked at, or it would pass for healthy.
bool find_confounded_stage(RuleContext& context, std::span<const double> levels) {
  const Job& job = context.job();
  if (job.stages() < 2) return false;
  const HeavyStages stages = heavy_stages(levels);
  if (!(levels[stages.worst] > kHeavyStage * stages.others)) return false;
  const Scenario& base = context.local_fixed;
  const SlowPlace slow = watched(context, place_of_stages(job, stages.heavy),
                                 [&](std::size_t s) { return context.model.compute_row(base, s); });
  Candidate candidate = context.candidate(Family::imbalance, Locality::stage);
  describe_stages(context, stages, levels, slow.place, candidate);
  if (candidate.alike.empty()) return false;
  const DeviceStory devices = devices_of(context, slow);
  if (devices == DeviceStory::bad) {
    candidate = candidate_of(context, slow, readings_of_compute(job, slow.place, devices),
                             FactKind::compute_excess);
  } else {
    context.follow(candidate, slow.course, slow.excess());
    candidate.balanced = saved_by_balancing(context);
  }
  fix_by(context, to_peers_median(job, slow.place.holds), false, candidate);
  if (mean(candidate.loss) < candidate.materiality * context.mean_step()) return false;
  context.found.push_back(std::move(candidate));
  return true;
}

}  // namespace

void find_imbalance(RuleContext& context) {
  const Job& job = context.job();
  if (context.model.attribution().host_bound) return;  // balancing would not shorten the step
  const Scenario& base = context.local_fixed;
  const std::vector<double> before = context.model.steps_under(base);
  const std::vector<double> levels = rank_means(context, base);
  const std::vector<double> stage_level = stage_means(job, levels);
  if (find_confounded_stage(context, stage_level)) return;
  Candidate candidate = context.candidate(Family::imbalance, Locality::all);
  fix_by(context, everything_even(), true, candidate);
  if (mean(candidate.loss) < kLeastShare * context.mean_step()) return;
  candidate.on.assign(job.steps(), true);
  Finding& finding = candidate.finding;
  double balanced_stages = 0.0;
  Scenario inside = base;
  inside.compute.push_back(even_inside_stages(job));
  inside.spread.assign(job.steps(), 0.0);
  const double balanced_inside = mean_difference(before, context.model.steps_under(inside));
  std::optional<Course> since;
  if (job.stages() > 1) {
    since = onset_of_stages(context, heavy_stages(stage_level).heavy, base);
    Scenario stages = base;
    stages.compute.push_back(since ? even_stages_by_step(job)
                                   : even_stages(job, stage_level, mean(levels)));
    balanced_stages = mean_difference(before, context.model.steps_under(stages));
  }

  if (job.stages() > 1 && balanced_stages >= balanced_inside) {
    const HeavyStages heavy = heavy_stages(stage_level);
    describe_stages(context, heavy, stage_level, place_of_stages(job, heavy.heavy), candidate);
    if (since) context.follow(candidate, *since);
    finding.facts.emplace_back(FactKind::within_stage, balanced_inside, balanced_stages);
  } else {
    // What remains when the ranks' means over time stand in for every step is persistent.
    const double standing = context.model.form().slowest(levels);
    std::vector<double> stage_row(levels.size());
    for (std::size_t r = 0; r < stage_row.size(); ++r) {
      stage_row[r] = stage_level[static_cast<std::size_t>(job.stage_of(r))];
    }
    const double persistent = standing - context.model.form().slowest(stage_row);
    const UnevenPlace* passing = passing_place(context);
    bool moves = balanced_inside - persistent > persistent;
    // What few steps add to a rank's mean does not persist: balancing the means would not save it.
    Scenario moved = base;
    moved.compute.push_back(even_ranks(levels));
    const std::vector<double> saved_once = difference(before, context.model.steps_under(moved));
    moves = (moves || mean(saved_once) < 0.5 * balanced_inside) && passing == nullptr;
    if (moves && take_once(context, base, candidate)) {
      context.found.push_back(std::move(candidate));
      return;
    }
    if (passing == nullptr) add_slowest_fact(context, base, moves, finding);
    if (moves) {
      describe_moving(context, base, candidate);
    } else {
      finding.persistence = Persistence::steady;
      finding.cause = Cause::data_shard;
      if (passing != nullptr) {
        context.follow(candidate, passing->course, passing->on.culprits - passing->on.peers);
      } else if (compute_variation(context, base) < kJitterVariation) {
        // Work can be moved once and for all; the jitter around it stays.
        fix_by(context, even_ranks(levels), false, candidate);
      }
      if (context.uneven) {
        describe_uneven(job, *context.uneven, candidate);
      } else {
        finding.facts.emplace_back(FactKind::graded_shards, quantile(levels, 0.02),
                                   quantile(levels, 0.98));
      }
    }
    if (job.stages() > 1) {
      finding.facts.emplace_back(FactKind::within_stage, balanced_inside, balanced_stages);
    }
  }
  if (mean(base.spread) > kLeastShare * context.mean_step()) {
    finding.facts.emplace_back(FactKind::microbatch_spread, mean(base.spread),
                               context.spread_sigma);
  }
  context.found.push_back(std::move(candidate));
}

}  // namespace mfu::diagnosis
