// Whether a rank stands out by scores alone.
#pragma once

#include "timings/rank_scores.hpp"

namespace mfu::diagnosis {

// Scores are best over own time: within the 5 % that count as material, nobody is slow.
inline constexpr double kScoreOfAPeer = 0.95;

struct ScoresJudgement {
  RankScore worst;            // of the last report; of equal ones the first
  bool high_is_slow = false;  // times: the slowest; else the lowest
  // Nobody stands out. Only of ratios: how far times of ranks may be apart nobody has said.
  bool healthy = false;
};

// There is a rank.
[[nodiscard]] ScoresJudgement judge_scores(const RankScores& scores) noexcept;

}  // namespace mfu::diagnosis
