#include "report/diagnose/scores_wording.hpp"

#include <fmt/format.h>

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

}  // namespace

std::optional<ScoresSection> describe_scores(const RankScores& scores) {
  if (scores.last.empty()) return {};
  const diagnosis::ScoresJudgement judgement = diagnosis::judge_scores(scores);
  if (!judgement.healthy) return {};
  ScoresSection section;
  section.verdict_line =
      fmt::format("healthy as far as scores tell: no rank of {} stands out", scores.last.size());
  section.why = {
      fmt::format("{}: the lowest is {}, of rank {}; from {} up a rank is like its "
                  "peers",
                  scores.series, score_text(scores, judgement.worst.value), judgement.worst.rank,
                  diagnosis::kScoreOfAPeer)};
  section.unseen = "where the time of a step goes, and what all ranks lose alike";
  section.next =
      "for a diagnosis: a profiler trace, Megatron's timers of all ranks, or the recorder in "
      "examples/recorder";
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
  if (const std::optional<ScoresSection> healthy = describe_scores(scores)) {
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
