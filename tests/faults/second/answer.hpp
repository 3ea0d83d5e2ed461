// What the library says of a job, and whether that is what its label says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job.hpp"

namespace second {

struct Recoverable {
  std::string family;
  double step_s = 0, low_s = 0, high_s = 0;
};

struct Answer {
  std::string error;  // not empty: the document was refused
  std::string family, locality, persistence, cause;
  std::vector<std::string> families, readings;
  std::vector<std::vector<int>> places;  // each kind of culprit that is named, as ranks
  std::optional<double> confidence;
  double step_s = 0;
  std::optional<Recoverable> recoverable;  // of the verdict
  std::vector<Recoverable> of_readings;
  std::string place_text;
};

// Reads and diagnoses the document in this process. `scratch`: a path that may be written.
Answer answer_to(const Job& job, const std::string& scratch);

bool place_right(const Job& job, const Answer& answer);
bool family_right(const Job& job, const Answer& answer);
inline bool right(const Job& job, const Answer& answer) {
  return family_right(job, answer) && place_right(job, answer);
}

}  // namespace second
