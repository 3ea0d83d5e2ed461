// A saved `--json` report as one side of a comparison.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "compare/side.hpp"
#include "mfu/compare.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"

namespace mfu::app {

// What measures something.
enum class SavedCommand { diagnose, log, calc, whatif };
[[nodiscard]] std::string_view to_string(SavedCommand command) noexcept;

struct SavedReport {
  SavedCommand command = SavedCommand::diagnose;
  Side side;
  std::string verdict;                   // of diagnose: its family
  std::optional<double> recorded_ranks;  // of diagnose: that it stands on
};

// Throws Error{format}: no report, or one that is cut off; Error{unsupported}: of another version;
// Error{insufficient}: of a command that failed; Error{usage}: of a command that measures nothing.
[[nodiscard]] SavedReport parse_report(const std::string& text, const std::string& path);
[[nodiscard]] SavedReport read_report(const std::string& path, InputInfo& info);
[[nodiscard]] SavedReport read_report(ByteSource& source, InputInfo& info);

}  // namespace mfu::app
