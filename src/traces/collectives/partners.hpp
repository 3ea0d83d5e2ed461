// Which span of one rank is which of another, before clocks are asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/collectives/collectives.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// The spans of the steps that all ranks know.
struct Scope {
  std::span<const RankTrace> traces;
  std::span<const std::vector<std::int64_t>> step_ids;

  [[nodiscard]] const CollectiveSpan& span(const Member& m) const {
    return traces[m.rank].collectives[m.span];
  }
  [[nodiscard]] std::int64_t step_id(std::size_t rank, const CollectiveSpan& span) const {
    const auto& ids = step_ids[rank];
    return span.step < ids.size() ? ids[span.step] : -1;
  }
  [[nodiscard]] const std::string& kind(const Member& m) const {
    return traces[m.rank].kinds[span(m).kind];
  }
  [[nodiscard]] const std::string& group(const Member& m) const {
    return traces[m.rank].groups[span(m).group];
  }
  [[nodiscard]] std::int64_t duration(const Member& m) const {
    return span(m).end_ns - span(m).start_ns;
  }
};

// A candidate, with what makes its identity certain.
struct Candidate {
  PairedCollective pair;
  bool numbered = false;
  // Of a kind that is sent to all of its group: what is only called send-receive may be the
  // exchange of a pair, and says nothing about the clocks of the others.
  bool joint = true;
};

struct Partners {
  std::vector<Candidate> found;
  std::string reason;  // the first thing that did not match
  // Collectives there are: those found, and what is left over on the rank that has most left.
  std::size_t of = 0;
  double all_ns = 0.0;  // their durations, all ranks
};
[[nodiscard]] Partners find_partners(const Scope& scope);

}  // namespace mfu::traces
