// What traces and timelines show beside a verdict: numbers and short lines with a label each.
#pragma once

#include <string>
#include <vector>

#include "timings/trace.hpp"

namespace mfu {

// What the traces show beside the verdict: short lines with a label each.
struct TraceSection {
  TraceEvidence evidence;
  std::string title;  // "Across ranks"
  struct Line {
    std::string label;  // "last"
    std::string text;
  };
  std::vector<Line> lines;
};

// The recorded schedule of a pipeline, replayed.
struct ReplaySection {
  PipelineReplay replay;
  std::string title;
  std::vector<TraceSection::Line> lines;
};

}  // namespace mfu
