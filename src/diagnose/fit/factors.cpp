#include "diagnose/fit/factors.hpp"

#include <algorithm>

#include "diagnose/devices/health.hpp"
#include "statistics/robust.hpp"
#include "timings/trace.hpp"

namespace mfu::diagnosis {

namespace {

// Where half of the ranks are slow the median rank is one of the others.
double reference_of(std::span<const double> row, Reference reference) {
  return reference == Reference::median ? lower_median(row) : mean(row);
}

// Sums over the steps of the terms of the product (see mfu/diagnose.hpp), and the two that split
// balance.
struct Terms {
  double reference = 0.0;      // A0
  double largest_stage = 0.0;  // largest over the stages of the stage's reference compute
  double persistent = 0.0;     // largest over the ranks of the rank's compute
  double balance = 0.0;        // A1
  double own_stall = 0.0;      // A2
  double transfer = 0.0;       // A3
  double schedule = 0.0;       // A3 and the schedule's own bubble
  double step = 0.0;           // A4
};

Terms sum_terms(StepModel& model, Reference reference, std::vector<StepTerms>& by_step) {
  const Job& job = model.job();
  const Scenario& measured = model.measured();
  Sum a0;
  Sum a1;
  Sum a2;
  Sum a3;
  Sum a4;
  Sum bubble;
  std::vector<Sum> rank_totals(job.ranks());
  std::vector<Sum> stage_totals(static_cast<std::size_t>(job.stages()));
  std::vector<double> members;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto compute = job.compute(s);
    const auto stalls = model.own_stall_row(measured, s);
    double with_stall = 0.0;
    for (std::size_t r = 0; r < compute.size(); ++r) {
      rank_totals[r].add(compute[r]);
      with_stall = std::max(with_stall, compute[r] + stalls[r]);
    }
    for (std::size_t p = 0; p < stage_totals.size(); ++p) {
      members.clear();
      for (const std::size_t r : job.stage_ranks()[p]) members.push_back(compute[r]);
      if (!members.empty()) stage_totals[p].add(reference_of(members, reference));
    }
    const double largest = *std::max_element(compute.begin(), compute.end());
    const double inner = std::min(measured.inner[s], measured.transfer[s]);
    StepTerms now;
    now.reference = reference_of(compute, reference);
    now.balance = largest;
    now.own_stall = with_stall + measured.common_stall[s];
    now.transfer = with_stall + measured.common_stall[s] + measured.transfer[s] + measured.link[s];
    const double own_bubble = model.form().slowest(compute, inner) - inner - largest;
    now.bubble = now.transfer + own_bubble;
    now.step = job.step_seconds()[s];
    a0.add(now.reference);
    a1.add(now.balance);
    a2.add(now.own_stall);
    a3.add(now.transfer);
    a4.add(now.step);
    bubble.add(own_bubble);
    by_step.push_back(now);
  }
  Terms terms;
  terms.reference = a0.value();
  for (const Sum& total : stage_totals) {
    terms.largest_stage = std::max(terms.largest_stage, total.value());
  }
  for (const Sum& total : rank_totals) {
    terms.persistent = std::max(terms.persistent, total.value());
  }
  terms.balance = a1.value();
  terms.own_stall = a2.value();
  terms.transfer = a3.value();
  terms.schedule = terms.transfer + bubble.value();
  terms.step = a4.value();
  return terms;
}

}  // namespace

namespace {

// The refusal says what is known about a trace without kernels.
std::string no_compute_text(const RunTimings& run) {
  std::string text = "no rank has any compute time";
  if (!run.trace || run.trace->ranks.size() != 1) return text;
  const TraceRank& rank = run.trace->ranks.front();
  const auto ms = [](double seconds) {
    std::string number = std::to_string(1e3 * seconds);
    return number.substr(0, number.find('.') + 4) + " ms";
  };
  text += ": rank " + std::to_string(rank.rank);
  if (run.trace->world_size) text += " of " + std::to_string(*run.trace->world_size);
  return text + ", " + std::to_string(rank.steps) + " steps of " + ms(rank.in_steps.window_s) +
         " in all, " + ms(rank.in_steps.exposed_comm_s) + " of it communication";
}

}  // namespace

