#include "diagnose/rank_scores.hpp"

namespace mfu::diagnosis {

ScoresJudgement judge_scores(const RankScores& scores) noexcept {
  ScoresJudgement judgement;
  judgement.high_is_slow = scores.unit == ScoreUnit::seconds;
  judgement.worst = scores.last.front();
  for (const RankScore& score : scores.last) {
    const bool worse = judgement.high_is_slow ? score.value > judgement.worst.value
                                              : score.value < judgement.worst.value;
    if (worse) judgement.worst = score;
  }
  judgement.healthy = scores.unit == ScoreUnit::ratio && judgement.worst.value >= kScoreOfAPeer;
  return judgement;
}

}  // namespace mfu::diagnosis
