// mfu compare BEFORE AFTER: did it get better, by how much, and which factor moved.
#include "mfu/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "commands/commands.hpp"
#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "inputs/compared_side.hpp"
#include "inputs/log_reading.hpp"
#include "inputs/read_inputs.hpp"
#include "inputs/run_overrides.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "outputs/regression_gate.hpp"
#include "outputs/regression_limit.hpp"
#include "report/compare/compare_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct CompareText {
  std::vector<std::string> files;
  OutputText output;
  OverrideText overrides;
  CalcText of_logs;  // what the overrides do not hold
  std::vector<std::string> telemetry;
  SelectionText selection;
  LogReadingText reading;
  std::string reference, seed, threads;
  std::string expect, least_change;
  RegressionText regression;
  bool reconvert = false;
  bool strict = false;
  bool verbose = false;
};

std::string parse_expected(const std::string& text, Problems& problems) {
  std::string name = text;
  std::replace(name.begin(), name.end(), '-', '_');
  const auto known = expectable_factors();
  if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return name;
  problems.add(Error(ErrorKind::usage, "there is no factor '" + text.substr(0, 80) + "'",
                     at("--expect"), name_hint(name, known)));
  return {};
}

std::optional<double> parse_share(const std::string& text, std::string_view option,
                                  Problems& problems) {
  std::optional<double> value;
  if (text.empty()) return value;
  problems.attempt([&] { value = parse_ratio(text, option); });
  return value;
}

// The options of calc that apply to a log but not to a run.
constexpr std::array<std::string_view, 7> kOfLogs{"--params",   "--accumulation", "--attention",
                                                  "--window",   "--router",       "--recompute",
                                                  "--trainable"};

bool is_of_logs(const CalcOption& option) {
  return std::find(kOfLogs.begin(), kOfLogs.end(), option.name) != kOfLogs.end();
}

std::string log_options_given(const CompareText& text) {
  std::string given;
  const auto add = [&](std::string_view name, bool is_given) {
    if (is_given) given += (given.empty() ? "" : ", ") + std::string(name);
  };
  for (const CalcOption& option : calc_options()) {
    if (is_of_logs(option)) add(option.name, !(text.of_logs.*option.member).empty());
  }
  add("--columns", !text.reading.columns.empty());
  add("--format", !text.reading.format.empty());
  add("--segment", !text.reading.segment.empty());
  return given;
}

// The options that describe a run also describe a log.
CalcText calc_text_of(const OverrideText& text, CalcText calc) {
  calc.model = text.model;
  calc.seq_len = text.seq_len;
  calc.batch = text.batch;
  calc.tokens_per_step = text.tokens_per_step;
  calc.gpus = text.gpus;
  calc.chip = text.chip;
  calc.peak = text.peak;
  calc.precision = text.precision;
  calc.clock = text.clock;
  calc.chips = text.chips;
  calc.convention = text.convention;
  return calc;
}

SideRequest parse_request(const CompareText& text, Problems& problems, Notes& notes,
                          std::vector<InputInfo>& files) {
  SideRequest request;
  request.overrides = parse_overrides(text.overrides, problems, notes, files);
  request.calc = calc_text_of(text.overrides, text.of_logs);
  request.log_options = log_options_given(text);
  request.selection = parse_selection(text.selection, problems);
  request.reading = parse_log_reading(text.reading, problems);
  request.summing = parse_log_summary(text.reading, problems);
  const SelectionText& chosen = text.selection;
  if (!chosen.skip.empty()) request.summing.skip = request.selection.skip;
  AnalysisText analysis;
  analysis.reference = text.reference;
  analysis.seed = text.seed;
  request.analysis = parse_analysis(analysis, problems);
  request.analysis.user_chips = request.overrides.user_chips;
  request.threads = parse_threads(text.threads, problems);
  const OverrideText& o = text.overrides;
  request.options_given =
      !(o.model.empty() && o.seq_len.empty() && o.batch.empty() && o.tokens_per_step.empty() &&
        o.gpus.empty() && o.chip.empty() && o.peak.empty() && o.precision.empty() &&
        o.clock.empty() && o.convention.empty() && chosen.skip.empty() && chosen.steps.empty() &&
        chosen.ranks.empty() && request.log_options.empty());
  if (!text.telemetry.empty()) {
    problems.add(Error(ErrorKind::usage, "telemetry of which of the two?", at("--telemetry"),
                       "diagnose each with its own, and compare the saved reports: mfu diagnose "
                       "before.json --telemetry node*.csv --json > b.json"));
  }
  return request;
}

