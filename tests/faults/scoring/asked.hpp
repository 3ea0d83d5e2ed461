// How many jobs of each kind a check looks at. The usual few say whether a rule holds at all, under
// sanitizers and on every change; MFU_FAULTS_RUNS=N asks for N, as tests/proof/accuracy.py does.
#pragma once

#include <cstdlib>

namespace mfu::faults {

inline int asked_runs(int usual) {
  const char* value = std::getenv("MFU_FAULTS_RUNS");
  return value == nullptr ? usual : std::atoi(value);
}

}  // namespace mfu::faults
