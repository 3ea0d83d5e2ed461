// What a log says of its ranks where it does not tell compute from communication: which one stands
// out, at most. Filled by the readers, judged by the diagnosis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mfu {

enum class ScoreUnit {
  ratio,    // best over own time: 1 is the best
  seconds,  // of a step, or of a timer
  flops,    // FLOP/s
  other,
};

struct RankScore {
  std::int64_t rank = 0;
  double value = 0.0;
};

// One rank over all reports: how its value stands to the best of its report, at most 1.
struct RankOverReports {
  std::int64_t rank = 0;
  double score = 0.0;        // mean over the reports that list the rank
  std::int64_t reports = 0;  // that list it
  double all_reports = 0.0;  // the same over all reports; where it is not listed it counts as 1
};

struct RankScores {
  std::string file;
  std::string series;  // as the log calls it: "gpu-relative-score"
  ScoreUnit unit = ScoreUnit::other;
  std::vector<RankScore> last;  // of the last report, by rank; empty: nothing is said of ranks
  std::vector<RankOverReports> over_reports;  // by rank
  std::int64_t reports = 0;
  // Megatron's timers, of a level at which compute is not told apart.
  bool coarse_timers = false;
};

}  // namespace mfu
