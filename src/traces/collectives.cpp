#include "traces/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/robust.hpp"

namespace mfu::traces {

namespace {

// Fewer shared collectives cannot tell an offset from chance: one is used up by the estimate.
constexpr std::size_t kLeastForOffset = 3;
constexpr std::size_t kLeastForDrift = 8;
constexpr double kDriftZ = 3.0;
constexpr double kOutlierSigmas = 6.0;
// Alternating medians settle in a few rounds; groups are small graphs.
constexpr int kOffsetRounds = 24;

std::string plain(std::string_view kind) {
  std::string letters;
  for (const char c : kind) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') letters += c;
  }
  return letters;
}

bool point_to_point(std::string_view kind) {
  const std::string letters = plain(kind);
  return letters == "send" || letters == "recv" || letters == "isend" || letters == "irecv" ||
         letters == "peertopeer" || letters == "ptop";
}

// Kinds that move the same number of bytes on every rank.
bool even_sizes(std::string_view kind) {
  const std::string letters = plain(kind);
  return letters == "allreduce" || letters == "broadcast" || letters == "barrier" ||
         letters == "allgatherbase" || letters == "reducescatterbase" ||
         letters == "allgatherintotensor" || letters == "reducescattertensor";
}

std::string rank_name(const RankTrace& trace) {
  return trace.rank ? "rank " + std::to_string(*trace.rank) : trace.file;
}

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
};

class Partners {
 public:
  explicit Partners(const Scope& scope) : scope_(scope) {}

  std::vector<Candidate> found;
  std::string reason;  // the first thing that did not match
  std::size_t most = 0;
  double all_ns = 0.0;

  void find() {
    collect();
    by_number();
    by_order();
  }

 private:
  void refuse(std::string why) {
    if (reason.empty()) reason = std::move(why);
  }

  void collect() {
    for (std::size_t r = 0; r < scope_.traces.size(); ++r) {
      std::size_t here = 0;
      const auto& spans = scope_.traces[r].collectives;
      for (std::size_t i = 0; i < spans.size(); ++i) {
        if (scope_.step_id(r, spans[i]) < 0) continue;
        const Member member{r, i};
        ++here;
        all_ns += static_cast<double>(scope_.duration(member));
        if (point_to_point(scope_.kind(member))) {
          refuse("sends and receives do not say who the peer was");
          continue;
        }
        const bool numbered = spans[i].sequence >= 0 && !scope_.group(member).empty();
        (numbered ? numbered_ : ordered_).push_back(member);
      }
      most = std::max(most, here);
    }
  }

  // More ranks under one name than its group has: several groups of one name.
  bool too_many(const std::vector<Member>& members) {
    for (const Member& m : members) {
      const std::int32_t size = scope_.span(m).group_size;
      if (size > 0 && members.size() > static_cast<std::size_t>(size)) {
        refuse("several process groups are called '" + scope_.group(m) + "'");
        return true;
      }
    }
    return false;
  }

  bool sizes_differ(const std::vector<Member>& members) {
    if (!even_sizes(scope_.kind(members.front()))) return false;
    const std::int64_t bytes = scope_.span(members.front()).bytes;
    for (const Member& m : members) {
      if (scope_.span(m).bytes == bytes) continue;
      refuse("sizes differ: " + rank_name(scope_.traces[members.front().rank]) + " and " +
             rank_name(scope_.traces[m.rank]) + " do not reduce the same tensors");
      return true;
    }
    return false;
  }

  void take(std::vector<Member> members, bool numbered) {
    if (members.size() < 2 || too_many(members) || sizes_differ(members)) return;
    Candidate candidate;
    candidate.numbered = numbered;
    candidate.pair.step = scope_.step_id(members.front().rank, scope_.span(members.front()));
    candidate.pair.transfer_ns = std::numeric_limits<std::int64_t>::max();
    for (const Member& m : members) {
      candidate.pair.transfer_ns = std::min(candidate.pair.transfer_ns, scope_.duration(m));
    }
    candidate.pair.members = std::move(members);
    found.push_back(std::move(candidate));
  }

