// The words for ranks' scores, with which there is an answer at most, and no diagnosis.
#pragma once

#include <optional>

#include "mfu/error.hpp"
#include "mfu/report.hpp"
#include "timings/rank_scores.hpp"

namespace mfu {

// That nobody stands out, which is an answer; nothing: somebody does, or nothing is said of ranks.
[[nodiscard]] std::optional<ScoresSection> describe_scores(const RankScores& scores);

// Error{insufficient}: what they show and what they cannot, to whoever needs the times of the
// steps.
[[nodiscard]] Error scores_error(const RankScores& scores);

}  // namespace mfu
