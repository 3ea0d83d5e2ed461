// The additive keys `trace`, `replay` and `reduced_notes` of mfu.run/1: what traces show beside the
// columns. Written by
// `mfu reduce`, read back so that a reduced run gives the report that its traces give.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "mfu/error.hpp"
#include "timings/trace.hpp"

namespace mfu {

[[nodiscard]] nlohmann::ordered_json trace_to_json(const TraceEvidence& trace);

// Throws Error{format} at `place` when a value is not of its kind. Absent keys keep their defaults.
[[nodiscard]] TraceEvidence trace_from_json(const nlohmann::json& value, const Place& place);

// The additive key `reduced_notes`: what reading the traces had to say; it would be lost with them.
[[nodiscard]] nlohmann::ordered_json notes_to_json(const Notes& notes);
void notes_from_json(const nlohmann::json& value, const Place& place, Notes& notes);

// The additive key `replay`.
[[nodiscard]] nlohmann::ordered_json replay_to_json(const PipelineReplay& replay);
[[nodiscard]] PipelineReplay replay_from_json(const nlohmann::json& value, const Place& place);

}  // namespace mfu
