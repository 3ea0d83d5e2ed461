// A place: some ranks that something is about, and everything else that is exactly those ranks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/fit/job.hpp"
#include "diagnose/fit/model.hpp"
#include "mfu/diagnose.hpp"

namespace mfu::diagnosis {

// Ranks that are all holders of some indices along an axis (replicas of experts, slices of a
// context) and nothing else.
struct LogicalPlace {
  Axis axis = Axis::dp;
  std::vector<int> indices;  // ascending
  bool one_each = false;     // one rank holds each index, or one slot of every node
};

struct RankSet {
  std::vector<std::size_t> ranks;  // indices, ascending
  std::vector<bool> holds;         // by rank index
  std::vector<std::size_t> nodes;  // that it is exactly, of two ranks or more each; none: it is not
  std::optional<LogicalPlace> logical;  // that it is exactly
  Locality locality = Locality::rank;   // the physical one: nodes where it is some
  Culprits named;                       // the same by name

  [[nodiscard]] std::size_t units() const { return nodes.empty() ? ranks.size() : nodes.size(); }
};

[[nodiscard]] RankSet place_of(const Job& job, std::vector<std::size_t> ranks);

// "node n1", "ranks 2, 5", "dp group of tp=3 pp=0", at most 8 by name; nobody: "".
[[nodiscard]] std::string place_name(const Culprits& culprits);
[[nodiscard]] std::string rank_names(const std::vector<std::int64_t>& ranks);  // numbers
// "ep=3, ep=4".
[[nodiscard]] std::string index_names(const LogicalPlace& place);

// Seconds of each rank and step over the fast ranks of its stage: [step][rank]. `row_of` gives one
// step's seconds, one a rank. Differences between ranks of one step are exact; what the step does
// to all ranks of a stage is taken out: what it does to the median rank. `by_stage` false: all
// ranks are held against each other.
using RowOf = std::function<std::span<const double>(std::size_t step)>;
[[nodiscard]] Column excess_over_fast(const Job& job, const RowOf& row_of, bool by_stage);
// The same, where most ranks are slow in some steps: what a step does to the rank that it does
// least to is taken out.
void take_out_the_least(const Job& job, Column& excess, bool by_stage);

// The ranks that are slow by two speeds: whole nodes where nodes part better than their ranks do.
// `excess` is [step][rank], `least` in seconds. Nothing: no place stands out.
[[nodiscard]] std::optional<RankSet> slow_place(const Job& job, const Column& excess, double least);

// Sets the place's values to the median of their stage's other ranks in that step, where less.
[[nodiscard]] RowEdit to_peers_median(const Job& job, const std::vector<bool>& holds);

// The place's mean and its peers' median of `row` (peers: same stage, not in the place).
struct Contrast {
  double culprits = 0.0;
  double peers = 0.0;
};
[[nodiscard]] Contrast contrast(const Job& job, const RankSet& place, std::span<const double> row);

}  // namespace mfu::diagnosis
