// Rules on every GPU alike: compute that slows down over the run, and kernels below the target.
#include <algorithm>
#include <cmath>

#include "diagnose/devices/health.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/setup.hpp"
#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"
#include "timings/device_health.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kLeastRise = 0.03;         // of the level before
constexpr double kBurstFloor = 0.05;        // of the step
constexpr double kLeastDriftShare = 0.005;  // of the step
constexpr double kUsual = 0.1;              // quantile over the steps of a level that can rise
constexpr double kLowClocks = 0.95;         // of the clock that the peak means

std::vector<double> median_levels(RuleContext& context) {
  std::vector<double> levels;
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    levels.push_back(median(context.model.compute_row(context.local_fixed, s)));
  }
  return levels;
}

// What all ranks share: in each step the ranks over each one's own usual, of which a quarter is no
// slower. Stages that get heavier, or ranks that are slow from some step on, are not all.
std::vector<double> shared_levels(RuleContext& context) {
  const Job& job = context.job();
  Column rows(job.steps(), job.ranks());
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = context.model.compute_row(context.local_fixed, s);
    std::copy(row.begin(), row.end(), rows.row(s).begin());
  }
  std::vector<double> usual;
  std::vector<double> series(job.steps());
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    for (std::size_t s = 0; s < job.steps(); ++s) series[s] = rows.at(s, r);
    usual.push_back(quantile(series, kUsual));
  }
  const double level = median(usual);
  std::vector<double> levels;
  std::vector<double> ratios;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    ratios.clear();
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      if (usual[r] > 0.0) ratios.push_back(rows.at(s, r) / usual[r]);
    }
    levels.push_back(ratios.empty() ? 0.0 : level * lower_quartile_inplace(ratios));
  }
  return levels;
}

// A drift starts from its first steps: the first fifth has drifted already. The lowest short window
// of that fifth, since a last slow step of the warm-up may stand before it.
double level_at_start(std::span<const double> levels) {
  const std::size_t window = std::min(levels.size(), std::max<std::size_t>(3, levels.size() / 20));
  const std::size_t end = std::max(levels.size() / 5, window);
  double lowest = mean(levels.first(window));
  for (std::size_t i = 1; i + window <= end; ++i) {
    lowest = std::min(lowest, mean(levels.subspan(i, window)));
  }
  return lowest;
}

// Compute of all ranks scaled so that its level in step s becomes `level[s]`.
RowEdit at_level(std::vector<double> factor) {
  return [factor = std::move(factor)](std::size_t s, std::span<double> row) {
    for (double& value : row) value *= factor[s];
  };
}

}  // namespace

void find_slowdown(RuleContext& context) {
  const Job& job = context.job();
  const std::vector<double> levels = shared_levels(context);
  const double floor_level = quantile(levels, 0.1);
  std::vector<double> above;
  for (const double level : levels) above.push_back(std::max(0.0, level - floor_level));
  Course course = course_of(above, context.step_ids);

  Candidate candidate = context.candidate(Family::single_gpu_efficiency, Locality::all);
  Finding& finding = candidate.finding;
  std::vector<double> factor(levels.size(), 1.0);
  const bool rises =
      (course.persistence == Persistence::onset || course.persistence == Persistence::drift) &&
      course.after - course.before > kLeastRise * (floor_level + course.before);
  if (rises) {
    course.before = course.onset ? floor_level + course.before : level_at_start(levels);
    course.after += floor_level;
    const double before = course.before;
    finding.facts.emplace_back(FactKind::slowdown, before, course.after);
    context.follow(candidate, course);
    add_clock_course(job, finding);
    for (std::size_t s = 0; s < levels.size(); ++s) {
      if (levels[s] > before) factor[s] = before / levels[s];
    }
  } else {
    BurstSplit split = split_bursts(levels, kBurstFloor * context.mean_step());
    if (split.on_count == 0) split = split_modes(levels);
    if (split.on_count == 0) return;
    context.follow(candidate, course_of_bursts(split, context.step_ids), split.mean_excess());
    for (std::size_t s = 0; s < levels.size(); ++s) {
      if (split.on[s]) factor[s] = split.level / levels[s];
    }
  }
  candidate.fix = [edit = at_level(std::move(factor))](Scenario& scenario) {
    scenario.compute.push_back(edit);
  };
  Scenario alone = context.model.measured();
  candidate.fix(alone);
  candidate.loss = context.loss_under(alone);
  if (mean(candidate.loss) < kLeastDriftShare * context.mean_step()) return;
  context.found.push_back(std::move(candidate));
}

void find_low_efficiency(RuleContext& context) {
  const Setup& setup = context.setup;
  const Job& job = context.job();
  const bool judged = setup.flops_per_step && setup.peak_flops_per_gpu;
  const double level = mean(median_levels(context));
  const double efficiency = judged ? *setup.flops_per_step / (static_cast<double>(setup.gpus) *
                                                              *setup.peak_flops_per_gpu * level)
                                   : 0.0;
  const double target = context.options.target_efficiency;
  const auto book = [&](Cause cause, Fact fact, double share) {
    Candidate candidate = context.candidate(Family::single_gpu_efficiency, Locality::all);
    candidate.on.assign(job.steps(), true);
    Finding& finding = candidate.finding;
    finding.persistence = Persistence::steady;
    finding.cause = cause;
    finding.facts.push_back(std::move(fact));
    candidate.fix = [edit = at_level(std::vector<double>(job.steps(), share))](Scenario& scenario) {
      scenario.compute.push_back(edit);
    };
    Scenario alone = context.model.measured();
    candidate.fix(alone);
    candidate.loss = context.loss_under(alone);
    context.found.push_back(std::move(candidate));
  };
  const auto efficiency_fact = [&](double reached, bool at_clock) {
    return Fact{FactKind::efficiency, reached, target, at_clock ? 1 : 0, 0, {}};
  };
  // Kernels are judged at the clock that they ran at, where it is known: a clock that is held down
  // is not their fault.
  const auto clocks = clock_factor(job.run(), setup);
  const double kernels = efficiency / clocks.value_or(1.0);
  if (judged && kernels < target) {
    book(Cause::kernels, efficiency_fact(kernels, clocks.has_value()), kernels / target);
  }
  if (!clocks || *clocks >= kLowClocks) return;
  const auto cause = low_clock_cause(job.run(), setup);
  if (!cause) return;
  if (judged && efficiency < target) {
    book(*cause, efficiency_fact(efficiency, false), *clocks);
    return;
  }
  // Above the target, or with unknown work, a clock counts where something is seen to hold it down.
  if ((*cause != Cause::thermal && *cause != Cause::power) || *clocks >= limits::kHeldDown) return;
  const double observed = *job_clock_mhz(job.run());
  book(*cause, {FactKind::clocks, observed, observed / *clocks, 0, 0, "on the median rank"},
       *clocks);
}

}  // namespace mfu::diagnosis
