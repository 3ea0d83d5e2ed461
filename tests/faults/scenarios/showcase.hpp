// The jobs that are shipped in examples/: one of each family, chosen, not drawn.
#pragma once

#include <span>
#include <string_view>

#include "faults/job/spec.hpp"

namespace mfu::faults {

struct Showcase {
  std::string_view name;  // the file is examples/NAME.json
  JobSpec (*spec)();
};

[[nodiscard]] std::span<const Showcase> showcases() noexcept;
// nullptr when there is none of that name.
[[nodiscard]] const Showcase* find_showcase(std::string_view name) noexcept;

}  // namespace mfu::faults
