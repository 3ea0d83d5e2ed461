// A log that says something rank by rank, as a run that can be diagnosed where it says enough.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "logs/training_log.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "timings/rank_scores.hpp"

namespace mfu {

// The ranks' compute and communication by step. Megatron's timers of all ranks (forward-compute and
// backward-compute are needed) and Ascend's step_trace_time.csv hold them; what the log says of the
// job (model, batch, layout) goes into the run. Scores and step times of ranks do not: of these the
// last report, which is empty where the log says nothing rank by rank.
[[nodiscard]] std::variant<RunTimings, RankScores> ranks_of_log(const TrainingLog& log,
                                                                Notes& notes);

struct LoggedRanks {
  std::variant<RunTimings, RankScores> ranks;
  std::vector<InputInfo> inputs;
};

// Logs of one job, each of other ranks. Each file is a log, or none is: nothing where one cannot be
// read as one. `opened`: one of the files, opened already.
[[nodiscard]] std::optional<LoggedRanks> read_logged_ranks(const std::vector<std::string>& paths,
                                                           std::optional<ByteSource> opened,
                                                           Notes& notes);

}  // namespace mfu
