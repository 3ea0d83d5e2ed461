// A second benchmark of the diagnosis: jobs of a simulator that no rule was made on.
//
// A job is a timing document (`mfu.run/1`) and what a careful engineer says from its columns and no
// more. Even seeds may be used to calibrate; odd seeds are only scored.
//
// How labels are made
// - Material is a saving of 5 % of the step. The saving is what the job's twin shows: the same job,
//   with the same noise, without the fault (a place at its peers' speed; uneven work spread evenly;
//   the excess of stalls and transfer gone). Below it the label is `healthy`. Jobs whose saving is
//   between 4 and 6.5 % are drawn again: nothing fair can be said near the limit.
// - Slow devices with no telemetry to tell why: up to an eighth of the ranks (two are always) are
//   `straggler`; whole nodes are while they are fewer than half of the nodes. More of either, and
//   nodes that are exactly a stage, an expert set or a replica of several nodes (a stage or an
//   expert set of one node, too), can be devices or uneven work: not decidable, the readings are
//   `straggler` and `imbalance`. With clocks that explain it: `straggler`.
// - A stage, an expert's ranks or a part of the context that is not whole nodes: `imbalance`.
// - Work whose slow rank moves from step to step: `imbalance`, all.
// - Hosts that are late: `straggler` while fewer than half of the ranks are; from half on
//   `straggler` and `stall`; for a stage both, too. All together, or all in turn: `stall`, all.
// - Transfer that is slow in one of several groups, and seen apart from waiting: `straggler`, the
//   group's ranks. Slow everywhere: `communication`, all. // Several groups and nothing that tells
//   them apart: `communication` or `straggler`, no place. In the only group that the document
//   knows, where it is not always or where waits are not apart (shards in nodes): one link may be
//   the reason; `communication` is right and so is saying that it may be either. Exposed transfer
//   that was always there is a matter of taste between 4 and 18 % of the step: drawn again.
// - A rank that was not recorded while all others transfer or wait: `straggler` (that rank) or
//   `communication`. Communication that is zero everywhere: `inconclusive`, whatever else.
// - Two faults that share no family: `mixed` where both are material and the smaller saves more
//   than 65 % of what the greater does; the greater alone below 35 %; between, drawn again.
// - A place must stand out in the column as recorded: its members' excess over all others has to
//   be clear of the spread of either side, else the job is drawn again.
// - Waits are recorded in `comm`, in `stall`, apart, or the pipeline's in `stall` and others' in
//   `comm`, and declared rightly in seven of ten. Where a wrong declaration would make two labels
//   equally right (a common stall, with waits said to lie in `stall`), it is not made. Nor are own
//   stalls recorded in a column that holds the waits for them: nothing would tell the two apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace second {

struct Label {
  bool decidable = true;
  // Families. One where decidable. None: no list of readings would be fair (something was not
  // measured), `inconclusive` alone is asked for.
  std::vector<std::string> readings;
  std::vector<std::string> families;  // of `mixed`, the one that costs more first
  std::vector<int> ranks;             // the place; empty: all, or none
  std::vector<std::string> nodes;     // the same place, where it is whole nodes
  std::string locality = "none";      // rank, node, link, group, stage, all, none
  bool place_matters = true;          // no: any place is right
  // Not empty: `inconclusive` with exactly these readings, and no place, is as right as the family.
  std::vector<std::string> or_inconclusive;
  std::vector<std::string> persistence;  // those that are right; empty: not judged
  std::string cause;                     // empty: cannot be known
  std::string why;
};

struct Job {
  std::uint64_t seed = 0;
  std::string kind, shape, recorder;
  std::string document;  // mfu.run/1
  Label label;
  double twin_step_s = 0.0;  // without the fault, mean over the steps that count
  double step_s = 0.0;
  int ranks = 0, steps = 0;
  int tp = 1, cp = 1, ep = 1, dp = 1, pp = 1;
  std::vector<int> node_of, rack_of;  // [rank]
  std::vector<std::string> node_names;
};

// The same seed gives the same job, on any machine.
Job make(std::uint64_t seed);

std::vector<std::string> kind_names();

}  // namespace second