// Exit code 2: nothing is written but the JSON object, which says why.
int refuse(Report& report, std::vector<OutputTarget>& targets, const CompareText& text) {
  report.exit_code = 2;
  say_notes(report.notes, text.verbose);
  for (const Error& problem : compare_problems(*report.compare)) say_error(problem);
  if (text.reconvert) {
    say_error(Error(ErrorKind::usage, "the two do not hold enough to restate them",
                    at("--reconvert"), "the model, tokens per step and GPUs of both are needed"));
  }
  if (!report.compare->difference_texts.empty()) {
    std::string all;
    for (const std::string& difference : report.compare->difference_texts) {
      all += (all.empty() ? "" : "; ") + difference;
    }
    say("mfu: note: the set-ups differ: " + all);
  }
  for (OutputTarget& target : targets) {
    if (target.renderer->format == "json") {
      target.output.write(target.renderer->render(report, RenderStyle{}));
    }
  }
  return report.exit_code;
}

int run_compare(const CLI::App& command, const CompareText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.files.size() != 2) {
    problems.add(Error(ErrorKind::usage,
                       text.files.empty()       ? "nothing to compare"
                       : text.files.size() == 1 ? "one is missing: before and after are needed"
                                                : "more than two to compare",
                       {},
                       "mfu compare before.json after.json; a pattern in quotes is one of them"));
  }
  Notes notes;
  std::vector<InputInfo> files;
  const SideRequest request = parse_request(text, problems, notes, files);
  CompareOptions options;
  options.reconvert = text.reconvert;
  options.seed = request.analysis.seed;
  options.least_change =
      parse_share(text.least_change, "--least-change", problems).value_or(options.least_change);
  const std::string expected = parse_expected(text.expect, problems);
  const std::optional<double> limit =
      parse_share(text.regression.limit, "--max-regression", problems);
  refuse_to_overwrite(text.output, text.files, problems);
  if (text.files.size() == 2 && text.files[0] == "-" && text.files[1] == "-") {
    problems.add(Error(ErrorKind::usage, "standard input cannot be both", {}, ""));
  }
  problems.throw_if_any();
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();

  Report report = report_of("compare");
  Side before = read_side(text.files[0], request, report.inputs, notes);
  Side after = read_side(text.files[1], request, report.inputs, notes);
  report.inputs.insert(report.inputs.end(), files.begin(), files.end());
  Comparison comparison = compare(before, after, options);
  if (comparison.detail->same_data) {
    notes.add(NoteCode::same_measurement,
              "the two are the same measurement: there is nothing to compare",
              Place{.file = text.files[1]});
  }
  if (comparison.detail->restated != Restatement::none) {
    notes.add(NoteCode::reconverted, "the two were not measured the same way: see basis",
              Place{.what = "--reconvert"});
  }
  report.compare = describe_compare(std::move(comparison), expected);
  report.notes = notes.all();
  if (!report.compare->comparison.comparable) return refuse(report, targets, text);
  if (text.strict) refuse_if_strict(report.notes, {}, "the two are compared anyway");
  if (limit) {
    report.gates.push_back(judge_regression(report.compare->comparison, {*limit, text.regression}));
  }
  return publish(report, targets, text.verbose);
}

}  // namespace

std::function<int()> add_compare(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("compare", "Before and after: better? which factor moved?");
  const auto text = std::make_shared<CompareText>();
  command->add_option("FILE", text->files, "Two of: run, traces, log, saved --json report")
      ->type_name("");
  add_output_options(*command, text->output);
  command->add_flag("--reconvert", text->reconvert, "Restate both under one convention, if needed");
  command->add_option("--expect", text->expect, "The factor aimed at: balance, own_stall ...")
      ->type_name("FACTOR");
  add_regression_options(*command, text->regression, "Exit 1 when slower by: 3%");
  command->add_option("--least-change", text->least_change, "Less counts as no change (1%)")
      ->type_name("RATIO");
  command->add_flag("--strict", text->strict, "Exit 2 on data loss or assumption");
  add_selection_options(*command, text->selection);
  add_log_reading_options(*command, text->reading);
  command->add_option("--reference", text->reference, "Reference compute: median (default), mean")
      ->type_name("NAME");
  command->add_option("--seed", text->seed, "Seed of the bootstrap")->type_name("N");
  add_override_options(*command, text->overrides);
  add_threads_option(*command, text->threads);
  for (const CalcOption& option : calc_options()) {
    if (!is_of_logs(option)) continue;
    command
        ->add_option(std::string(option.name), text->of_logs.*option.member,
                     std::string(option.help))
        ->type_name(std::string(option.type));
  }
  // Not in the help: the error says what to do instead.
  command->add_option("--telemetry", text->telemetry)->group("");
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu compare before.json after.json --expect balance\n"
      "  mfu compare TRACES_BEFORE TRACES_AFTER --model llama-3.1-8b --chip h100-sxm\n"
      "  mfu compare old.log new.log --chip a100 --max-regression 3%\n"
      "  mfu log new.log --chip a100 --json | mfu compare old-report.json -\n"
      "  mfu compare 'before/rank*.jsonl' 'after/rank*.jsonl' --out md:delta.md");
  return [command, text] { return run_compare(*command, *text); };
}

}  // namespace mfu::app