  void by_number() {
    // Several kernels can carry one number: the n-th of one rank is the n-th of another.
    using Key = std::tuple<std::string, std::string, std::int64_t, std::size_t>;
    std::map<Key, std::vector<Member>> pairs;
    std::map<std::tuple<std::size_t, std::string, std::string, std::int64_t>, std::size_t> times;
    for (const Member& m : numbered_) {
      const std::int64_t number = scope_.span(m).sequence;
      const std::size_t n = times[{m.rank, scope_.group(m), scope_.kind(m), number}]++;
      pairs[{scope_.group(m), scope_.kind(m), number, n}].push_back(m);
    }
    for (auto& [key, members] : pairs) {
      if (members.size() < 2) {
        refuse("collective " + std::to_string(std::get<2>(key)) + " of group '" + std::get<0>(key) +
               "' is in the trace of " + rank_name(scope_.traces[members.front().rank]) + " alone");
      }
      take(std::move(members), true);
    }
  }

  // The place of a span's stream among its rank's, where all ranks have as many.
  std::vector<std::vector<std::int32_t>> streams() const {
    std::vector<std::vector<std::int32_t>> all(scope_.traces.size());
    for (const Member& m : ordered_) all[m.rank].push_back(scope_.span(m).stream);
    for (auto& own : all) {
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    const bool as_many = std::all_of(
        all.begin(), all.end(), [&](const auto& own) { return own.size() == all.front().size(); });
    if (!as_many) all.assign(all.size(), {});
    return all;
  }

  void by_order() {
    const auto all_streams = streams();
    using Key = std::tuple<std::int64_t, std::string, std::ptrdiff_t>;
    std::map<Key, std::map<std::size_t, std::vector<Member>>> buckets;
    std::map<std::string, std::map<std::size_t, bool>> takes_part;
    for (const Member& m : ordered_) {
      const CollectiveSpan& span = scope_.span(m);
      std::ptrdiff_t slot = 0;
      if (scope_.group(m).empty() && !all_streams[m.rank].empty()) {
        const auto& own = all_streams[m.rank];
        slot = std::lower_bound(own.begin(), own.end(), span.stream) - own.begin();
      }
      buckets[{scope_.step_id(m.rank, span), scope_.group(m), slot}][m.rank].push_back(m);
      takes_part[scope_.group(m)][m.rank] = true;
    }
    for (auto& [key, lists] : buckets) {
      const auto& [step, group, slot] = key;
      // Without a name the group is taken to be all of the recorded ranks.
      const std::size_t expected =
          group.empty() ? scope_.traces.size() : takes_part.at(group).size();
      if (matching(lists, step, expected)) {
        const std::size_t count = lists.begin()->second.size();
        for (std::size_t i = 0; i < count; ++i) {
          std::vector<Member> members;
          for (const auto& [rank, list] : lists) members.push_back(list[i]);
          take(std::move(members), false);
        }
      }
    }
  }

  bool matching(std::map<std::size_t, std::vector<Member>>& lists, std::int64_t step,
                std::size_t expected) {
    for (auto& [rank, list] : lists) {
      std::stable_sort(list.begin(), list.end(), [this](const Member& a, const Member& b) {
        return scope_.span(a).start_ns < scope_.span(b).start_ns;
      });
    }
    const auto& [first_rank, first] = *lists.begin();
    if (lists.size() < expected) {
      refuse("in step " + std::to_string(step) + " only " + std::to_string(lists.size()) + " of " +
             std::to_string(expected) + " ranks have collectives there");
      return false;
    }
    for (const auto& [rank, list] : lists) {
      const std::string who = rank_name(scope_.traces[rank]);
      const std::string other = rank_name(scope_.traces[first_rank]);
      if (list.size() != first.size()) {
        refuse("in step " + std::to_string(step) + " " + other + " has " +
               std::to_string(first.size()) + " collectives and " + who + " has " +
               std::to_string(list.size()));
        return false;
      }
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (scope_.kind(list[i]) == scope_.kind(first[i])) continue;
        refuse("in step " + std::to_string(step) + " collective " + std::to_string(i) + " is " +
               scope_.kind(first[i]) + " on " + other + " and " + scope_.kind(list[i]) + " on " +
               who);
        return false;
      }
    }
    return true;
  }

  const Scope& scope_;
  std::vector<Member> numbered_;
  std::vector<Member> ordered_;
};

// The candidates on one time axis.
class Clocks {
 public:
  Clocks(const Scope& scope, std::vector<Candidate>& candidates)
      : scope_(scope), candidates_(candidates), offset_(scope.traces.size(), 0.0) {
    place();
  }

