// The table of what fixes are worth, and what is asked of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/worth/fix_worth.hpp"

namespace mfu {

// What is asked of the table of fixes.
struct WorthAsk {
  bool show = false;  // even where one fix is all there is
  std::optional<double> price_per_gpu_hour;
  std::optional<double> steps_left;
};

// The fixes in a table: each family's alone, then all in their order.
struct WorthSection {
  FixWorth worth;  // over all steps
  // Where the run ends in another state than it was in on the whole: the rows and all prices are of
  // that one, since it is how the job goes on.
  std::optional<EndState> end_state;
  CostBasis basis;
  bool on_screen = false;  // JSON has it always
  std::string title;
  std::vector<std::string> headers;  // of the cells
  struct Row {
    std::string label;
    std::vector<std::string> cells;  // empty: a heading
  };
  std::vector<Row> rows;
  std::vector<std::string> remarks;
};

}  // namespace mfu
