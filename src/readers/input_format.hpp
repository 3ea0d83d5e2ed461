// What an input is, by its first bytes: one answer for every command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mfu/error.hpp"

namespace mfu {

enum class InputFormat {
  // What people hand over by mistake.
  zstd,
  zip,
  bzip2,
  xz,
  parquet,
  utf16,
  empty,  // blanks, at most
  // Of mfu itself.
  history,
  report,
  chips,
  run_json_lines,
  run_json,
  // Of profilers.
  nsight,
  kineto,
  xla,            // of JAX and XLA
  timeline,       // of a pipeline
  nsys_stats,     // sums: no trace
  foreign_trace,  // not read: traces::foreign_trace_error()
  // Telemetry of devices.
  dcgm_dmon,
  smi_dmon,
  dcgm_text,
  smi_csv,
  kernel_log,
  // Logs: see DetectedFormat::log.
  training_log,
  rank_log,  // values by rank, no steps: the reports of detectors
  model_config,
  // What nothing above explains. A log whose first step comes late may be among them.
  json,  // an object that names no schema of mfu
  text,
};

struct FormatRow;  // readers/registry.hpp

struct DetectedFormat {
  InputFormat format = InputFormat::text;
  const FormatRow* row = nullptr;  // never nullptr, as detect_format() gives it
  std::string_view log;            // of a log: the format that explains it best, "megatron-lm"
  [[nodiscard]] std::string_view called() const noexcept;  // "a profiler trace"
  // What reads it: "mfu diagnose reads it"; empty: nothing does.
  [[nodiscard]] std::string_view way() const noexcept;
};

// Bytes of the head; decompressed.
inline constexpr std::size_t kHeadBytes = 256 * 1024;

// `head`: the first bytes, decompressed, kHeadBytes at most. Fewer will do where what tells the
// format is among them. Never throws for what the bytes are.
[[nodiscard]] DetectedFormat detect_format(std::string_view head);

// Whether to read on as a log may be worth it.
[[nodiscard]] bool may_be_log(InputFormat format) noexcept;
// Whether it is surely no log, whatever its lines look like.
[[nodiscard]] bool is_no_log(InputFormat format) noexcept;

// "is a saved report of mfu, not a training log". `wanted`: "a training log"; `place`: of the file.
[[nodiscard]] Error other_format(const DetectedFormat& found, std::string_view wanted, Place place);

}  // namespace mfu
