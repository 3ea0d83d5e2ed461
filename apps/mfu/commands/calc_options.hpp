// The options of a measurement, shared by calc, whatif and flops: as text, and what they mean. A
// row of `calc --rows` has the same names, with underscores.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/chip_source.hpp"
#include "mfu/chip.hpp"
#include "mfu/error.hpp"
#include "mfu/measure.hpp"
#include "mfu/read.hpp"
#include "options.hpp"

namespace mfu::app {

struct CalcText {
  std::string model, params;
  std::string seq_len, batch, tokens_per_step, lengths;
  std::string step_time, tokens_per_s, tokens_per_s_per_gpu, tflops, gpus, accumulation;
  std::string chip, peak, precision, clock, telemetry, chips;
  std::string convention, attention, window, router, recompute, trainable;
};

enum class CalcPart { model, step, measurement, peak, convention };

struct CalcOption {
  std::string_view name;  // "--seq-len"
  std::string CalcText::*member;
  CalcPart part;
  std::string_view type;
  std::string_view help;
};
[[nodiscard]] std::span<const CalcOption> calc_options() noexcept;
// The option of a row's key: "seq_len" -> --seq-len; nothing: there is none.
[[nodiscard]] const CalcOption* find_calc_option(std::string_view key) noexcept;

// `parts`: which of the options the command has.
void add_calc_options(CLI::App& command, CalcText& text, std::span<const CalcPart> parts);

struct ParsedCalc {
  CalcInput input;
  double rounding = 0.0;  // half a unit of the last digit of the measurement, relative
  std::vector<InputInfo> files;
};

// What cannot be read is a problem and stands as 1 in the result, so that it is not taken for
// missing too. `inline_lengths`: document lengths that did not come from a file.
[[nodiscard]] ParsedCalc parse_calc(const CalcText& text, Problems& problems, Notes& notes,
                                    const std::vector<double>& inline_lengths = {});

// Parses, and adds what is missing to what is wrong: all of it is said at once. Throws.
[[nodiscard]] ParsedCalc parse_measurement(const CalcText& text, Problems& problems, Notes& notes,
                                           const std::vector<double>& inline_lengths = {});

// Where the convention was left open and only N is given, 6n is the one that needs nothing else.
inline constexpr std::string_view kDefaultConvention = "palm";

// The conventions of the short table: palm, exact-causal, 6n.
[[nodiscard]] std::vector<const Convention*> usual_conventions();
[[nodiscard]] std::vector<const Convention*> all_conventions();

}  // namespace mfu::app
