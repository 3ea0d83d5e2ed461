// Rules on uneven work: pipeline stages, data shards, sequence lengths that move from rank to rank.
#include <algorithm>
#include <cmath>

#include "diagnose/devices/health.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/explain/levels.hpp"
#include "diagnose/explain/moving_work.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kLeastShare = 0.005;      // of the step
constexpr double kHeavyStage = 1.05;       // times the median of the other stages
constexpr double kJitterVariation = 0.03;  // of a rank's compute: shards that stay, beside it

double mean_difference(std::span<const double> a, std::span<const double> b) {
  return mean(difference(a, b));
}

RowEdit everything_even() {
  return [](std::size_t, std::span<double> row) {
    const double level = mean(row);
    std::fill(row.begin(), row.end(), level);
  };
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
  finding.facts.push_back({moves ? FactKind::slowest_moves : FactKind::slowest_stays,
                           0,
                           0,
                           *std::max_element(times.begin(), times.end()),
                           static_cast<std::int64_t>(job.steps()),
                           {}});
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
  finding.facts.push_back({FactKind::fwd_bwd_ratio, forward, backward, 0, 0, {}});
  return std::fabs(forward / backward - 1.0) < 0.15;
}

// Recordings of one rank a node: its ranks are whole nodes as far as anybody sees.
bool each_on_its_own_node(const Job& job, const RankSet& place) {
  return std::all_of(place.ranks.begin(), place.ranks.end(), [&](std::size_t r) {
    const int node = job.node_of(r);
    return node >= 0 && job.nodes()[static_cast<std::size_t>(node)].ranks.size() == 1;
  });
}

// Do the heavy stages fill exactly some nodes, or one rank, and nothing else? The facts of the
// finding then say so.
bool physical_stages(const Job& job, const std::vector<std::int64_t>& stages, Finding& finding) {
  std::vector<std::size_t> ranks;
  std::string names;
  for (const std::int64_t stage : stages) {
    const auto& here = job.stage_ranks()[static_cast<std::size_t>(stage)];
    ranks.insert(ranks.end(), here.begin(), here.end());
    names += (names.empty() ? "" : ", ") + std::to_string(stage);
  }
  if (ranks.empty() || ranks.size() == job.ranks()) return false;
  const RankSet place = place_of(job, std::move(ranks));
  if (place.nodes.empty() && place.ranks.size() > 1 && !each_on_its_own_node(job, place)) {
    return false;
  }
  finding.culprits.nodes = place.named.nodes;
  const std::string physical = place_name(place.named);
  if (stages.size() == 1) {
    finding.facts.push_back({FactKind::coincides, 0, 0, stages.front(), 0, physical});
  } else {
    finding.facts.push_back(
        {FactKind::coincides, 0, 0, -1, 0, "stages " + names + " and " + physical});
  }
  return true;
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
  finding.facts.push_back({FactKind::two_speeds,
                           uneven.on.culprits,
                           uneven.on.peers,
                           static_cast<std::int64_t>(place.ranks.size()),
                           static_cast<std::int64_t>(job.ranks()),
                           {}});
}

// The uneven work at known ranks, where it is not there in every step; else null.
const UnevenPlace* passing_place(const RuleContext& context) {
  const bool passing = context.uneven && context.uneven->course.persistence != Persistence::steady;
  return passing ? &*context.uneven : nullptr;
}

void date_uneven(const RuleContext& context, const Course& course, double excess_s,
                 Candidate& candidate) {
  Finding& finding = candidate.finding;
  context.date(finding, course);
  candidate.on = course.on;
  if (course.persistence == Persistence::bursts) {
    finding.facts.push_back({FactKind::burst_excess,
                             excess_s,
                             course.period_steps.value_or(0.0),
                             static_cast<std::int64_t>(course.on_count),
                             static_cast<std::int64_t>(course.on.size()),
                             {}});
  }
  if (!course.onset) return;
  finding.facts.push_back(
      {FactKind::onset, course.before, course.after, *finding.onset_step, 0, {}});
}

struct HeavyStages {
  std::vector<bool> heavy;  // by stage
  std::size_t worst = 0;
  double others = 0.0;        // seconds: the median of the stages beside the worst
  std::vector<double> peers;  // by stage: the median of the stages that are not heavy
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
  std::vector<double> light;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    if (!result.heavy[p]) light.push_back(levels[p]);
  }
  const double usual = light.empty() ? result.others : median_inplace(light);
  for (std::size_t p = 0; p < levels.size(); ++p) {
    result.peers.push_back(result.heavy[p] ? usual : levels[p]);
  }
  return result;
}

