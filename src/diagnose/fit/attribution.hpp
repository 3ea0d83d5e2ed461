// Attribution: what of a step is compute, own stall, transfer; the rest is waiting for peers.
//
// How waiting is separated from transfer, by the best method that the file allows:
//   separate        the file has it: transfer is `comm`, that of the median rank of each
//                   data-parallel group
//   groups          per kind of group and step: the minimum over the ranks of each group
//   step minimum    per step: the minimum of `comm` over all ranks
//   pipeline model  waits in comm, several stages, no groups: step - pipeline form - least stall,
//                   within 0 .. least comm, capped at its median over the steps
// `waits_in` says where the recorder put the waiting; it is checked against the samples, since real
// files hold pipeline bubbles and barrier waits in `stall` whatever they say.
#pragma once

#include <vector>

#include "diagnose/fit/job.hpp"
#include "diagnose/fit/pipeline.hpp"
#include "diagnose/step_terms.hpp"

namespace mfu::diagnosis {

// How one rank's stall is to be read.
enum class StallMeaning {
  own,     // the rank's own stall, as recorded (one stage, waits elsewhere)
  shared,  // holds waiting too: only what all ranks have in common is own stall
};

struct TransferKind {
  std::string kind;  // "dp", "tp", "comm" ...
  std::vector<Group> groups;
  std::vector<std::vector<double>> value;  // [step][group], seconds
  std::vector<int> group_of;               // rank -> group, -1: none
};

struct Attribution {
  SplitMethod method = SplitMethod::step_minimum;
  StallMeaning stall = StallMeaning::own;
  bool kinds_add_up = false;       // the kinds' seconds are different ones (comm_by_group)
  bool waits_elsewhere = false;    // the samples contradict waits_in
  bool waits_in_transfer = false;  // waits and the transfer of all groups are in one bucket
  std::vector<double> transfer;    // [step] transfer that every rank has, seconds
  // [step] of the transfer, what the slowest rank hides under its compute: gathers that are asked
  // for ahead are there when a slow rank comes to them, and exposed on the others. Less slow, it
  // hides less. Only where comm is transfer alone and there is one stage; else empty.
  std::vector<double> hidden;
  std::vector<double> inner;         // [step] the part of it inside the microbatches (lock-step)
  std::vector<double> common_stall;  // [step] stall that every rank has; 0 where stalls are own
  std::vector<TransferKind> kinds;   // per-group transfer, where the file has groups of equals
  std::vector<double> own_limit;     // [step] most that one rank's own stall can be worth
  bool bubbles_in_stall = false;     // several stages: the pipeline's idle time is in `stall`
  bool waits_in_stall = false;       // waiting and stopped ranks look the same
  double waits_doubt = 0.0;          // 0 to 1: that the waits are not where they were taken to be
  bool host_bound = false;           // the step does not follow the slowest rank's work
};

[[nodiscard]] Attribution attribute(const Job& job, PipelineForm& form);

}  // namespace mfu::diagnosis
