// Devices whose driver prints no useful name: AMD's, where the table of names is missing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"

namespace mfu::chips_detail {

// Facts written into a name: "gfx942:sramecc+:xnack- 304 CU 192 GB". Generic names ("AMD Radeon
// Graphics") give facts without any. Nothing: an ordinary name.
[[nodiscard]] std::optional<DeviceFacts> facts_in(const std::vector<std::string>& tokens);

// By architecture, units, memory and maximum clock.
[[nodiscard]] ChipMatch match_architecture(const DeviceFacts& facts, std::string_view name,
                                           const Place& place, std::span<const Chip> user);

// The rows as one answer; throws Error{unsupported} where their peaks differ.
[[nodiscard]] ChipMatch one_of(std::vector<const Chip*> rows, std::string_view name,
                               const Place& place);

}  // namespace mfu::chips_detail
