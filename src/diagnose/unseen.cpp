#include "diagnose/unseen.hpp"

#include <algorithm>
#include <set>

#include "diagnose/places/place.hpp"
#include "timings/trace.hpp"

namespace mfu::diagnosis {

namespace {

constexpr std::size_t kLeastVerdictSteps = 8;
constexpr double kLeastCoverage = 0.9;  // of the expected ranks
constexpr std::int64_t kMostMissingNamed = 8;
constexpr double kMostLost = 0.05;  // of a rank's GPU activities

// Work whose record was lost looks like idle time: a verdict would be about the recorder.
void add_lost_activities(const RunTimings& run, std::vector<Fact>& facts) {
  if (!run.trace) return;
  const auto cut = std::find_if(run.trace->ranks.begin(), run.trace->ranks.end(),
                                [](const TraceRank& rank) { return rank.cut_off; });
  if (cut != run.trace->ranks.end()) facts.emplace_back(FactKind::cut_trace, 0, 0, cut->rank);
  const TraceRank* worst = nullptr;
  double most = kMostLost;
  for (const TraceRank& rank : run.trace->ranks) {
    if (rank.activities <= 0) continue;
    const double share =
        static_cast<double>(rank.lost_activities) / static_cast<double>(rank.activities);
    if (share < most || (worst != nullptr && share == most)) continue;
    most = share;
    worst = &rank;
  }
  if (worst == nullptr) return;
  facts.emplace_back(FactKind::lost_activities, 0, 0, worst->lost_activities, worst->activities,
                     "rank " + std::to_string(worst->rank));
}

}  // namespace

std::vector<Fact> obstacles(const RuleContext& context, const Setup& setup) {
  std::vector<Fact> facts;
  const Job& job = context.job();
  // Ranks left out by --ranks are as unseen as unrecorded ones.
  const auto seen = static_cast<std::int64_t>(job.ranks());
  if (job.ranks() < 2) {
    if (std::max(setup.gpus, setup.expected_ranks) > 1) {
      facts.emplace_back(FactKind::one_rank, 0, 0, 1, std::max(setup.gpus, setup.expected_ranks));
    } else {
      facts.emplace_back(FactKind::one_rank, 0, 0, 1, 1);
    }
  } else if (static_cast<double>(seen) <
             kLeastCoverage * static_cast<double>(setup.expected_ranks)) {
    const std::vector<std::int64_t> missing = missing_numbers(job, setup.expected_ranks);
    const std::int64_t count = setup.expected_ranks - seen;
    facts.emplace_back(
        FactKind::few_ranks, 0, 0, seen, setup.expected_ranks,
        static_cast<std::int64_t>(missing.size()) == count && count <= kMostMissingNamed
            ? names_of_missing(missing, count)
            : std::string());
  }
  if (job.steps() < kLeastVerdictSteps) {
    facts.emplace_back(FactKind::few_steps, 0, 0, job.steps(), kLeastVerdictSteps);
  }
  add_lost_activities(job.run(), facts);
  return facts;
}

std::string names_of_missing(const std::vector<std::int64_t>& ranks, std::int64_t count) {
  if (static_cast<std::int64_t>(ranks.size()) != count) {
    return std::to_string(count) + (count == 1 ? " rank" : " ranks");
  }
  return rank_names(ranks);
}

std::vector<std::int64_t> missing_numbers(const Job& job, std::int64_t expected) {
  std::set<std::int64_t> missing;
  for (std::int64_t rank = 0; rank < expected; ++rank) missing.insert(rank);
  for (const RankInfo& info : job.run().ranks) missing.erase(info.rank);
  return {missing.begin(), missing.end()};
}

bool zero_everywhere(const Job& job, const Column& column) {
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = job.raw(column, s);
    if (std::any_of(row.begin(), row.end(), [](double v) { return v > 0.0; })) return false;
  }
  return true;
}

}  // namespace mfu::diagnosis
