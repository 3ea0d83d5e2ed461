// One step of a synchronous job, event by event: 1F1B (or GPipe) in every pipeline, lock-step tp or
// ep groups, gradient reduction per dp group, a collective over all ranks, the optimizer.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "faults/job/layout.hpp"

namespace mfu::faults {

constexpr std::size_t index(int value) { return static_cast<std::size_t>(value); }

enum class CommKind { lockstep, p2p, dp, world };
inline constexpr std::size_t kCommKinds = 4;

// What a step meets, in seconds.
struct StepInputs {
  int microbatches = 1;
  bool gpipe = false;
  std::vector<double> forward;            // [rank x microbatches]
  std::vector<double> backward;           // [rank x microbatches]
  std::vector<double> optimizer;          // [rank]
  std::vector<double> stall_before;       // [rank] input, host
  std::vector<double> pause;              // [rank] own stall in mid-step ...
  std::vector<int> pause_chunk;           // [rank] ... before this chunk (0 .. 2 m - 1)
  std::vector<double> stall_after;        // [rank] checkpoint; a barrier follows where any is > 0
  std::vector<double> lockstep_transfer;  // [unit] after each chunk
  std::vector<double> dp_transfer;        // [dp group]
  double p2p_transfer = 0.0;
  double world_transfer = 0.0;

  void resize(const Layout& layout, int microbatch_count);
};

struct RankStep {
  double forward = 0.0;
  double backward = 0.0;
  double compute = 0.0;  // forward + backward + optimizer
  double own_stall = 0.0;
  std::array<double, kCommKinds> transfer{};
  std::array<double, kCommKinds> wait{};
  double begin = 0.0;
  double end = 0.0;
};

// clock: when each rank is free; moved on to the end of the step.
void run_step(const Layout& layout, const StepInputs& inputs, std::vector<double>& clock,
              std::vector<RankStep>& out);

}  // namespace mfu::faults
