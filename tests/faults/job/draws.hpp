// What the kinds of job share: dice of the fault, and healthy jobs to put it in.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "faults/job/spec.hpp"
#include "faults/scenarios/scenario.hpp"
#include "statistics/robust.hpp"

namespace mfu::faults {

// Draws that belong to the fault, apart from those of the healthy job under it.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(Random(seed * 7919 + 17).next()) {}
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::size_t>(n))); }
  bool chance(double p) { return random_.uniform() < p; }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  // Small losses are as frequent as large ones.
  double loss(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }

 private:
  Random random_;
};

// The spec with this fault, so large that it costs `loss` of the step.
[[nodiscard]] JobSpec with(JobSpec spec, const char* name, Fault fault, double loss);
[[nodiscard]] Fault of(FaultKind kind, int place = 0);
[[nodiscard]] Fault onset(Fault fault, const JobSpec& spec, Dice& dice);
[[nodiscard]] Fault bursts(Fault fault, const JobSpec& spec, Dice& dice);

// A rank whose slowness the recording can show.
[[nodiscard]] int any_rank(const JobSpec& spec, Dice& dice);

// A healthy job with at least so many nodes, none of which is a whole stage.
[[nodiscard]] JobSpec with_nodes(std::uint64_t seed, int nodes);
// A healthy job with several transfer groups.
[[nodiscard]] JobSpec several_groups(std::uint64_t seed);
[[nodiscard]] JobSpec any(std::uint64_t seed);
[[nodiscard]] JobSpec named(JobSpec spec, const char* name);

// Makes the recording show each group's transfer.
[[nodiscard]] JobSpec with_known_transfers(JobSpec spec);
// Makes the recording show each rank's own stall.
[[nodiscard]] JobSpec with_own_stalls(JobSpec spec);

}  // namespace mfu::faults
