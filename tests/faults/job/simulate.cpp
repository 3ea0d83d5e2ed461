// Runs a job with its faults, and again without them: the second run is the truth about the first.
#include <algorithm>
#include <cmath>
#include <vector>

#include "faults/job/load.hpp"
#include "faults/job/spec.hpp"
#include "faults/job/truth.hpp"
#include "faults/written/record.hpp"
#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

// DiagnoseOptions::target_efficiency, its default.
constexpr double kTargetEfficiency = 0.45;

std::vector<bool> all_present(const JobSpec& spec) {
  return std::vector<bool>(spec.faults.size(), true);
}

// Mean over ranks and over the steps after the warm-up.
double mean_step(const JobSpec& spec, const std::vector<bool>& present, int steps) {
  const Load load(spec, present);
  StepInputs inputs;
  std::vector<double> clock(static_cast<std::size_t>(spec.layout.ranks()), 0.0);
  std::vector<RankStep> split(clock.size());
  Sum total;
  int counted = 0;
  for (int step = spec.noise.warmup_steps; step < steps; ++step) {
    load.fill(step, inputs);
    run_step(spec.layout, inputs, clock, split);
    for (const RankStep& rank : split) total.add(rank.end - rank.begin);
    ++counted;
  }
  return total.value() / static_cast<double>(clock.size()) /
         static_cast<double>(std::max(1, counted));
}

// FLOPs and seconds belong together: either the efficiency gives the FLOPs, or the FLOPs the pace.
void settle_work(JobSpec& spec) {
  const double ranks = static_cast<double>(spec.layout.ranks());
  const double per_second = spec.efficiency * ranks * spec.peak_flops;
  const Load load(spec, all_present(spec));
  if (spec.flops_per_step > 0.0) {
    spec.pace.forward_seconds *= spec.flops_per_step / per_second / load.healthy_compute();
  } else {
    spec.flops_per_step = per_second * load.healthy_compute() * load.mean_work();
  }
}

bool needs_all_steps(const JobSpec& spec) {
  for (const Fault& fault : spec.faults) {
    if (fault.when != When::always || fault.kind == FaultKind::gc_pauses ||
        fault.kind == FaultKind::thermal || fault.kind == FaultKind::thermal_rank) {
      return true;
    }
  }
  return false;
}

}  // namespace

Job simulate(const JobSpec& spec) {
  Job job;
  job.spec = spec;
  settle_work(job.spec);
  const Load load(job.spec, all_present(job.spec));
  Recorder recorder(job.spec);
  StepInputs inputs;
  std::vector<double> clock(static_cast<std::size_t>(spec.layout.ranks()), 0.0);
  std::vector<RankStep> split(clock.size());
  Sum total;
  for (int step = 0; step < spec.steps; ++step) {
    load.fill(step, inputs);
    run_step(spec.layout, inputs, clock, split);
    recorder.add(step, split, load);
    if (step < spec.noise.warmup_steps) continue;
    for (const RankStep& rank : split) total.add(rank.end - rank.begin);
  }
  job.run = recorder.finish();

  job.truth = describe_truth(job.spec);
  const int counted = std::max(1, spec.steps - spec.noise.warmup_steps);
  job.truth.step_seconds =
      total.value() / static_cast<double>(clock.size()) / static_cast<double>(counted);
  job.truth.fixed_step_seconds = job.truth.step_seconds;
  job.truth.clean_step_seconds = job.truth.step_seconds;
  if (!spec.faults.empty()) {
    std::vector<bool> present = all_present(job.spec);
    JobSpec fixed = job.spec;
    if (spec.faults[0].kind == FaultKind::slow_kernels) {
      // Nobody can fix kernels beyond what is asked of them.
      fixed.faults[0].size = spec.efficiency / kTargetEfficiency - 1.0;
    } else {
      present[0] = false;
    }
    job.truth.fixed_step_seconds = mean_step(fixed, present, spec.steps);
    present.assign(present.size(), false);
    job.truth.clean_step_seconds = mean_step(job.spec, present, spec.steps);
  }
  job.truth.loss_share = 1.0 - job.truth.fixed_step_seconds / job.truth.step_seconds;
  judge_size(job.spec, job.truth);
  return job;
}

JobSpec calibrated(JobSpec spec, double loss_share) {
  const double wanted = loss_share / (1.0 - loss_share);
  // Steady faults are measured on a few steps; bursts and drifts only show over the whole run.
  const int steps =
      needs_all_steps(spec) ? spec.steps : std::min(spec.steps, spec.noise.warmup_steps + 8);
  std::vector<bool> absent = all_present(spec);
  absent[0] = false;
  double low = 0.0;
  double high = 0.0;  // 0: not bracketed
  for (int round = 0; round < 8; ++round) {
    const double with = mean_step(spec, all_present(spec), steps);
    const double without = mean_step(spec, absent, steps);
    const double extra = with / without - 1.0;
    if (std::fabs(extra - wanted) < 0.04 * wanted) break;
    const double size = spec.faults[0].size;
    if (extra < wanted) {
      low = size;
    } else {
      high = size;
    }
    double next = size * std::clamp(wanted / std::max(extra, 1e-6), 0.2, 4.0);
    if (high > 0.0 && (next >= high || next <= low)) next = 0.5 * (low + high);
    spec.faults[0].size = next;
  }
  return spec;
}

}  // namespace mfu::faults
