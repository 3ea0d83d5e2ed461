// What a recorder writes down of a simulated job: the buckets of mfu.run/1, as the spec asks.
#pragma once

#include <vector>

#include "faults/job/load.hpp"
#include "faults/job/spec.hpp"
#include "faults/job/step_model.hpp"
#include "mfu/timings.hpp"

namespace mfu::faults {

class Recorder {
 public:
  explicit Recorder(const JobSpec& spec);  // which must outlive it
  explicit Recorder(const JobSpec&& spec) = delete;
  void add(int step, const std::vector<RankStep>& ranks, const Load& load);
  [[nodiscard]] RunTimings finish();

 private:
  void describe();

  const JobSpec& spec_;
  std::vector<int> recorded_;  // ranks of the job, ascending
  RunTimings run_;
};

// The ranks that are recorded, ascending.
[[nodiscard]] std::vector<int> recorded_ranks(const JobSpec& spec);

}  // namespace mfu::faults
