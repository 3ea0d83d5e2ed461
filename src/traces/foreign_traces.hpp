// Traces of profilers that are not read: each with the sentence that helps whoever has one.
#pragma once

#include <string>
#include <string_view>

#include "mfu/error.hpp"

namespace mfu::traces {

// Ascend's trace_view.json, XLA's .xplane.pb, Perfetto's protobuf, rocprofv3's JSON, a tar archive,
// and Chrome traces that no known profiler wrote. Asked after the formats that are read.
[[nodiscard]] bool sniff_foreign_trace(std::string_view head);

// What it is and what to give instead. `head` is such a trace's.
[[nodiscard]] Error foreign_trace_error(std::string_view head, const std::string& name);

}  // namespace mfu::traces
