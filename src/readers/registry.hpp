// The formats of inputs: how each is recognised, and what reads it. First match wins.
// To add one: its file (sniff, read), a value of InputFormat, and a row in registry.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "readers/input_format.hpp"
#include "readers/reader.hpp"
#include "readers/telemetry/format.hpp"
#include "traces/rank_trace.hpp"

namespace mfu {

struct FormatRow {
  InputFormat format;
  std::string_view name;    // in the inputs of a report: "kineto"
  std::string_view called;  // to people: "a profiler trace"
  std::string_view way;     // what reads it
  // Of the head, decompressed, without a byte order mark.
  bool (*sniff)(std::string_view head);
  // What reads it, if anything in this room does.
  void (*read_run)(ReadJob& job) = nullptr;
  // Ranks of one file. Called on several threads at a time, with notes of its own each.
  std::vector<traces::RankTrace> (*read_trace)(ByteSource& source, Notes& notes) = nullptr;
  void (*read_telemetry)(TelemetryJob& job) = nullptr;
};

[[nodiscard]] std::span<const FormatRow> format_rows() noexcept;
[[nodiscard]] const FormatRow& format_row(InputFormat format) noexcept;

// What --telemetry names is telemetry: a log with dates is the kernel's, and nvidia-smi's CSV takes
// what is left, and refuses what it does not know.
[[nodiscard]] const FormatRow& telemetry_row(std::string_view head);

}  // namespace mfu
