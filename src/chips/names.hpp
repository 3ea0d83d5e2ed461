// Device names as tokens: what match.cpp and device.cpp compare.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"

namespace mfu::chips_detail {

// Case-folded, in the order given, without the words that tell no chip from another ("NVIDIA",
// "Tesla", "Tensor Core GPU"); "80 GB" is one token, as is "304 CU".
[[nodiscard]] std::vector<std::string> tokens_of(std::string_view name);
[[nodiscard]] std::string joined(const std::vector<std::string>& tokens);
[[nodiscard]] bool all_digits(std::string_view token) noexcept;

// Id, name and aliases.
[[nodiscard]] std::vector<std::string_view> names_of(const Chip& chip);

// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string_view>& ids);

// Error{unsupported}: no row has this name. Near names, or all where nothing is near.
[[noreturn]] void refuse_unknown(std::string_view name, const Place& place,
                                 std::span<const Chip> user);

// The name, short enough for a message.
[[nodiscard]] std::string quoted(std::string_view name);

}  // namespace mfu::chips_detail
