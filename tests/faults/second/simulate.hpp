// The steps of a job, simulated: each rank has a host that launches work in order, a compute stream
// and communication streams. A collective starts when its last member has come to it and takes what
// its slowest link takes; work starts when its input, its stream and its launch are there. The step
// time is what comes out of these dependencies, no formula of a step.
#pragma once

#include <array>
#include <vector>

#include "setting.hpp"

namespace second {

// What is different from a job in which all is well. Tables have a row per step; 1 and 0 are
// "nothing".
struct Effects {
  explicit Effects(const Setting& setting);

  Table<float> forward, backward;  // [step, rank] factor of the time of kernels
  Table<float> stall_s;            // [step, rank] host is late at the start of the step
  Table<float> pause_s;            // [step, rank] host stands still in the middle of it
  std::vector<double> launch;      // [rank] factor of the time to launch
  Table<float> rail;               // [step, rank] factor of the bandwidth of the rank's NIC
  Table<float> nvlink;             // [step, node] factor of the bandwidth inside the node
  std::vector<double> network;     // [step] factor of all bandwidth
  Table<float> length;             // [step, replica x microbatch] factor of the work
  std::vector<double> stage;       // [stage] factor of the work
  Table<float> expert;             // [step, rank] factor of the experts' part of the work
  bool links = false;              // whether any of the bandwidths differs from 1
};

enum Axis { tensor, context, expert_axis, data, pipe, world, shard, replicate, axes };
inline constexpr std::array<const char*, axes> axis_names = {
    "tp", "cp", "ep", "dp", "pp", "world", "dp_shard", "dp_replicate"};

// Where one step of one rank went, in seconds. compute + waits + transfers + stall is the step.
struct Cell {
  double compute = 0, forward = 0, backward = 0, stall = 0, overlapped = 0;
  std::array<double, axes> wait{}, transfer{};
  double waits() const;
  double transfers() const;
  double wall() const { return compute + stall + waits() + transfers(); }
};

struct Timeline {
  Table<Cell> cells;           // [step, rank]
  std::vector<double> step_s;  // mean over the ranks
};

Timeline simulate(const Setting& setting, const Effects& effects);

// Mean over the steps that count: those after the warm-up.
double mean_step_s(const Setting& setting, const Timeline& timeline);

}  // namespace second
