// Whether a rank stands out by scores alone.
#pragma once

#include <vector>

#include "mfu/diagnose.hpp"
#include "timings/rank_scores.hpp"

namespace mfu::diagnosis {

// Scores are best over own time: within the 5 % that count as material, nobody is slow.
inline constexpr double kScoreOfAPeer = 0.95;

struct ScoresJudgement {
  RankScore worst;            // of the last report; of equal ones the first
  bool high_is_slow = false;  // times: the slowest; else the lowest
  Family family = Family::inconclusive;
  std::vector<RankOverReports> slow;  // below their peers over all reports, the lowest first
  // Nobody stands out. Only of scores and throughputs: times of iterations are the same on all
  // ranks of a job in step, whoever is slow.
  [[nodiscard]] bool healthy() const noexcept { return family == Family::healthy; }
};

// There is a rank.
[[nodiscard]] ScoresJudgement judge_scores(const RankScores& scores);

}  // namespace mfu::diagnosis
