// Relative scores of ranks, where a log has nothing else.
#pragma once

#include <string>
#include <vector>

namespace mfu {

// A log with a relative score a rank and no times: it can show that nobody stands out.
struct ScoresSection {
  std::string verdict_line;
  std::vector<std::string> why;
  std::string unseen;
  std::string next;  // what a diagnosis would need
};

}  // namespace mfu
