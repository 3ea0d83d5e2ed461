#include "diagnose/fit/pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kForwardShare = 1.0 / 3.0;  // where the file does not split compute

}  // namespace

PipelineForm::PipelineForm(const Job& job)
    : job_(job),
      forward_share_(static_cast<std::size_t>(job.stages()), kForwardShare),
      stage_compute_(static_cast<std::size_t>(job.pipelines() * job.stages())),
      times_(static_cast<std::size_t>(job.pipelines())) {
  const RunTimings& run = job.run();
  if (job.stages() < 2) return;
  if (run.workload.microbatches) {
    schedule_ =
        Schedule::build(run.workload.pipeline_schedule, job.stages(), *run.workload.microbatches,
                        std::max(1, run.workload.virtual_stages));
  }
  if (run.forward.empty() || run.backward.empty()) return;
  for (std::size_t p = 0; p < forward_share_.size(); ++p) {
    Sum forward;
    Sum both;
    for (const std::size_t r : job.stage_ranks()[p]) {
      for (std::size_t s = 0; s < job.steps(); ++s) {
        const double f = job.raw(run.forward, s)[r];
        const double b = job.raw(run.backward, s)[r];
        if (std::isnan(f) || std::isnan(b)) continue;
        forward.add(f);
        both.add(f + b);
      }
    }
    if (both.value() > 0.0) forward_share_[p] = forward.value() / both.value();
  }
}

double PipelineForm::closed_form(std::span<const double> stages) const {
  double total = 0.0;
  double largest = 0.0;
  for (const double c : stages) {
    total += c;
    largest = std::max(largest, c);
  }
  const double chunks = job_.microbatch_chunks();
  return chunks > 0.0 ? largest + (total - largest) / chunks : largest;
}

std::span<const double> PipelineForm::times(std::span<const double> compute, double inner) {
  const auto stages = static_cast<std::size_t>(job_.stages());
  std::fill(stage_compute_.begin(), stage_compute_.end(), 0.0);
  for (std::size_t r = 0; r < compute.size(); ++r) {
    // Peers inside a stage of a pipeline (tensor parallel ...) run in lock-step: the slowest
    // counts.
    double& cell = stage_compute_[static_cast<std::size_t>(job_.pipeline_of(r)) * stages +
                                  static_cast<std::size_t>(job_.stage_of(r))];
    cell = std::max(cell, compute[r] + inner);
  }
  for (std::size_t d = 0; d < times_.size(); ++d) {
    const std::span<const double> row(stage_compute_.data() + d * stages, stages);
    times_[d] = schedule_ ? schedule_->replay(row, forward_share_, {}) : closed_form(row);
  }
  return times_;
}

double PipelineForm::slowest(std::span<const double> compute, double inner) {
  const auto all = times(compute, inner);
  return *std::max_element(all.begin(), all.end());
}

double PipelineForm::one(std::span<const double> stage_compute, std::span<const double> weight) {
  return schedule_ ? schedule_->replay(stage_compute, forward_share_, weight)
                   : closed_form(stage_compute);
}

}  // namespace mfu::diagnosis
