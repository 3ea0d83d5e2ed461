// What the command line says about a run that its file does not (a profiler trace names no model),
// or says otherwise.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inputs/chip_source.hpp"
#include "mfu/timings.hpp"
#include "options.hpp"

namespace mfu::app {

struct OverrideText {
  std::string model, seq_len, batch, tokens_per_step, gpus;
  std::string chip, peak, precision, clock, chips, convention;
};
void add_override_options(CLI::App& command, OverrideText& text);

// The parsed values; absent: the file's own stand.
struct Overrides {
  std::string model, chip, precision, convention;
  std::optional<double> seq_len, global_batch, tokens_per_step, peak_flops;
  std::optional<std::int64_t> gpus;
  std::optional<Clock> clock;
  std::span<const Chip> user_chips;
};
[[nodiscard]] Overrides parse_overrides(const OverrideText& text, Problems& problems, Notes& notes,
                                        std::vector<InputInfo>& files);

// The option wins, and a note says what it replaced.
void override_run(RunTimings& run, const Overrides& overrides, Notes& notes);

}  // namespace mfu::app
