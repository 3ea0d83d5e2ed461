// "Did you mean ...?": the name out of a list that is nearest to a misspelt one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mfu {

// Insertions, deletions, substitutions and swaps of neighbours that turn one text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to);

// The nearest of `names`, if it is near enough to be meant (a third of its letters at most, case
// does not count); else empty. The first of equals.
[[nodiscard]] std::string_view nearest_name(std::string_view text,
                                            std::span<const std::string_view> names);

// "did you mean 'compute'?" or, where nothing is near, "one of: compute, comm, stall".
[[nodiscard]] std::string name_hint(std::string_view text, std::span<const std::string_view> names);

}  // namespace mfu
