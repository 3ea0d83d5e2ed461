#include "traces/collectives/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "statistics/robust.hpp"
#include "traces/collectives/clocks.hpp"
#include "traces/collectives/partners.hpp"

namespace mfu::traces {

namespace {

// The ranks leave a collective together: their ends differ by far less than the longest of them
// took.
constexpr double kMostSpread = 0.25;

std::string milliseconds(double ns) {
  const double ms = ns / 1e6;
  std::string text = std::to_string(ms);
  text.erase(text.find('.') + 4);
  return text + " ms";
}

void fill_arrival(const Clocks& clocks, const Scope& scope, std::size_t c, PairedCollective& pair) {
  const Clocks::Bounds b = clocks.bounds(c);
  pair.first_start_ns = std::llround(b.earliest_start);
  pair.end_spread_ns = std::llround(b.end_spread());
  // A clock that is off at this moment moves starts, but no duration: the last to arrive cannot
  // have come later than the longest of the group waited.
  std::int64_t longest = pair.transfer_ns;
  for (const Member& m : pair.members) longest = std::max(longest, scope.duration(m));
  pair.late_ns = std::min<std::int64_t>(std::llround(b.latest_start - b.earliest_start),
                                        longest - pair.transfer_ns);
  // The ends say how well times of different ranks compare here; closer arrivals are a tie.
  for (std::size_t m = 0; m < pair.members.size(); ++m) {
    if (clocks.start(c, m) >= b.latest_start - b.end_spread()) {
      pair.last.push_back(pair.members[m].rank);
    }
  }
  if (pair.last.size() == pair.members.size()) pair.last.clear();
}

double typical_transfer(const std::vector<Candidate>& candidates) {
  std::vector<double> values;
  for (const Candidate& candidate : candidates) {
    values.push_back(static_cast<double>(candidate.pair.transfer_ns));
  }
  return median_inplace(values);
}

}  // namespace

Pairing pair_collectives(std::span<const RankTrace> traces,
                         std::span<const std::vector<std::int64_t>> step_ids) {
  Pairing result;
  const Scope scope{traces, step_ids};
  Partners partners = find_partners(scope);
  result.of = partners.of;
  result.spans_ns = partners.all_ns;
  if (partners.of == 0 || traces.size() < 2) return result;
  std::vector<Candidate>& candidates = partners.found;
  if (candidates.empty()) {
    result.status = TracePairing::refused;
    result.reason = partners.reason;
    return result;
  }
  result.by_sequence = std::all_of(candidates.begin(), candidates.end(),
                                   [](const Candidate& c) { return c.numbered; });

  Clocks clocks(scope, candidates);
  const std::size_t n = candidates.size();
  const std::size_t witnesses = clocks.witnesses();
  Clocks::Judgement judged = clocks.judge();
  std::size_t support = judged.agreeing;
  if (!clocks.common()) support = 0;
  if (support < witnesses && clocks.remove_offsets()) {
    const Clocks::Judgement corrected = clocks.judge();
    // One pair's worth of agreement is what the estimate itself makes.
    const std::size_t worth = corrected.agreeing > 0 ? corrected.agreeing - 1 : 0;
    if (worth > support) {
      judged = corrected;
      support = worth;
      result.clock_offset_ns = clocks.offset_range();
    } else {
      clocks.forget_offsets();
      judged = clocks.judge();
    }
  }
  const double drift = clocks.drift();
  const double transfer = typical_transfer(candidates);
  std::string why;
  if (drift > transfer) {
    why = "the ranks' clocks drift apart by " + milliseconds(drift) +
          " over the capture, and the typical transfer takes " + milliseconds(transfer);
  } else if (2 * support < witnesses) {
    why = clocks.common() || n >= Clocks::kLeastForOffset
              ? "ends do not agree: in " + std::to_string(witnesses - judged.agreeing) + " of " +
                    std::to_string(witnesses) +
                    " a rank would leave before the last has arrived; the median spread of ends "
                    "is " +
                    milliseconds(judged.spread)
              : "the traces have no common clock, and " + std::to_string(n) +
                    " collectives are too few to find the offset";
  }
  if (why.empty() && judged.spread > kMostSpread * judged.longest) {
    // The tolerance comes from the pairs themselves: wrong pairs would agree with themselves.
    why = "ends differ by " + milliseconds(judged.spread) + " (median), and the collectives take " +
          milliseconds(judged.longest) + ": they may be of different groups";
  }
  const bool paired = why.empty();
  result.status = paired ? TracePairing::paired : TracePairing::durations;
  result.reason = paired ? (n < partners.of ? partners.reason : std::string()) : std::move(why);
  if (paired) {
    result.end_spread_ns = judged.spread;
    result.end_tolerance_ns = judged.tolerance;
  } else {
    result.clock_offset_ns.reset();
  }

  for (std::size_t c = 0; c < n; ++c) {
    Candidate& candidate = candidates[c];
    if (paired ? !candidate.pair.ends_agree : !candidate.numbered) continue;
    fill_arrival(clocks, scope, c, candidate.pair);
    if (!paired) {
      candidate.pair.ends_agree = false;
      candidate.pair.last.clear();
      candidate.pair.late_ns = 0;
      candidate.pair.end_spread_ns = 0;
    }
    for (const Member& m : candidate.pair.members) {
      result.paired_ns += static_cast<double>(scope.duration(m));
    }
    result.collectives.push_back(std::move(candidate.pair));
  }
  result.agreeing = paired ? result.collectives.size() : 0;
  if (result.collectives.empty()) result.status = TracePairing::refused;
  std::stable_sort(result.collectives.begin(), result.collectives.end(),
                   [](const PairedCollective& a, const PairedCollective& b) {
                     return std::tie(a.first_start_ns, a.members.front().span) <
                            std::tie(b.first_start_ns, b.members.front().span);
                   });
  return result;
}

}  // namespace mfu::traces
