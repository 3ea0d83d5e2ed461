// A synthetic training job: what is simulated, and what is true of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faults/job/layout.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"

namespace mfu::faults {

// Seconds of one healthy rank. "Step compute" below means
// microbatches x (forward + backward), without the optimizer.
struct Pace {
  int microbatches = 4;
  double forward_seconds = 0.05;  // a microbatch on one stage
  double backward_ratio = 2.0;
  double optimizer_share = 0.02;  // of the step compute, after the gradients are reduced
  double lockstep_share = 0.03;   // exposed tp or ep transfer, all chunks together; 0 with one lane
  double p2p_share = 0.005;       // one activation on its way, of a microbatch's forward + backward
  double dp_share = 0.02;         // exposed gradient reduction
  double world_share = 0.001;     // norm all-reduce
  double host_gap_share = 0.006;  // own stall that every rank has
  double stage_spread = 0.0;      // uneven layers: uniform +- this, for each stage
  bool gpipe = false;             // all forwards, then all backwards; else 1F1B
};

struct NoiseLevel {
  double rank_jitter = 0.006;  // sigma of log compute, per rank and step
  double chunk_jitter = 0.01;  // the same, per microbatch and direction
  double silicon = 0.003;      // fixed per rank
  double transfer = 0.08;      // sigma of log transfer, per group and step
  double hiccup_rate = 0.0;    // chance a rank and step that the rank pauses briefly
  double hiccup_share = 0.1;   // length of such a pause, of the step compute
  int warmup_steps = 0;        // slow first steps
  double warmup_factor = 1.8;  // their compute; they stall on the host as well
};

enum class FaultKind {
  slow_rank,               // place: rank; compute x (1 + size)
  slow_node,               // place: node
  slow_dp_group,           // place: dp group; its reduction + size x step compute
  slow_lockstep_group,     // place: unit; its tp or ep transfers + size x step compute in all
  slow_dp_transfer,        // every dp group
  slow_lockstep_transfer,  // every unit
  heavy_stage,             // place: stage; work x (1 + size)
  data_shards,             // work of a replica x (1 + size x grade), grades evenly over 0..1, fixed
  sequence_lengths,        // work of a replica and step lognormal, sigma = size
  microbatch_lengths,      // the same for each microbatch
  expert_load,             // place: lane; that expert lane's work x (1 + size), on every replica
  expert_drift,            // expert lanes' work lognormal per step, sigma = size
  input_stall,             // all ranks wait for input, size x step compute
  input_stall_stage0,      // the first stage alone
  rank_stall,              // place: rank; own stall at the start of the step
  checkpoint,              // all ranks pause at the end of the step, then meet at a barrier
  gc_pauses,               // single ranks at random pause in mid-step; 0.7 pauses a step in the job
  thermal,                 // all ranks slow down over the run, to x (1 + size)
  thermal_rank,            // place: rank
  slow_kernels,            // all ranks, all steps; compute x (1 + size)
  jitter,                  // iid, sigma = size, per rank and step
};

enum class When { always, onset, periodic, random, listed };

struct Fault {
  FaultKind kind = FaultKind::slow_rank;
  double size = 0.3;
  int place = 0;
  When when = When::always;
  int onset = 0;                 // index of the first slow step
  int period = 8;                // periodic: every `period` steps, for `length` steps
  int length = 1;                // steps of an episode; random: mean
  double duty = 0.15;            // random: share of the steps
  std::vector<int> listed = {};  // listed: indices of the steps
  bool minor = false;            // a second fault that costs far less than the first
};

struct Recording {
  WaitsIn waits_in = WaitsIn::comm;
  bool bubbles_in_stall = false;  // pipeline waits are idle time even when waits_in is comm
  bool by_group = false;
  bool forward_backward = false;
  bool step_series = false;
  bool telemetry = false;
  bool one_per_lockstep_group = false;  // only lane 0 is recorded
  bool coords_per_rank = false;         // else the sizes alone
  double missing_samples = 0.0;         // share of rank-steps without any value
  double missing_ranks = 0.0;           // share of the ranks that nobody recorded, none at fault
  bool only_rank_0 = false;
};

struct JobSpec {
  std::string name;
  std::uint64_t seed = 1;
  Layout layout;
  Pace pace;
  NoiseLevel noise;
  std::vector<Fault> faults;
  Recording recording;
  int steps = 60;
  std::int64_t first_step_id = 0;
  std::int64_t step_stride = 1;

  // Work and peak. Without a chip, flops_per_step is left out.
  std::string chip = "h100-sxm";
  double peak_flops = 989.4e12;
  double efficiency = 0.55;  // F/(N P step compute and optimizer) of the fault-free job
  std::string model;
  double seq_len = 0.0;       // 0: not given
  double global_batch = 0.0;  // 0: not given
  // Sets forward_seconds from this instead of the efficiency giving the FLOPs. 0: not used.
  double flops_per_step = 0.0;
};

// What is true of a simulated job, warm-up steps left out.
struct Truth {
  Family family = Family::healthy;  // the best answer
  std::vector<Family> accepted;     // all that a careful engineer could give; holds family
  Locality locality = Locality::none;
  Culprits culprits;  // of the recorded ranks
  Persistence persistence = Persistence::none;
  Cause cause = Cause::none;
  std::optional<std::int64_t> onset_step;
  double step_seconds = 0.0;        // mean over steps and ranks
  double fixed_step_seconds = 0.0;  // the same noise without the first fault
  double clean_step_seconds = 0.0;  // without any fault
  double loss_share = 0.0;          // 1 - fixed / step
  bool decidable = true;            // false: the recording cannot tell; `why` says so
  std::string why;
};

struct Job {
  JobSpec spec;
  RunTimings run;
  Truth truth;
};

// The fault's own share of the step is what it is: see calibrated() to ask for a loss.
[[nodiscard]] Job simulate(const JobSpec& spec);

// The spec with the size of its first fault set so that the fault costs `loss_share` of the step
// (to a few percent of itself, where the fault can cost that much).
[[nodiscard]] JobSpec calibrated(JobSpec spec, double loss_share);

}  // namespace mfu::faults
