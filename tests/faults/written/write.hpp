// RunTimings as mfu.run/1 text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mfu/timings.hpp"

namespace mfu::faults {

struct WriteOptions {
  std::string time_unit = "s";     // s, ms, us, ns
  std::uint64_t shuffle_seed = 0;  // order of the ranks (and of JSON Lines samples); 0: as they are
  int decimals = -1;               // of a second, rounded; -1: every digit that counts
  bool coords = true;              // a "coords" object per rank
};

// One object; a line for each rank.
[[nodiscard]] std::string to_json(const RunTimings& run, const WriteOptions& options = {});

// JSON Lines, ranks dealt out over `files` texts, each with the header line. Without the `step`
// series, which a sample has no name for.
[[nodiscard]] std::vector<std::string> to_jsonl(const RunTimings& run,
                                                const WriteOptions& options = {},
                                                std::size_t files = 1);

}  // namespace mfu::faults
