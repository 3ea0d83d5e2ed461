// The time that a pipeline of stages needs for the compute of its stages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "diagnose/fit/job.hpp"
#include "diagnose/fit/schedule.hpp"

namespace mfu::diagnosis {

// PF: the schedule replayed operation by operation with even microbatches. Where it cannot be
// replayed, the closed form, which is exact for GPipe and an upper bound for 1F1B: with c_p the
// compute of stage p and k = microbatches x model chunks a rank,
//   PF = max_p c_p + (sum_p c_p - max_p c_p) / k
// For even stages both give c (k + P - 1) / k: the bubble of (P - 1) / (k + P - 1) of Narayanan et
// al. 2021, section 2.2. Where k is not known the bubble cannot be told and PF = max_p c_p.
class PipelineForm {
 public:
  explicit PipelineForm(const Job& job);  // which must outlive it
  explicit PipelineForm(const Job&& job) = delete;

  // Seconds of each pipeline for one step's compute, one value a rank in `compute`, to each of
  // which `inner` seconds of lock-step transfer are added. A pipeline whose stage was not recorded
  // counts the stages that were. The span is valid until the next call.
  std::span<const double> times(std::span<const double> compute, double inner = 0.0);

  // The slowest pipeline.
  double slowest(std::span<const double> compute, double inner = 0.0);

  // Forward's share of the compute of a stage; a third where the file does not split compute.
  [[nodiscard]] double forward_share(int stage) const {
    return forward_share_[static_cast<std::size_t>(stage)];
  }

  // Is the schedule replayed, so that uneven microbatches can be?
  [[nodiscard]] bool replays() const noexcept { return schedule_.has_value(); }

  // One pipeline with these stages and microbatch weights (mean 1); even weights where empty.
  double one(std::span<const double> stage_compute, std::span<const double> weight);

 private:
  [[nodiscard]] double closed_form(std::span<const double> stages) const;

  const Job& job_;
  std::optional<Schedule> schedule_;
  std::vector<double> forward_share_;  // by stage
  std::vector<double> stage_compute_;  // pipelines x stages
  std::vector<double> times_;
};

}  // namespace mfu::diagnosis
