// Pairing of collectives across ranks: which span of one rank is which of another, whether the
// clocks agree well enough to say who came last, and how much of each span is waiting.
//
// A collective's kernel runs from its rank's arrival until the data is there. So
//   transfer = the shortest duration among its ranks,   waiting of a rank = its duration - transfer
// needs no common clock, only the right partners. Who came last needs the clocks too.
//
// Partners. By process group, kind and sequence number where every rank has them; else by order
// within step, group and stream, if all ranks have the same kinds (and sizes, for kinds whose size
// is the same on all ranks) in the same order there. Sends and receives are not paired: a trace
// does not say who the peer was.
//
// Ends. No rank can leave a collective before the last one has arrived: with right partners and
// agreeing clocks the earliest end is not before the latest start. That test needs no threshold.
// Beside it the ends of one pair must not lie further apart than the ends of these pairs do in
// general: median + 6 x 1.4826 x median absolute deviation of the spreads (six standard deviations
// of a normal sample, from the data itself), or than the transfer takes. If that fails, one
// constant offset per rank, estimated from the ends (alternating medians over pairs and ranks), may
// be removed. An offset that drifts over the capture by more than the typical transfer takes is
// refused, and so are pairs that pass in less than half of the cases: then they are not pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "timings/trace.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// One member of a collective.
struct Member {
  std::size_t rank = 0;  // index into the traces
  std::size_t span = 0;  // index into its collectives
};

struct PairedCollective {
  std::vector<Member> members;  // ascending by rank, at least two
  std::int64_t step = 0;        // id
  bool ends_agree = false;
  std::int64_t transfer_ns = 0;     // shortest duration
  std::int64_t first_start_ns = 0;  // offsets removed, from the earliest start of the set
  std::int64_t late_ns = 0;
  std::int64_t end_spread_ns = 0;
  std::vector<std::size_t> last;  // indices into the traces; empty: all together
};

struct Pairing {
  TracePairing status = TracePairing::none;
  bool by_sequence = false;
  std::string reason;
  std::vector<PairedCollective> collectives;  // by time
  std::size_t of = 0;                         // collectives there are, paired or not
  std::size_t agreeing = 0;                   // of `collectives`: ends agree
  double spans_ns = 0.0;                      // sum of all communication spans
  double paired_ns = 0.0;                     // of these: in `collectives`
  std::optional<double> end_spread_ns;
  std::optional<double> end_tolerance_ns;
  std::optional<double> clock_offset_ns;
};

// `traces`: ascending by rank, each rank once. `step_ids`: for each trace and each of its steps the
// id under which it is known to all; -1: left out. Spans outside of these steps are not looked at.
[[nodiscard]] Pairing pair_collectives(std::span<const RankTrace> traces,
                                       std::span<const std::vector<std::int64_t>> step_ids);

}  // namespace mfu::traces
