// What goes wrong with a job: kind, place, size and course.
#pragma once

#include <string>
#include <vector>

#include "simulate.hpp"

namespace second {

// What of a job is harmed, and so what its label hangs on.
enum class Sort {
  nothing,
  compute_place,  // devices of a place are slow
  moving,         // the slow one changes from step to step
  logical_place,  // a stage, an expert, a part of the context has more work
  stall_place,    // hosts of a place are late
  stall_all,      // all hosts are late
  link,           // one group's transfer is slow
  network,        // all transfer is slow
  clocks,         // all devices are slow
  kernels,        // all kernels are poor
  missing,        // the culprit was not recorded
  comm_zero,      // communication was not recorded
  two,            // two of the above
};

struct KindRow {
  const char* name;
  Sort sort;
  std::vector<Shape> shapes;
};
const std::vector<KindRow>& kinds();

// When a fault is there: a level per step, 0 (not at all) to 1.
struct Course {
  std::string name = "steady";  // as the verdict's persistence
  std::vector<float> level;
};

struct Fault {
  std::string kind;
  Sort sort = Sort::nothing;
  Course course;
  std::vector<int> ranks;         // harmed
  std::vector<int> nodes;         // where the harmed ranks are whole nodes
  std::vector<double> of_member;  // [ranks] share of the size that each has, around 1
  double size = 0.0;              // see apply()
  int stage = -1;
  bool telemetry_explains = false;  // clocks of the harmed are recorded as low
  std::string reason;               // of their throttling
  std::string cause;                // as the verdict's, where it can be known
};

// Nothing: this kind cannot befall this setting.
bool draw_fault(const KindRow& kind, const Setting& setting, bool small, Random& random,
                Fault& fault);

// Puts the fault into the effects. `evened`: what is left when its work is spread evenly, for kinds
// that are uneven work; nothing for the others.
void apply(const Fault& fault, const Setting& setting, bool evened, Effects& effects);

}  // namespace second
