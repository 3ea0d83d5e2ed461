// mfu flops: what one token and one step of a model cost, by component and by convention.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/calc_options.hpp"
#include "commands/commands.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "report/measure/calc_wording.hpp"
#include "report/measure/flops_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct FlopsText {
  CalcText calc;
  OutputText output;
  bool verbose = false;
};

Error missing(std::string_view option, std::string message, std::string hint) {
  Place place;
  place.what = std::string(option);
  return Error(ErrorKind::usage, std::move(message), std::move(place), std::move(hint));
}

int run_flops(const CLI::App& command, const FlopsText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  Notes notes;
  const ParsedCalc parsed = parse_calc(text.calc, problems, notes);
  const CalcInput& input = parsed.input;
  if (!input.model && !input.params) {
    problems.add(missing("--model", "no model to count",
                         "--model llama-3.1-8b: a name, a config.json or a JSON object"));
  }
  if (!input.seq_len && input.lengths.empty() && (input.model || !input.params)) {
    problems.add(missing("--seq-len", "the sequence length is not given",
                         "--seq-len 8192: tokens of one sequence"));
  }
  problems.throw_if_any();
  if (input.batch && input.tokens_per_step) {
    CalcInput tokens = input;
    tokens.convention = nullptr;  // nothing is counted: only whether the tokens agree
    for (const Error& problem : disagreement_errors(calculate(tokens))) problems.add(problem);
  }
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();
  Report report = report_of("flops");
  report.inputs = parsed.files;
  report.notes = notes.all();
  const std::vector<const Convention*> others = all_conventions();
  report.flops = describe_flops(input.model.value_or(ModelShape{}), input, others);
  return publish(report, targets, text.verbose);
}

}  // namespace

std::function<int()> add_flops(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("flops", "FLOPs by component and by convention");
  const auto text = std::make_shared<FlopsText>();
  constexpr std::array kParts{CalcPart::model, CalcPart::step, CalcPart::convention};
  add_calc_options(*command, text->calc, kParts);
  add_output_options(*command, text->output);
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu flops --model llama-3.1-8b --seq-len 8192\n"
      "  mfu flops --model config.json --seq-len 4096 --convention exact-causal\n"
      "  mfu flops --model mixtral-8x7b --seq-len 4096 --batch 128 --json");
  return [command, text] { return run_flops(*command, *text); };
}

}  // namespace mfu::app