void describe_stages(RuleContext& context, const HeavyStages& stages,
                     std::span<const double> levels, Candidate& candidate) {
  const Job& job = context.job();
  Finding& finding = candidate.finding;
  finding.locality = Locality::stage;
  finding.persistence = Persistence::steady;
  finding.cause = Cause::stage_partition;
  for (std::size_t p = 0; p < stages.heavy.size(); ++p) {
    if (stages.heavy[p]) finding.culprits.stages.push_back(static_cast<std::int64_t>(p));
  }
  finding.facts.push_back({FactKind::stage_work,
                           levels[stages.worst],
                           stages.others,
                           static_cast<std::int64_t>(stages.worst),
                           static_cast<std::int64_t>(levels.size()),
                           {}});
  const bool alike = stretched_alike(job, stages.heavy, finding);
  if (physical_stages(job, finding.culprits.stages, finding) && alike) {
    candidate.alike = {Family::straggler, Family::imbalance};
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

// The heavy stages as slow hardware that is put right.
RowEdit at_peers_level(const Job& job, const HeavyStages& stages, std::span<const double> levels) {
  std::vector<double> factor;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    factor.push_back(levels[p] > 0.0 ? stages.peers[p] / levels[p] : 1.0);
  }
  return [&job, factor = std::move(factor)](std::size_t, std::span<double> row) {
    for (std::size_t r = 0; r < row.size(); ++r) {
      row[r] *= factor[static_cast<std::size_t>(job.stage_of(r))];
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

// Work and hardware look the same there, until telemetry shows the hardware to be bad.
void take_bad_device(const RuleContext& context, const HeavyStages& stages,
                     std::span<const double> levels, Candidate& candidate) {
  const Job& job = context.job();
  Finding& finding = candidate.finding;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    if (stages.heavy[static_cast<std::size_t>(job.stage_of(r))]) ranks.push_back(r);
  }
  const double level = levels[stages.worst];
  if (!(stages.others > 0.0)) return;
  if (evidence_on(context, ranks, level / stages.others).cause == Cause::none) return;
  candidate.alike.clear();
  finding.family = Family::straggler;
  finding.cause = Cause::none;  // the evidence on the finding names it
  finding.culprits.stages.clear();
  finding.locality = finding.culprits.nodes.empty() ? Locality::rank : Locality::node;
  if (finding.culprits.nodes.empty()) {
    for (const std::size_t r : ranks) finding.culprits.ranks.push_back(job.run().ranks[r].rank);
  }
  finding.facts = {{FactKind::compute_excess,
                    level,
                    stages.others,
                    static_cast<std::int64_t>(job.steps()),
                    static_cast<std::int64_t>(job.steps()),
                    {}}};
}

// A stage that is one node: slow hardware there can cost much while balancing the stages would save
// little, since the pipeline hides part of a heavy first stage. Found before the size of the
// imbalance is looked at, or it would pass for healthy.
bool find_confounded_stage(RuleContext& context, std::span<const double> levels) {
  if (context.job().stages() < 2) return false;
  const HeavyStages stages = heavy_stages(levels);
  if (!(levels[stages.worst] > kHeavyStage * stages.others)) return false;
  Candidate candidate;
  candidate.materiality = context.options.materiality;
  candidate.finding.family = Family::imbalance;
  describe_stages(context, stages, levels, candidate);
  if (candidate.alike.empty()) return false;
  take_bad_device(context, stages, levels, candidate);
  const auto since = onset_of_stages(context, stages.heavy, context.local_fixed);
  candidate.on.assign(context.job().steps(), true);
  if (since) {
    date_uneven(context, *since, 0.0, candidate);
    std::vector<bool> holds;
    for (std::size_t r = 0; r < context.job().ranks(); ++r) {
      holds.push_back(stages.heavy[static_cast<std::size_t>(context.job().stage_of(r))]);
    }
    fix_by(context, to_peers_median(context.job(), holds), false, candidate);
  } else {
    fix_by(context, at_peers_level(context.job(), stages, levels), false, candidate);
  }
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
  Candidate candidate;
  candidate.materiality = context.options.materiality;
  fix_by(context, everything_even(), true, candidate);
  if (mean(candidate.loss) < kLeastShare * context.mean_step()) return;
  candidate.on.assign(job.steps(), true);
  Finding& finding = candidate.finding;
  finding.family = Family::imbalance;

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
    describe_stages(context, heavy_stages(stage_level), stage_level, candidate);
    if (since) date_uneven(context, *since, 0.0, candidate);
    finding.facts.push_back({FactKind::within_stage, balanced_inside, balanced_stages, 0, 0, {}});
  } else {
    finding.locality = Locality::all;
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
        date_uneven(context, passing->course, passing->on.culprits - passing->on.peers, candidate);
      } else if (compute_variation(context, base) < kJitterVariation) {
        // Work can be moved once and for all; the jitter around it stays.
        fix_by(context, even_ranks(levels), false, candidate);
      }
      if (context.uneven) {
        describe_uneven(job, *context.uneven, candidate);
      } else {
        finding.facts.push_back(
            {FactKind::graded_shards, quantile(levels, 0.02), quantile(levels, 0.98), 0, 0, {}});
      }
    }
    if (job.stages() > 1) {
      finding.facts.push_back({FactKind::within_stage, balanced_inside, balanced_stages, 0, 0, {}});
    }
  }
  if (mean(base.spread) > kLeastShare * context.mean_step()) {
    finding.facts.push_back(
        {FactKind::microbatch_spread, mean(base.spread), context.spread_sigma, 0, 0, {}});
  }
  context.found.push_back(std::move(candidate));
}

}  // namespace mfu::diagnosis
