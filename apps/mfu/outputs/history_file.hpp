// The history of measurements: JSON Lines (`mfu.history/1`), one record a line, only ever added to.
//
// Several processes may add at once: each takes a lock, looks how the file ends, and writes its
// record with one write at the end. A line that a crash cut off stays as it is: the next record
// begins on a line of its own.
#pragma once

#include <string>
#include <vector>

#include "compare/history.hpp"
#include "compare/side.hpp"
#include "inputs/saved_report.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"

namespace mfu::app {

// The record of a saved report. `job`: empty: the report's own, else model, GPUs and chip.
[[nodiscard]] HistoryEntry entry_of(const SavedReport& report, const std::string& job);
[[nodiscard]] HistoryEntry entry_of(const Side& side, std::string_view command,
                                    const std::string& job);

// Throws Error{io}: no such folder, not allowed, no room (then nothing of it is left).
void append_history(const std::string& path, const std::vector<HistoryEntry>& entries);

// Records in the order of the file. What is not a record is left out and noted: "history-cut-off"
// (the last line), "history-line" (any other), "history-version". Throws Error{io}.
[[nodiscard]] std::vector<HistoryEntry> read_history(const std::string& path, InputInfo& info,
                                                     Notes& notes);

}  // namespace mfu::app
