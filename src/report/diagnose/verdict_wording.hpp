// The lines of a verdict: what it is, what it is worth, and what else was found.
#pragma once

#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "mfu/diagnose.hpp"

namespace mfu {

// The largest of a family; nothing: there is none.
[[nodiscard]] const Finding* finding_for(const Diagnosis& diagnosis, Family family);

// "stall (input), all ranks, steady; confidence 0.98"
[[nodiscard]] std::string verdict_line_of(const Diagnosis& diagnosis);
// "stall all ranks steady -23.1 % of the step conf 0.98": family (of an inconclusive verdict the
// readings too), place, course, what a fix saves, confidence; what is not known is left out.
[[nodiscard]] std::string one_line_of(const Diagnosis& diagnosis);
// "9.4 MFU points (31.4 -> 40.8 %), 12.90 -> 9.92 s a step (9.8..10.1)"; empty: nothing to recover
[[nodiscard]] std::string worth_of(const Diagnosis& diagnosis);
// One line for each further finding that is material or a place of a family that the verdict names.
[[nodiscard]] std::vector<std::string> also_of(const Diagnosis& diagnosis);

}  // namespace mfu
