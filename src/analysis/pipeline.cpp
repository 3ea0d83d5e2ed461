#include "analysis/pipeline.hpp"

#include <algorithm>
#include <deque>

namespace mfu::analysis {

PipelineForm::PipelineForm(const Job& job)
    : job_(job),
      stage_compute_(static_cast<std::size_t>(job.pipelines() * job.stages())),
      times_(static_cast<std::size_t>(job.pipelines())) {}

std::span<const double> PipelineForm::times(std::span<const double> compute) {
  const auto stages = static_cast<std::size_t>(job_.stages());
  std::fill(stage_compute_.begin(), stage_compute_.end(), 0.0);
  for (std::size_t r = 0; r < compute.size(); ++r) {
    // Peers inside a stage of a pipeline (tensor parallel ...) run in lock-step: the slowest
    // counts.
    double& cell = stage_compute_[static_cast<std::size_t>(job_.pipeline_of(r)) * stages +
                                  static_cast<std::size_t>(job_.stage_of(r))];
    cell = std::max(cell, compute[r]);
  }
  const double chunks = job_.microbatch_chunks();
  for (std::size_t d = 0; d < times_.size(); ++d) {
    double total = 0.0;
    double largest = 0.0;
    for (std::size_t p = 0; p < stages; ++p) {
      const double c = stage_compute_[d * stages + p];
      total += c;
      largest = std::max(largest, c);
    }
    times_[d] = chunks > 0.0 ? largest + (total - largest) / chunks : largest;
  }
  return times_;
}

double PipelineForm::slowest(std::span<const double> compute) {
  const auto all = times(compute);
  return *std::max_element(all.begin(), all.end());
}

double replay_1f1b(std::span<const double> stage_compute, std::span<const double> weights) {
  const std::size_t stages = stage_compute.size();
  const std::size_t count = weights.size();
  if (stages == 0 || count == 0) return 0.0;
  constexpr double kForwardShare = 1.0 / 3.0;
  const double scale = 1.0 / static_cast<double>(count);
  std::vector<std::vector<double>> forward_end(stages, std::vector<double>(count, -1.0));
  std::vector<std::vector<double>> backward_end(stages, std::vector<double>(count, -1.0));
  std::vector<double> free_at(stages, 0.0);
  std::vector<std::size_t> next_forward(stages, 0);
  std::vector<std::size_t> next_backward(stages, 0);
  // Each stage runs (stages - 1 - p) forwards ahead, then alternates, then drains. A stage that
  // waits for its neighbour is tried again in the next sweep; each sweep runs at least one
  // operation.
  std::size_t left = 2 * stages * count;
  while (left > 0) {
    for (std::size_t p = 0; p < stages; ++p) {
      for (;;) {
        const std::size_t ahead = std::min(count, stages - p);
        const bool forward = next_forward[p] < count && next_forward[p] - next_backward[p] < ahead;
        if (forward) {
          const std::size_t i = next_forward[p];
          const double ready = p == 0 ? 0.0 : forward_end[p - 1][i];
          if (ready < 0.0) break;
          free_at[p] =
              std::max(free_at[p], ready) + stage_compute[p] * weights[i] * scale * kForwardShare;
          forward_end[p][i] = free_at[p];
          ++next_forward[p];
        } else {
          const std::size_t i = next_backward[p];
          if (i >= count) break;
          const double ready = p + 1 == stages ? forward_end[p][i] : backward_end[p + 1][i];
          if (ready < 0.0) break;
          free_at[p] = std::max(free_at[p], ready) +
                       stage_compute[p] * weights[i] * scale * (1.0 - kForwardShare);
          backward_end[p][i] = free_at[p];
          ++next_backward[p];
        }
        --left;
      }
    }
  }
  return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace mfu::analysis
