// A plan in the forms other than text and JSON.
#pragma once

#include <string>

#include "render/figures.hpp"

namespace mfu {
struct PlanSection;
}  // namespace mfu

namespace mfu::render {

[[nodiscard]] Gist plan_gist(const PlanSection& section);
// The tables, under the gist.
[[nodiscard]] std::string plan_markdown(const PlanSection& section);
// The schedule, a row a step. Throws Error{unsupported} where there is none.
[[nodiscard]] std::string plan_csv(const PlanSection& section);

}  // namespace mfu::render
