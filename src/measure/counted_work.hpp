// The work of a step from a run's model, wherever the model is found.
#pragma once

#include <functional>

#include "mfu/error.hpp"
#include "mfu/model.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// Whether the run states no work and has what it takes to count it: a model, the sequence length
// and the tokens of a step.
[[nodiscard]] bool is_countable(const RunTimings& run) noexcept;

// As count_work() of measure.hpp, with the model that `find` gives or throws an Error for.
void count_work(RunTimings& run, const std::function<ModelShape()>& find, Notes& notes);

}  // namespace mfu
