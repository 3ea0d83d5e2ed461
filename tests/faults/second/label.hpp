// What a careful engineer says of a job, from what its recorder wrote.
#pragma once

#include <optional>

#include "fault.hpp"
#include "job.hpp"
#include "record.hpp"

namespace second {

// Savings that no fair label lies between; material is 5 %.
inline constexpr double surely_small = 0.04;
inline constexpr double surely_material = 0.065;
// Healthy jobs expose some transfer; nobody calls this much healthy.
inline constexpr double surely_exposed = 0.18;

struct Evidence {
  const Setting& setting;
  const Fault& fault;
  const Recorder& recorder;
  const Columns& columns;
  const Columns& twin;  // the twin's, by the same recorder
  double step_s = 0.0;
  double saving = 0.0;  // of the step, 0..1
};

// Nothing: no fair label, the job is to be drawn again.
std::optional<Label> label_of(const Evidence& evidence);
Label healthy_label(const std::string& why);

}  // namespace second
