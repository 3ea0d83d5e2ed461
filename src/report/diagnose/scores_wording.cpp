#include "report/diagnose/scores_wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "diagnose/places/place.hpp"
#include "diagnose/rank_scores.hpp"
#include "report/diagnose/scores_section.hpp"

namespace mfu {
namespace {

std::string score_text(const RankScores& scores, double value) {
  switch (scores.unit) {
    case ScoreUnit::seconds:
      return fmt::format("{:.4g} s", value);
    case ScoreUnit::flops:
      return fmt::format("{:.4g} TFLOP/s", value / 1e12);
    case ScoreUnit::ratio:
    case ScoreUnit::other:
      break;
  }
  return fmt::format("{:.4g}", value);
}

constexpr std::size_t kMostSlowNamed = 8;

void describe_slow(const RankScores& scores, const diagnosis::ScoresJudgement& judgement,
                   ScoresSection& section) {
  if (judgement.slow.empty()) {
    section.verdict_line = "inconclusive: no rank stands out by its times alone";
    section.why = {fmt::format(
        "{}: ranks that wait for each other take the same time, whoever is slow", scores.series)};
    return;
  }
  for (std::size_t i = 0; i < std::min(judgement.slow.size(), kMostSlowNamed); ++i) {
    const RankOverReports& one = judgement.slow[i];
    section.why.push_back(fmt::format("rank {}: {:.3g} of the best, mean of {} of {} report{}",
                                      one.rank, one.score, one.reports, scores.reports,
                                      scores.reports == 1 ? "" : "s"));
  }
  const std::string names = diagnosis::rank_names(section.ranks);
  if (judgement.family == Family::straggler) {
    section.verdict_line = fmt::format("straggler, {}, by scores alone", names);
    section.next =
        "health of that device first (temperature, clocks, power cap, ECC, Xid); " + section.next;
  } else {
    section.verdict_line =
        fmt::format("inconclusive: half of the ranks or more are below the best ({})", names);
  }
  section.why.push_back(scores.series + ", each report against its own best");
}

}  // namespace

std::optional<ScoresSection> describe_scores(const RankScores& scores) {
  // Of Megatron's timers more can be had: the refusal says how.
  if (scores.last.empty() || scores.over_reports.empty() || scores.coarse_timers) return {};
  const diagnosis::ScoresJudgement judgement = diagnosis::judge_scores(scores);
  ScoresSection section;
  section.family = judgement.family;
  section.unseen = "where the time of a step goes, and what all ranks lose alike";
  section.next =
      "for a diagnosis: a profiler trace, Megatron's timers of all ranks, or the recorder in "
      "examples/recorder";
  for (const RankOverReports& one : judgement.slow) section.ranks.push_back(one.rank);
  if (!judgement.healthy()) {
    describe_slow(scores, judgement, section);
    return section;
  }
  section.verdict_line =
      fmt::format("healthy as far as scores tell: no rank of {} stands out", scores.last.size());
  section.why = {
      fmt::format("{}: the lowest of the last report is {}, of rank {}; over all reports none is "
                  "below {} of the best",
                  scores.series, score_text(scores, judgement.worst.value), judgement.worst.rank,
                  diagnosis::kScoreOfAPeer)};
  return section;
}

Error scores_error(const RankScores& scores) {
  const Place place{.file = scores.file};
  if (scores.last.empty()) {
    return Error(
        ErrorKind::insufficient,
        "a training log without per-rank values: it cannot show where the time of a step goes",
        place,
        "mfu log reads its step time and MFU; the recorder in examples/recorder "
        "writes what is needed");
  }
  const std::optional<ScoresSection> healthy = describe_scores(scores);
  if (healthy && healthy->family == Family::healthy) {
    return Error(ErrorKind::insufficient, healthy->verdict_line + "; unseen: " + healthy->unseen,
                 place, healthy->next);
  }
  const diagnosis::ScoresJudgement judgement = diagnosis::judge_scores(scores);
  return Error(
      ErrorKind::insufficient,
      fmt::format("{} of {} {} (the {} of the last report: rank {} with {}) say which "
                  "rank stands out, not where the time of a step goes: compute, "
                  "communication and waiting are not separated",
                  scores.series, scores.last.size(), scores.last.size() == 1 ? "rank" : "ranks",
                  judgement.high_is_slow ? "slowest" : "lowest", judgement.worst.rank,
                  score_text(scores, judgement.worst.value)),
      place,
      scores.coarse_timers ? "with --timing-log-level 2 --timing-log-option all Megatron prints "
                             "forward-compute and backward-compute of all ranks"
                           : "a profiler trace, Megatron's timers of all ranks, or the recorder in "
                             "examples/recorder separate them");
}

}  // namespace mfu
