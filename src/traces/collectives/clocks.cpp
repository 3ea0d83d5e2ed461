#include "traces/collectives/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "statistics/robust.hpp"

namespace mfu::traces {

namespace {

constexpr std::size_t kLeastForDrift = 8;
constexpr double kDriftZ = 3.0;
constexpr double kOutlierSigmas = 6.0;
// Alternating medians settle in a few rounds; groups are small graphs.
constexpr int kOffsetRounds = 24;

}  // namespace

Clocks::Clocks(const Scope& scope, std::vector<Candidate>& candidates)
    : scope_(scope), candidates_(candidates), offset_(scope.traces.size(), 0.0) {
  place();
  choose_witnesses();
}

void Clocks::choose_witnesses() {
  witness_.assign(candidates_.size(), false);
  std::size_t joint = 0;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    witness_[c] = candidates_[c].joint;
    joint += witness_[c] ? 1U : 0U;
  }
  if (joint < kLeastForOffset) witness_.assign(candidates_.size(), true);
}

void Clocks::forget_offsets() { std::fill(offset_.begin(), offset_.end(), 0.0); }

Clocks::Judgement Clocks::judge() {
  Judgement result;
  std::vector<double> spreads;
  std::vector<double> longest;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (!witness_[c]) continue;
    spreads.push_back(bounds(c).end_spread());
    std::int64_t most = 0;
    for (const Member& m : candidates_[c].pair.members) most = std::max(most, scope_.duration(m));
    longest.push_back(static_cast<double>(most));
  }
  result.longest = median_inplace(longest);
  result.spread = median(spreads);
  result.tolerance = result.spread + kOutlierSigmas * robust_sigma(spreads);
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const Bounds b = bounds(c);
    // Spreads that are nearly all alike have no deviation to judge the others by.
    const double allowed =
        std::max(result.tolerance, static_cast<double>(candidates_[c].pair.transfer_ns));
    const bool agree = b.latest_start <= b.earliest_end && b.end_spread() <= allowed;
    candidates_[c].pair.ends_agree = agree;
    result.agreeing += agree && witness_[c] ? 1U : 0U;
  }
  return result;
}

bool Clocks::remove_offsets() {
  std::vector<std::size_t> seen(offset_.size(), 0);
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (!witness_[c]) continue;
    for (const Member& m : candidates_[c].pair.members) ++seen[m.rank];
  }
  for (const std::size_t count : seen) {
    if (count > 0 && count < kLeastForOffset) return false;
  }
  if (candidates_.size() < kLeastForOffset) return false;
  std::vector<std::vector<double>> own(offset_.size());
  for (int round = 0; round < kOffsetRounds; ++round) {
    for (auto& values : own) values.clear();
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (!witness_[c]) continue;
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

double Clocks::offset_range() const {
  const auto [low, high] = std::minmax_element(offset_.begin(), offset_.end());
  return *high - *low;
}

double Clocks::drift() const {
  std::vector<std::vector<std::pair<double, double>>> own(offset_.size());
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (!witness_[c]) continue;
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

Clocks::Bounds Clocks::bounds(std::size_t c) const {
  Bounds b;
  for (std::size_t m = 0; m < ends_[c].size(); ++m) {
    b.earliest_start = std::min(b.earliest_start, start(c, m));
    b.latest_start = std::max(b.latest_start, start(c, m));
    b.earliest_end = std::min(b.earliest_end, end(c, m));
    b.latest_end = std::max(b.latest_end, end(c, m));
  }
  return b;
}

double Clocks::reference_end(std::size_t c) const {
  std::vector<double> values;
  for (std::size_t m = 0; m < ends_[c].size(); ++m) values.push_back(end(c, m));
  return median_inplace(values);
}

// Nanoseconds as doubles are exact only near the origin: each rank's origin is taken off in
// integers first. Without the epoch on all of them a rank's origin is its own first span.
void Clocks::place() {
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

}  // namespace mfu::traces
