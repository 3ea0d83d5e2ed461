// Pipeline schedules as the training frameworks run them: which stage does what in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mfu/timings.hpp"

namespace mfu::diagnosis {

// One step of one pipeline, replayed operation by operation:
//   1f1b         Narayanan et al. 2019 (PipeDream-flush): stage p runs P - p forwards ahead, then
//                alternates, then drains
//   interleaved  Narayanan et al. 2021, section 2.2: several model chunks a stage, microbatches in
//                groups of P; 2 (P - p - 1) + (chunks - 1) P forwards ahead
//   gpipe        Huang et al. 2019: all forwards, then all backwards
// Transfers between stages take no time here; they are accounted elsewhere.
class Schedule {
 public:
  // Nothing where the schedule cannot be built: interleaved with microbatches that the stages do
  // not divide, or more operations than are worth replaying.
  static std::optional<Schedule> build(PipelineSchedule kind, int stages, int microbatches,
                                       int chunks);

  // Seconds until the last operation ends. `compute`: seconds of each stage in the whole step;
  // `forward_share`: of it, by stage; `weight`: of each microbatch, mean 1, or empty for even ones.
  double replay(std::span<const double> compute, std::span<const double> forward_share,
                std::span<const double> weight);

 private:
  struct Operation {
    std::int32_t stage;
    std::int32_t microbatch;
    std::int32_t after;  // index of the operation whose result it needs; -1: none
    bool forward;
  };
  std::vector<Operation> operations_;  // in an order in which every need is met before
  std::size_t stages_ = 1;
  double pieces_ = 1.0;  // microbatches x chunks: operations of a stage and direction
  std::vector<double> ends_, free_at_, forward_seconds_, backward_seconds_;
};

}  // namespace mfu::diagnosis
