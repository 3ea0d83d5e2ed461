// What the right diagnosis of a job is, from its spec alone.
#pragma once

#include "faults/job/spec.hpp"

namespace mfu::faults {

// Family, place, persistence and cause; no times.
[[nodiscard]] Truth describe_truth(const JobSpec& spec);

// Losses under the materiality make a healthy job; near it, both answers are right.
void judge_size(const JobSpec& spec, Truth& truth);

}  // namespace mfu::faults
