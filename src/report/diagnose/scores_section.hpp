// Relative scores of ranks, where a log has nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mfu/diagnose.hpp"

namespace mfu {

// A log with a score a rank and no split of the step: it can show who stands out, or that nobody
// does.
struct ScoresSection {
  Family family = Family::inconclusive;
  std::vector<std::int64_t> ranks;  // that stand out, the lowest first
  std::string verdict_line;
  std::vector<std::string> why;
  std::string unseen;
  std::string next;  // what a diagnosis would need
};

}  // namespace mfu
