// What each step of a job meets: healthy work and noise, and the faults on top.
#pragma once

#include <cstddef>
#include <vector>

#include "faults/job/noise.hpp"
#include "faults/job/spec.hpp"
#include "faults/job/step_model.hpp"

namespace mfu::faults {

// present[i]: fault i is there. An absent fault leaves the noise as it is; where a fault only moves
// work (stages, shards, lengths, experts) its absence spreads the same work evenly.
class Load {
 public:
  Load(const JobSpec& spec, std::vector<bool> present);  // the spec must outlive it
  Load(const JobSpec&& spec, std::vector<bool> present) = delete;

  void fill(int step, StepInputs& inputs) const;
  // Mean compute of a healthy rank and step without noise, optimizer included.
  [[nodiscard]] double healthy_compute() const;
  // Mean over steps, ranks and microbatches of the work, 1 without faults: what heavier stages,
  // shards and lengths add is work that the model's FLOPs count.
  [[nodiscard]] double mean_work() const;
  // Telemetry of one rank in one step.
  [[nodiscard]] double clock_mhz(int step, int rank) const;
  [[nodiscard]] double temperature_c(int step, int rank) const;

 private:
  [[nodiscard]] bool active(std::size_t fault, int step) const;
  [[nodiscard]] double physical_factor(int step, int rank) const;
  [[nodiscard]] double thermal_factor(int step, int rank) const;
  [[nodiscard]] double work(int step, int rank, int microbatch) const;
  [[nodiscard]] double warmup_factor(int step) const;
  void fill_stalls(int step, StepInputs& inputs) const;
  void fill_transfers(int step, StepInputs& inputs) const;

  const JobSpec& spec_;
  std::vector<bool> present_;
  std::vector<std::vector<bool>> gates_;  // [fault][step]
  Noise noise_;
  double step_compute_;  // microbatches x (forward + backward)
};

}  // namespace mfu::faults
