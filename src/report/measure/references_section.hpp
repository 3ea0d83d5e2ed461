// A measurement among published ones: numbers and finished sentences.
#pragma once

#include <string>
#include <vector>

#include "measure/references.hpp"

namespace mfu {

// Where a measurement stands among what others have published: a calibration, no proof.
struct ReferencesSection {
  ReferencePlacement placement;
  std::vector<std::string> texts;  // one for each of placement.nearest
  std::string line;                // all of it; empty: no point of like scale
};

}  // namespace mfu
