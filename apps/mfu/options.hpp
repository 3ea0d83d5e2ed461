// Options that several commands share: their text on the command line, and what it means. Values
// are taken as text and judged here, so that all that is wrong can be said at once.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/diagnose.hpp"
#include "mfu/error.hpp"
#include "mfu/render.hpp"
#include "mfu/timings.hpp"
#include "outputs/terminal.hpp"

namespace mfu::app {

// The place of what is wrong with an option's value.
[[nodiscard]] Place at(std::string_view option);

// A row of a table of options, whose value is kept as text: name, member, type, help.
template <typename Text, typename Row>
void add_text_option(CLI::App& command, Text& text, const Row& row) {
  command.add_option(std::string(row.name), text.*row.member, std::string(row.help))
      ->type_name(std::string(row.type));
}

// Collects what is wrong with a command line.
class Problems {
 public:
  void add(Error error) { found_.push_back(std::move(error)); }
  // Runs `work`; what it throws as an Error is kept, and nothing is returned.
  template <typename Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      add(error);
    }
  }
  [[nodiscard]] bool any() const noexcept { return !found_.empty(); }
  // Throws UsageErrors if there is anything.
  void throw_if_any() const;

 private:
  std::vector<Error> found_;
};

// All that is wrong with a command line; as one Error, it is the first and the number of the
// others.
class UsageErrors : public Error {
 public:
  explicit UsageErrors(std::vector<Error> all);
  [[nodiscard]] const std::vector<Error>& all() const noexcept { return all_; }

 private:
  std::vector<Error> all_;
};

// --- outputs: --json, --out FORMAT[:PATH]
struct OutputText {
  bool json = false;
  std::vector<std::string> out;
};
void add_output_options(CLI::App& command, OutputText& text);

struct OutputTarget {
  const Renderer* renderer = nullptr;
  Output output;
};
// Opens every file. Without anything for standard output, the text goes there too.
[[nodiscard]] std::vector<OutputTarget> open_outputs(const OutputText& text, Problems& problems);

// Whether one of the results that are asked for goes there.
[[nodiscard]] bool writes_to_standard_output(const OutputText& text);
// For a command whose standard output is taken: the text that nobody asked for goes beside it.
void move_text_to_standard_error(std::vector<OutputTarget>& targets);

// A report must not overwrite its own input.
void refuse_to_overwrite(const OutputText& text, const std::vector<std::string>& inputs,
                         Problems& problems);
// Whether standard output was asked for as JSON. From the bare arguments, since a command line that
// cannot be parsed must still be answered in the right form.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);

// --- which part of a run: --steps, --skip, --ranks
struct SelectionText {
  std::string steps, skip, ranks;
};
void add_selection_options(CLI::App& command, SelectionText& text);
[[nodiscard]] Selection parse_selection(const SelectionText& text, Problems& problems);

// --- how to analyse: --reference, --target-efficiency, --materiality, --communication-materiality,
// --seed
struct AnalysisText {
  std::string reference, target_efficiency, materiality, communication_materiality, seed;
};
void add_analysis_options(CLI::App& command, AnalysisText& text);
[[nodiscard]] DiagnoseOptions parse_analysis(const AnalysisText& text, Problems& problems);

// --- gates: --min-mfu, --fail-on, --strict
struct GateText {
  std::string min_mfu;
  std::vector<std::string> fail_on;
  bool strict = false;
};
struct GateLimits {
  std::string min_mfu_text;
  std::optional<double> min_mfu;
  std::string fail_on_text;
  std::vector<Family> fail_on;
  bool strict = false;
};
// `verdicts`: the command has some, so --fail-on means something.
void add_gate_options(CLI::App& command, GateText& text, bool verdicts = true);
[[nodiscard]] GateLimits parse_gates(const GateText& text, Problems& problems);

// Arguments that the command line does not know, as problems with a suggestion.
void refuse_unknown_options(const CLI::App& command, Problems& problems);

}  // namespace mfu::app
