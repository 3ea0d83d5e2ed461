// Switches of a convention: which have a meaning for it, and how they stand.
#pragma once

#include <string>

#include "mfu/flops.hpp"

namespace mfu {

// The defaults with the overrides laid over them. A switch without a default has no meaning for the
// convention: overriding it throws Error{unsupported} that names it.
[[nodiscard]] Switches resolve_switches(const Convention& convention, const Switches& overrides);

// "attention=causal window=honour router=count recompute=none trainable=all", those that have a
// meaning.
[[nodiscard]] std::string describe_switches(const Switches& resolved);

// Throws Error{unsupported} that names the switch and its value.
[[noreturn]] void refuse(std::string_view convention, RecomputeCount recompute);
[[noreturn]] void refuse(std::string_view convention, Trainable trainable);

}  // namespace mfu
