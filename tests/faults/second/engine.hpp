// The clocks of all ranks within one step, and what ran when.
#pragma once

#include <vector>

#include "simulate.hpp"

namespace second {

class Engine {
 public:
  Engine(const Setting& setting, const Effects& effects);

  void begin_step(int step);
  // All ranks have ended the step: its account goes into row `step` of the timeline.
  void end_step(Timeline& timeline);

  // Launches kernels of `work_s` that need what is there at `ready`; returns when they end.
  double kernel(int rank, double ready, double work_s, double launch_s, bool backward);
  void pause(int rank);  // the host's pause of this step, if it has one
  // A collective of `members`: comes to it at ready[rank], leaves it at ready[rank] (changed).
  void meet(const std::vector<int>& members, Axis axis, double transfer_s,
            std::vector<double>& ready);
  // What one rank receives from another that has it at `sent`; returns when it is there.
  double receive(int rank, int from, double ready, double sent, double transfer_s, Axis axis);

  std::vector<double> now;      // [rank] end of the last step
  std::vector<double> host;     // [rank] when the host can launch next
  std::vector<double> compute;  // [rank] when the compute stream is free

 private:
  struct Span {
    double begin, end;
  };
  struct Exchange {
    double ready, start, end;  // own arrival, the last one's, the end
    Axis axis;
  };
  double slowest_link(const std::vector<int>& members) const;
  double link_between(int rank, int other) const;
  void account(int rank, Cell& cell);

  const Setting& setting_;
  const Effects& effects_;
  Noise device_, pass_, transfer_, fetch_;
  int step_ = 0;
  int transfers_ = 0;               // of this step so far: the noise's address
  std::vector<double> begin_;       // [rank]
  std::vector<double> forward_s_;   // [rank] factor of this step
  std::vector<double> backward_s_;  // [rank]
  std::vector<double> lasting_;     // [rank] factor of the device
  std::vector<std::vector<Span>> kernels_;
  std::vector<std::vector<Exchange>> exchanges_;
  std::vector<double> ran_forward_, ran_backward_;
};

void run_flat(const Setting& setting, const Effects& effects, Engine& engine, int step);

// The order of work in a pipeline, worked out once for all steps.
struct PipelineOp {
  int stage, chunk, microbatch;
  bool backward;
};
std::vector<PipelineOp> pipeline_order(int stages, int chunks, int microbatches);
void run_pipeline(const Setting& setting, const Effects& effects,
                  const std::vector<PipelineOp>& order, Engine& engine, int step);

}  // namespace second