  struct Judgement {
    std::size_t agreeing = 0;
    double tolerance = 0.0;
    double spread = 0.0;
  };

  [[nodiscard]] bool common() const noexcept { return common_; }
  [[nodiscard]] double start(std::size_t c, std::size_t m) const {
    return starts_[c][m] - offset_[candidates_[c].pair.members[m].rank];
  }
  [[nodiscard]] double end(std::size_t c, std::size_t m) const {
    return ends_[c][m] - offset_[candidates_[c].pair.members[m].rank];
  }

  // Marks the candidates whose ends agree.
  Judgement judge() {
    Judgement result;
    std::vector<double> spreads;
    for (std::size_t c = 0; c < candidates_.size(); ++c) spreads.push_back(bounds(c).end_spread());
    result.spread = median(spreads);
    result.tolerance = result.spread + kOutlierSigmas * robust_sigma(spreads);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const Bounds b = bounds(c);
      // Spreads that are nearly all alike have no deviation to judge the others by.
      const double allowed =
          std::max(result.tolerance, static_cast<double>(candidates_[c].pair.transfer_ns));
      const bool agree = b.latest_start <= b.earliest_end && b.end_spread() <= allowed;
      candidates_[c].pair.ends_agree = agree;
      result.agreeing += agree ? 1 : 0;
    }
    return result;
  }

  // One offset per rank, from the ends. False: too few pairs to check it.
  bool remove_offsets() {
    std::vector<std::size_t> seen(offset_.size(), 0);
    for (const Candidate& candidate : candidates_) {
      for (const Member& m : candidate.pair.members) ++seen[m.rank];
    }
    for (const std::size_t count : seen) {
      if (count > 0 && count < kLeastForOffset) return false;
    }
    if (candidates_.size() < kLeastForOffset) return false;
    std::vector<std::vector<double>> own(offset_.size());
    for (int round = 0; round < kOffsetRounds; ++round) {
      for (auto& values : own) values.clear();
      for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const double reference = reference_end(c);
        for (std::size_t m = 0; m < ends_[c].size(); ++m) {
          own[candidates_[c].pair.members[m].rank].push_back(ends_[c][m] - reference);
        }
      }
      double moved = 0.0;
      for (std::size_t r = 0; r < offset_.size(); ++r) {
        if (own[r].empty()) continue;
        const double next = median_inplace(own[r]);
        moved = std::max(moved, std::fabs(next - offset_[r]));
        offset_[r] = next;
      }
      if (moved < 0.5) break;  // nanoseconds
    }
    return true;
  }
  void forget_offsets() { std::fill(offset_.begin(), offset_.end(), 0.0); }

  [[nodiscard]] double offset_range() const {
    const auto [low, high] = std::minmax_element(offset_.begin(), offset_.end());
    return *high - *low;
  }

  // Largest change of a rank's clock against another's over the capture; 0: no trend.
  [[nodiscard]] double drift() const {
    std::vector<std::vector<std::pair<double, double>>> own(offset_.size());
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const double reference = reference_end(c);
      for (std::size_t m = 0; m < ends_[c].size(); ++m) {
        own[candidates_[c].pair.members[m].rank].emplace_back(reference, end(c, m) - reference);
      }
    }
    double least = 0.0;
    double most = 0.0;
    for (auto& series : own) {
      if (series.size() < kLeastForDrift) continue;
      std::sort(series.begin(), series.end());
      std::vector<double> values;
      for (const auto& [at, value] : series) values.push_back(value);
      if (std::fabs(mann_kendall_z(values)) < kDriftZ) continue;
      const std::size_t third = values.size() / 3;
      const double change =
          median(std::span(values).last(third)) - median(std::span(values).first(third));
      least = std::min(least, change);
      most = std::max(most, change);
    }
    return most - least;
  }

  struct Bounds {
    double earliest_start = std::numeric_limits<double>::infinity();
    double latest_start = -std::numeric_limits<double>::infinity();
    double earliest_end = std::numeric_limits<double>::infinity();
    double latest_end = -std::numeric_limits<double>::infinity();
    [[nodiscard]] double end_spread() const { return latest_end - earliest_end; }
  };
  [[nodiscard]] Bounds bounds(std::size_t c) const {
    Bounds b;
    for (std::size_t m = 0; m < ends_[c].size(); ++m) {
      b.earliest_start = std::min(b.earliest_start, start(c, m));
      b.latest_start = std::max(b.latest_start, start(c, m));
      b.earliest_end = std::min(b.earliest_end, end(c, m));
      b.latest_end = std::max(b.latest_end, end(c, m));
    }
    return b;
  }

 private:
  [[nodiscard]] double reference_end(std::size_t c) const {
    std::vector<double> values;
    for (std::size_t m = 0; m < ends_[c].size(); ++m) values.push_back(end(c, m));
    return median_inplace(values);
  }

  // Nanoseconds as doubles are exact only near the origin: each rank's origin is taken off in
  // integers first. Without the epoch on all of them a rank's origin is its own first span.
  void place() {
    std::vector<std::int64_t> origin(scope_.traces.size(), 0);
    std::vector<bool> any(scope_.traces.size(), false);
    for (const Candidate& candidate : candidates_) {
      for (const Member& m : candidate.pair.members) {
        const std::int64_t end = scope_.span(m).end_ns;
        origin[m.rank] = any[m.rank] ? std::min(origin[m.rank], end) : end;
        any[m.rank] = true;
      }
    }
    common_ = true;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> epoch(scope_.traces.size(), 0);
    for (std::size_t r = 0; r < origin.size(); ++r) {
      if (!any[r]) continue;
      const auto& offset = scope_.traces[r].epoch_offset_ns;
      if (!offset || __builtin_add_overflow(origin[r], *offset, &epoch[r])) {
        common_ = false;
        break;
      }
      least = std::min(least, epoch[r]);
    }
    starts_.reserve(candidates_.size());
    ends_.reserve(candidates_.size());
    for (const Candidate& candidate : candidates_) {
      auto& starts = starts_.emplace_back();
      auto& ends = ends_.emplace_back();
      for (const Member& m : candidate.pair.members) {
        double shift = 0.0;
        if (common_) shift = static_cast<double>(epoch[m.rank] - least);
        const CollectiveSpan& span = scope_.span(m);
        starts.push_back(static_cast<double>(span.start_ns - origin[m.rank]) + shift);
        ends.push_back(static_cast<double>(span.end_ns - origin[m.rank]) + shift);
      }
    }
  }

  const Scope& scope_;
  std::vector<Candidate>& candidates_;
  std::vector<double> offset_;
  std::vector<std::vector<double>> starts_;
  std::vector<std::vector<double>> ends_;
  bool common_ = false;
};

