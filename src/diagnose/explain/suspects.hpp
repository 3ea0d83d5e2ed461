// Suspects: the few places that stand out from their peers, if there are any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/explain/candidate.hpp"

namespace mfu::diagnosis {

struct Suspects {
  std::vector<std::size_t> ranks;  // indices
  std::vector<bool> is_culprit;    // by rank index
  Locality locality = Locality::rank;
  Culprits named;  // ids and node names as the verdict shows them
};

// "node n1", "ranks 2, 5", "dp group of tp=3 pp=0", at most 8 by name; nobody: "".
[[nodiscard]] std::string place_name(const Culprits& culprits);

// Makes them whole nodes: by name, all ranks of them, ascending.
void name_nodes(const Job& job, const std::vector<std::size_t>& nodes, Suspects& suspects);
// Makes them single ranks: those of `suspects`, by number.
void name_ranks(const Job& job, Suspects& suspects);

// Sets is_culprit from the ranks.
void mark_culprits(const Job& job, Suspects& suspects);

// The nodes that the suspects fill, where they are whole nodes and others are there; else none.
[[nodiscard]] std::vector<std::size_t> nodes_filled(const Job& job, const Suspects& suspects);

// Excess of each rank over the lower quartile of its stage in the same step (the stage's median
// would lose a slow node that is half of its stage).
void excess_over_peers(const Job& job, std::span<const double> row, std::span<double> excess);

// `effect`: seconds a step, one a rank. Finds at most a quarter of the nodes or ranks (or one node
// of two or three) that stand clear of the rest: the rest's 2-98 % range is under half the gap.
// That is what tells a straggler from graded shards. Nothing under `least` seconds is looked at.
[[nodiscard]] std::optional<Suspects> find_suspects(const Job& job, std::span<const double> effect,
                                                    double least);

// Ranks of two speeds, more slow ones than find_suspects takes for outliers and at most three
// quarters: a clear gap, and little spread on either side of it. Whole nodes of several, at most
// half of them, are a place; single ranks may be so by their work as well, or by their devices.
// Where the sides part only in some steps (from an onset on, in bursts, more and more), `course`
// has those.
struct SlowSide {
  Suspects suspects;
  bool whole_nodes = false;
  Course course;  // of the gap between the sides
};
[[nodiscard]] std::optional<SlowSide> find_slow_side(const Job& job, const Column& excess,
                                                     std::span<const std::int64_t> ids);

// Do the suspects fill a logical place: all replicas of some experts or context slices, or a whole
// data-parallel replica of several stages or nodes? Work put them there, unless the place is
// exactly some nodes or, with one expert group, some ranks.
[[nodiscard]] std::optional<LogicalPlace> logical_place(const Job& job, const Suspects& suspects);

// First the mean excess, then bursts: see find_suspects. `excess` is [step][rank].
[[nodiscard]] std::optional<Suspects> find_suspects(const Job& job, const Column& excess);

// Of places that were slow one after the other, the last: each has its own time, and only that one
// is slow still. Others are kept together. `excess` is [step][rank].
[[nodiscard]] Suspects last_in_turn(const Job& job, const Column& excess, Suspects suspects);

// Sets the culprits' values to the median of their stage peers in that step, where that is less.
[[nodiscard]] RowEdit to_peers_median(const Job& job, const std::vector<bool>& is_culprit);

// The culprits' mean and their peers' median of `row` (peers: same stage, no culprit).
struct Contrast {
  double culprits = 0.0;
  double peers = 0.0;
};
[[nodiscard]] Contrast contrast(const Job& job, const Suspects& suspects,
                                std::span<const double> row);

}  // namespace mfu::diagnosis
