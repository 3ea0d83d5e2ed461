// The time that a pipeline of stages needs for the compute of its stages.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/job.hpp"

namespace mfu::analysis {

// Closed form of the 1F1B and GPipe schedules (both have the same bubble). With c_p the compute of
// stage p in the step and k = microbatches x model chunks a rank:
//   PF = max_p c_p + (sum_p c_p - max_p c_p) / k
// For even stages this is c (k + p - 1) / k: the bubble of (p - 1) / (k + p - 1) that Megatron's
// papers give (Narayanan et al. 2021, section 2.2; interleaved: divided by the chunks a rank).
// Where k is not known the bubble cannot be told and PF = max_p c_p.
class PipelineForm {
 public:
  explicit PipelineForm(const Job& job);

  // Seconds of each pipeline for one step's compute, one value a rank in `compute`. A pipeline
  // whose stage was not recorded counts the stages that were. The span is valid until the next
  // call.
  std::span<const double> times(std::span<const double> compute);

  // The slowest pipeline.
  double slowest(std::span<const double> compute);

 private:
  const Job& job_;
  std::vector<double> stage_compute_;  // pipelines x stages
  std::vector<double> times_;
};

// One 1F1B step of a single pipeline, event by event: microbatch i costs compute[p] x weight[i] on
// stage p, a third of it forward. Returns the seconds until the last backward is done.
// O(stages x microbatches).
double replay_1f1b(std::span<const double> stage_compute, std::span<const double> weights);

}  // namespace mfu::analysis
