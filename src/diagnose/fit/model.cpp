#include "diagnose/fit/model.hpp"

#include <algorithm>

#include "statistics/robust.hpp"

namespace mfu::diagnosis {

StepModel::StepModel(const Job& job, const Attribution& attribution, PipelineForm& form)
    : job_(job),
      attribution_(attribution),
      form_(form),
      compute_(job.ranks()),
      own_stall_(job.ranks()),
      pipeline_stall_(static_cast<std::size_t>(job.pipelines())) {
  measured_.common_stall = attribution.common_stall;
  measured_.transfer = attribution.transfer;
  measured_.inner = attribution.inner;
  measured_.link.assign(job.steps(), 0.0);
  measured_.spread.assign(job.steps(), 0.0);
  settle();
}

void StepModel::settle() {
  unexplained_.assign(job_.steps(), 0.0);
  overshoot_.assign(job_.steps(), 0.0);
  for (std::size_t s = 0; s < job_.steps(); ++s) {
    const double rest = job_.step_seconds()[s] - model_step(measured_, s);
    unexplained_[s] = std::max(0.0, rest);
    overshoot_[s] = std::max(0.0, -rest);
  }
}

std::span<const double> StepModel::compute_row(const Scenario& scenario, std::size_t step) {
  const auto measured = job_.compute(step);
  std::copy(measured.begin(), measured.end(), compute_.begin());
  for (const RowEdit& edit : scenario.compute) edit(step, compute_);
  return compute_;
}

std::span<const double> StepModel::own_stall_row(const Scenario& scenario, std::size_t step) {
  if (attribution_.stall == StallMeaning::own) {
    const auto measured = job_.stall(step);
    std::copy(measured.begin(), measured.end(), own_stall_.begin());
  } else {
    std::fill(own_stall_.begin(), own_stall_.end(), 0.0);
  }
  for (const RowEdit& edit : scenario.own_stall) edit(step, own_stall_);
  return own_stall_;
}

double StepModel::shown_transfer(std::size_t step, std::span<const double> compute,
                                 std::span<const double> stalls, double longest) {
  if (attribution_.hidden.empty() || !(attribution_.hidden[step] > 0.0)) return 0.0;
  // As measured the slowest hides all of it; one that is as slow as the usual rank hides nothing.
  const auto was = job_.compute(step);
  const auto stalled = job_.stall(step);
  const bool own = attribution_.stall == StallMeaning::own;
  double slowest = 0.0;
  usual_.clear();
  for (std::size_t r = 0; r < was.size(); ++r) {
    slowest = std::max(slowest, was[r] + (own ? stalled[r] : 0.0));
    usual_.push_back(compute[r] + stalls[r]);
  }
  const double usual = median_inplace(usual_);
  if (!(slowest > usual)) return 0.0;
  const double still = std::clamp((longest - usual) / (slowest - usual), 0.0, 1.0);
  return attribution_.hidden[step] * (1.0 - still);
}

double StepModel::model_step(const Scenario& scenario, std::size_t step) {
  const auto stalls = own_stall_row(scenario, step);
  const auto compute = compute_row(scenario, step);
  const double tail = scenario.common_stall[step] + scenario.transfer[step] + scenario.link[step];
  if (job_.stages() == 1) {
    double longest = 0.0;
    for (std::size_t r = 0; r < compute.size(); ++r) {
      longest = std::max(longest, compute[r] + stalls[r]);
    }
    return longest + shown_transfer(step, compute, stalls, longest) + scenario.spread[step] + tail;
  }
  std::fill(pipeline_stall_.begin(), pipeline_stall_.end(), 0.0);
  for (std::size_t r = 0; r < stalls.size(); ++r) {
    double& cell = pipeline_stall_[static_cast<std::size_t>(job_.pipeline_of(r))];
    cell = std::max(cell, stalls[r]);
  }
  const double inner = std::min(scenario.inner[step], scenario.transfer[step]);
  const auto times = form_.times(compute, inner);
  double longest = 0.0;
  for (std::size_t d = 0; d < times.size(); ++d) {
    longest = std::max(longest, times[d] + pipeline_stall_[d]);
  }
  return longest + scenario.spread[step] + tail - inner;
}

std::vector<double> StepModel::steps_under(const Scenario& scenario) {
  std::vector<double> result(job_.steps());
  for (std::size_t s = 0; s < job_.steps(); ++s) {
    result[s] = model_step(scenario, s) + unexplained_[s];
  }
  return result;
}

}  // namespace mfu::diagnosis
