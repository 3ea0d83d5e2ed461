#include "diagnose/rank_scores.hpp"

#include <algorithm>
#include <cstddef>

namespace mfu::diagnosis {

ScoresJudgement judge_scores(const RankScores& scores) {
  ScoresJudgement judgement;
  judgement.high_is_slow = scores.unit == ScoreUnit::seconds;
  judgement.worst = scores.last.front();
  for (const RankScore& score : scores.last) {
    const bool worse = judgement.high_is_slow ? score.value > judgement.worst.value
                                              : score.value < judgement.worst.value;
    if (worse) judgement.worst = score;
  }
  for (const RankOverReports& one : scores.over_reports) {
    if (one.all_reports < kScoreOfAPeer) judgement.slow.push_back(one);
  }
  std::stable_sort(judgement.slow.begin(), judgement.slow.end(),
                   [](const RankOverReports& a, const RankOverReports& b) {
                     return a.all_reports < b.all_reports;
                   });
  const std::size_t ranks = scores.over_reports.size();
  // Of two ranks that are listed as the extremes of many, the lower one is one of many.
  if (judgement.slow.empty()) {
    const bool tells = scores.unit == ScoreUnit::ratio || scores.unit == ScoreUnit::flops;
    if (tells && ranks > 0) judgement.family = Family::healthy;
  } else if (ranks <= 2 ? judgement.slow.size() < 2 : 2 * judgement.slow.size() < ranks) {
    judgement.family = Family::straggler;
  }
  return judgement;
}

}  // namespace mfu::diagnosis