Accounts account(StepModel& model, const Setup& setup) {
  const Job& job = model.job();
  Accounts result;
  const Terms a = sum_terms(model, setup.reference, result.terms);
  if (!(a.balance > 0.0)) {
    throw Error(ErrorKind::insufficient, no_compute_text(job.run()),
                job.run().trace && !job.run().trace->ranks.empty()
                    ? Place{.file = job.run().trace->ranks.front().file}
                    : Place{},
                job.run().trace
                    ? "the traces show no kernel that computes: profile with "
                      "ProfilerActivity.CUDA, and see the notes for what could not be read"
                    : "is the compute series in the right unit, and recorded on the GPU?");
  }
  if (!(a.reference > 0.0)) {
    throw Error(ErrorKind::insufficient, "the median rank has no compute time", {},
                "use --reference mean, or leave the idle ranks out with --ranks");
  }
  if (!(a.step > 0.0)) {
    throw Error(ErrorKind::insufficient, "the steps have no duration");
  }
  const auto steps = static_cast<double>(job.steps());
  const auto factor = [&](FactorId id, double numerator, double denominator) {
    return Factor{id, numerator / denominator, (denominator - numerator) / steps, {}};
  };

  Headline& headline = result.headline;
  headline.step_seconds = a.step / steps;
  headline.usual_step_seconds = median(job.step_seconds());
  headline.p95_seconds = quantile(job.step_seconds(), 0.95);
  headline.parallel_efficiency = a.reference / a.step;
  headline.missing_work = !setup.flops_per_step;
  headline.missing_peak = !setup.peak_flops_per_gpu;
  if (setup.tokens_per_step) {
    headline.tokens_per_second = *setup.tokens_per_step / headline.step_seconds;
  }

  double at_peak = 0.0;  // seconds of the whole run that the model's math takes at peak
  if (setup.flops_per_step && setup.peak_flops_per_gpu) {
    at_peak = *setup.flops_per_step * steps /
              (static_cast<double>(setup.gpus) * *setup.peak_flops_per_gpu);
    headline.mfu = at_peak / a.step;
    headline.impossible = *headline.mfu > 1.0;
    Factor single = factor(FactorId::single_gpu, at_peak, a.reference);
    if (const auto clock = clock_factor(job.run(), setup)) {
      const double at_clock = at_peak / *clock;  // at the peak of the observed clock
      single.parts = {factor(FactorId::clock, at_peak, at_clock),
                      factor(FactorId::kernels, at_clock, a.reference)};
    }
    result.factors.push_back(std::move(single));
  }
  Factor balance = factor(FactorId::balance, a.reference, a.balance);
  Factor persistent = factor(FactorId::persistent, a.reference, a.persistent);
  persistent.parts = {factor(FactorId::stage, a.reference, a.largest_stage),
                      factor(FactorId::within_stage, a.largest_stage, a.persistent)};
  balance.parts = {std::move(persistent), factor(FactorId::moving, a.persistent, a.balance)};
  if (!waits_unknown(job)) result.factors.push_back(std::move(balance));
  result.factors.push_back(factor(FactorId::own_stall, a.balance, a.own_stall));
  result.factors.push_back(factor(FactorId::transfer, a.own_stall, a.transfer));
  Factor dependency = factor(FactorId::dependency, a.transfer, a.step);
  dependency.parts = {factor(FactorId::schedule_bubble, a.transfer, a.schedule),
                      factor(FactorId::dependency_rest, a.schedule, a.step)};
  result.factors.push_back(std::move(dependency));

  const auto part = [&](PartId id, double seconds) {
    result.parts.push_back({id, seconds / steps, seconds / a.step});
  };
  if (headline.mfu) {
    part(PartId::model_math, at_peak);
    part(PartId::kernels_below_peak, a.reference - at_peak);
  } else {
    part(PartId::compute, a.reference);
  }
  if (!waits_unknown(job)) part(PartId::imbalance_wait, a.balance - a.reference);
  part(PartId::own_stall, a.own_stall - a.balance);
  part(PartId::exposed_transfer, a.transfer - a.own_stall);
  part(PartId::pipeline_bubble, a.schedule - a.transfer);
  part(PartId::unattributed, a.step - a.schedule);
  return result;
}

}  // namespace mfu::diagnosis
