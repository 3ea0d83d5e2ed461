// Rules on every GPU alike: compute that slows down over the run, and kernels below the target.
#include <algorithm>
#include <cmath>
#include <limits>

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
constexpr double kClockDrop = 0.02;
constexpr double kLowClocks = 0.95;  // of the clock that the peak means

std::vector<double> compute_levels(RuleContext& context) {
  std::vector<double> levels;
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    levels.push_back(median(context.model.compute_row(context.local_fixed, s)));
  }
  return levels;
}

// Of a pipeline, what all of its stages share: some stages that get heavier are not all ranks.
std::vector<double> levels_of_all_stages(RuleContext& context) {
  const Job& job = context.job();
  std::vector<double> levels = compute_levels(context);
  if (job.stages() < 2) return levels;
  const double usual = quantile(levels, kUsual);
  std::vector<double> least(job.steps(), std::numeric_limits<double>::infinity());
  std::vector<double> stage(job.steps());
  std::vector<double> peers;
  for (const auto& ranks : job.stage_ranks()) {
    if (ranks.empty()) continue;
    for (std::size_t s = 0; s < job.steps(); ++s) {
      const auto row = context.model.compute_row(context.local_fixed, s);
      peers.clear();
      for (const std::size_t r : ranks) peers.push_back(row[r]);
      stage[s] = median_inplace(peers);
    }
    const double own = quantile(stage, kUsual);
    if (!(own > 0.0)) continue;
    for (std::size_t s = 0; s < job.steps(); ++s) least[s] = std::min(least[s], stage[s] / own);
  }
  for (std::size_t s = 0; s < job.steps(); ++s) levels[s] = std::min(levels[s], usual * least[s]);
  return levels;
}

// Of the ranks that are not slow by themselves: where many are, from some step on, the median of
// all would rise with them.
std::vector<double> even_levels(RuleContext& context) {
  if (!context.uneven) return levels_of_all_stages(context);
  std::vector<double> levels;
  std::vector<double> even;
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    const auto row = context.model.compute_row(context.local_fixed, s);
    even.clear();
    for (std::size_t r = 0; r < row.size(); ++r) {
      if (!context.uneven->place.holds[r]) even.push_back(row[r]);
    }
    levels.push_back(even.empty() ? median(row) : median_inplace(even));
  }
  return levels;
}

// Median over the ranks of a per-step telemetry series, over the first and the last fifth of the
// steps used; nothing where the file has one value for the run, or none.
std::optional<std::pair<double, double>> ends_of(const Job& job,
                                                 std::vector<double> RankTelemetry::*series) {
  const std::size_t n = job.run().steps.size();
  std::vector<double> first;
  std::vector<double> last;
  for (const RankInfo& info : job.run().ranks) {
    const std::vector<double>& values = info.telemetry.*series;
    if (values.size() != n || n < 5) continue;
    const std::size_t fifth = n / 5;
    for (std::size_t i = 0; i < fifth; ++i) {
      if (!std::isnan(values[i])) first.push_back(values[i]);
      if (!std::isnan(values[n - 1 - i])) last.push_back(values[n - 1 - i]);
    }
  }
  if (first.empty() || last.empty()) return std::nullopt;
  return std::pair{median_inplace(first), median_inplace(last)};
}

void add_clock_evidence(const Job& job, Finding& finding) {
  const auto clocks = ends_of(job, &RankTelemetry::sm_clock_mhz);
  if (!clocks) return;
  finding.facts.push_back({FactKind::clocks, clocks->second, clocks->first, 0, 0, "over the run"});
  if (clocks->second > (1.0 - kClockDrop) * clocks->first) return;
  const auto heat = ends_of(job, &RankTelemetry::temperature_c);
  bool power = false;
  bool thermal = heat && heat->second > heat->first + 3.0;
  for (const RankInfo& info : job.run().ranks) {
    for (const std::string& text : info.telemetry.throttle_reasons) {
      const auto reason = throttle_reason_of(text);
      power = power || (reason && is_power(*reason));
      thermal = thermal || (reason && is_thermal(*reason));
    }
  }
  if (thermal) {
    finding.cause = Cause::thermal;
  } else if (power) {
    finding.cause = Cause::power;
  }
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
  const std::vector<double> levels = even_levels(context);
  const double floor_level = quantile(levels, 0.1);
  std::vector<double> above;
  for (const double level : levels) above.push_back(std::max(0.0, level - floor_level));
  const Course course = course_of(above, context.step_ids);

  Candidate candidate;
  candidate.materiality = context.options.materiality;
  Finding& finding = candidate.finding;
  finding.family = Family::single_gpu_efficiency;
  finding.locality = Locality::all;
  std::vector<double> factor(levels.size(), 1.0);
  const bool rises =
      (course.persistence == Persistence::onset || course.persistence == Persistence::drift) &&
      course.after - course.before > kLeastRise * (floor_level + course.before);
  if (rises) {
    const double before = course.onset ? floor_level + course.before : level_at_start(levels);
    finding.persistence = course.persistence;
    if (course.onset) finding.onset_step = context.step_ids[*course.onset];
    finding.facts.push_back({FactKind::slowdown, before, floor_level + course.after, 0, 0, {}});
    if (course.onset) {
      finding.facts.push_back(
          {FactKind::onset, before, floor_level + course.after, *finding.onset_step, 0, {}});
    }
    add_clock_evidence(job, finding);
    for (std::size_t s = 0; s < levels.size(); ++s) {
      if (levels[s] > before) factor[s] = before / levels[s];
    }
    candidate.on = course.on;
  } else {
    BurstSplit split = split_bursts(levels, kBurstFloor * context.mean_step());
    if (split.on_count == 0) split = split_modes(levels);
    if (split.on_count == 0) return;
    finding.persistence = Persistence::bursts;
    finding.period_steps = period_of(split.on, context.step_ids);
    finding.facts.push_back({FactKind::burst_excess,
                             sum(split.excess) / static_cast<double>(split.on_count),
                             finding.period_steps.value_or(0.0),
                             static_cast<std::int64_t>(split.on_count),
                             static_cast<std::int64_t>(job.steps()),
                             {}});
    for (std::size_t s = 0; s < levels.size(); ++s) {
      if (split.on[s]) factor[s] = split.level / levels[s];
    }
    candidate.on = split.on;
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
  const double level = mean(compute_levels(context));
  const double efficiency = judged ? *setup.flops_per_step / (static_cast<double>(setup.gpus) *
                                                              *setup.peak_flops_per_gpu * level)
                                   : 0.0;
  const double target = context.options.target_efficiency;
  const auto book = [&](Cause cause, Fact fact, double share) {
    Candidate candidate;
    candidate.materiality = context.options.materiality;
    candidate.on.assign(job.steps(), true);
    Finding& finding = candidate.finding;
    finding.family = Family::single_gpu_efficiency;
    finding.locality = Locality::all;
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