std::string milliseconds(double ns) {
  const double ms = ns / 1e6;
  std::string text = std::to_string(ms);
  text.erase(text.find('.') + 4);
  return text + " ms";
}

void fill_arrival(const Clocks& clocks, std::size_t c, PairedCollective& pair) {
  const Clocks::Bounds b = clocks.bounds(c);
  pair.first_start_ns = std::llround(b.earliest_start);
  pair.end_spread_ns = std::llround(b.end_spread());
  pair.late_ns = std::llround(b.latest_start - b.earliest_start);
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
  Partners partners(scope);
  partners.find();
  result.of = partners.most;
  result.spans_ns = partners.all_ns;
  if (partners.most == 0 || traces.size() < 2) return result;
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
  Clocks::Judgement judged = clocks.judge();
  std::size_t support = judged.agreeing;
  if (!clocks.common()) support = 0;
  if (support < n && clocks.remove_offsets()) {
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
  } else if (2 * support < n) {
    why = clocks.common() || n >= kLeastForOffset
              ? "ends do not agree: in " + std::to_string(n - judged.agreeing) + " of " +
                    std::to_string(n) +
                    " a rank would leave before the last has arrived; the median spread of ends "
                    "is " +
                    milliseconds(judged.spread)
              : "the traces have no common clock, and " + std::to_string(n) +
                    " collectives are too few to find the offset";
  }
  const bool paired = why.empty();
  result.status = paired ? TracePairing::paired : TracePairing::durations;
  result.reason = paired ? (n < partners.most ? partners.reason : std::string()) : std::move(why);
  if (paired) {
    result.end_spread_ns = judged.spread;
    result.end_tolerance_ns = judged.tolerance;
  } else {
    result.clock_offset_ns.reset();
  }

  for (std::size_t c = 0; c < n; ++c) {
    Candidate& candidate = candidates[c];
    if (paired ? !candidate.pair.ends_agree : !candidate.numbered) continue;
    fill_arrival(clocks, c, candidate.pair);
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
