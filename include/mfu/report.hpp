// Report: one result, many renderers. It holds numbers and finished sentences; a renderer only
// places them. Unknown is std::nullopt, never zero.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/analyze.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"

namespace mfu {

struct Gate {
  std::string id;     // "min-mfu", "fail-on"
  std::string limit;  // as the user gave it
  std::optional<double> value;
  std::string value_text;
  bool passed = false;
};

// A finding with its words.
struct FindingText {
  std::string code;  // "straggler/rank/steady"
  std::vector<std::string> evidence;
  std::vector<std::string> actions;
  std::string owner;
};

// One row of the table of parts.
struct PartText {
  std::string label;                         // "waiting for slower ranks"
  std::optional<double> factor;              // the factor of the product that this part is
  std::optional<double> efficiency_without;  // MFU (else parallel efficiency) if the part were 0
  bool blamed = false;                       // the verdict points at it
};

struct DiagnoseSection {
  Diagnosis diagnosis;
  std::string title;       // model, GPUs, peak
  std::string steps_line;  // which steps
  std::string status;      // "ok", "impossible", "no-peak", "no-model" (no work)
  std::vector<std::string> impossible_because;  // an MFU over 1: what explains it, likeliest first
  std::vector<PartText> part_texts;             // one for each of diagnosis.parts
  std::string fingerprint;
  std::string mfu_missing;          // why there is no MFU, and what would give it; else empty
  std::string recoverable_missing;  // why the verdict has no recoverable step; else empty
  std::string verdict_line;         // "stall (input), all ranks, steady; confidence 0.98"
  std::vector<std::string> also;    // other material findings, one line each
  std::vector<std::string> why;     // evidence of the verdict
  std::string worth;                // "9.4 MFU points (31.4 -> 40.8 %), 12.90 -> 9.92 s a step"
  std::vector<std::string> actions;
  std::string owner;
  std::string refuted_by;
  std::vector<FindingText> finding_texts;          // one for each diagnosis.findings
  std::string measured, derived, assumed, unseen;  // how sure
};

struct Report {
  std::string tool_version;
  std::string command;
  std::vector<InputInfo> inputs;
  std::vector<Note> notes;
  std::vector<Gate> gates;
  int exit_code = 0;
  std::optional<DiagnoseSection> diagnose;
};

// The unit in which seconds of this magnitude are read, and the decimals that give four digits. All
// times that are compared with one another are shown in one scale.
struct TimeScale {
  double unit_seconds = 1.0;
  std::string_view unit = "s";
  int decimals = 2;
};
[[nodiscard]] TimeScale time_scale(double seconds) noexcept;

// Words and numbers of a diagnosis. Pure.
[[nodiscard]] DiagnoseSection describe(Diagnosis diagnosis, const RunTimings& run);

}  // namespace mfu
