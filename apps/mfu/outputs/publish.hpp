// From a finished report to its outputs: notes, --strict, gates, rendering.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/report.hpp"
#include "options.hpp"

namespace mfu::app {

// What --strict and --min-mfu judge.
struct Judged {
  std::optional<double> mfu;
  std::optional<double> hfu;
  bool impossible = false;
  std::string missing;  // why there is no MFU
  std::vector<std::string> impossible_because;
};

// Throws Error{insufficient} where --strict refuses: loss, an assumption, an impossible value.
// `otherwise`: what happens without it.
void refuse_if_strict(const std::vector<Note>& notes, const Judged& judged,
                      const std::string& otherwise);
// Throws Error{insufficient} when there is no MFU to judge.
[[nodiscard]] Gate judge_min_mfu(const GateLimits& limits, const Judged& judged);

// "mfu: error: place: message" and its hint on standard error.
void say_error(const Error& error);
// Notes on standard error: what was lost or assumed; with `verbose` all.
void say_notes(const std::vector<Note>& notes, bool verbose);

// Says the notes where the text goes to standard output, sets the exit code by the gates, and
// writes every output. The exit code: 130 where the user broke off and what there was is answered.
int publish(Report& report, std::vector<OutputTarget>& targets, bool verbose,
            bool interrupted = false);

}  // namespace mfu::app
