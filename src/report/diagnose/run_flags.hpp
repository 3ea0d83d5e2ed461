// What `job` of a run says in the words of the framework that trained it: Megatron, NeMo,
// torchtitan, Hugging Face, DeepSpeed, MaxText. One table; a spelling is one row.
#pragma once

#include <string>
#include <string_view>

#include "report/conditions.hpp"

namespace mfu {

// One line of `job`. A value may itself hold lines: "num_workers=32 prefetch=8", a JSON object, or
// a command line ("--use-flash-attn --num-workers 8"). A flag that says no sets nothing.
void read_job_word(std::string_view key, std::string_view value, Conditions& conditions);

}  // namespace mfu
