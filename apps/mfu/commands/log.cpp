// mfu log FILE: the MFU of a training run from what it printed, and gates for CI.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/note_code.hpp"
#include "commands/calc_options.hpp"
#include "commands/commands.hpp"
#include "compare/side.hpp"
#include "inputs/log_reading.hpp"
#include "inputs/read_inputs.hpp"
#include "logs/training_log.hpp"
#include "measure/log_summary.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/against_history.hpp"
#include "outputs/baseline.hpp"
#include "outputs/log_answer.hpp"
#include "outputs/publish.hpp"
#include "outputs/regression_limit.hpp"
#include "outputs/terminal.hpp"
#include "readers/input_format.hpp"
#include "report/compare/history_section.hpp"
#include "report/compare/sides.hpp"
#include "report/measure/log_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct LogText {
  std::vector<std::string> files;
  CalcText calc;
  LogReadingText reading;
  bool tee = false;
  std::string max_step, baseline, statistic;
  RegressionText regression;
  AgainstText against;
  OutputText output;
  GateText gates;
  bool verbose = false;
};

struct LogLimits {
  std::optional<double> max_step, max_regression;
};

LogLimits parse_limits(const LogText& text, bool against, Problems& problems) {
  LogLimits limits;
  if (!text.max_step.empty()) {
    problems.attempt([&] { limits.max_step = parse_seconds(text.max_step, "--max-step"); });
  }
  if (!text.regression.limit.empty()) {
    problems.attempt(
        [&] { limits.max_regression = parse_ratio(text.regression.limit, "--max-regression"); });
  }
  const bool held = !text.baseline.empty() || against;
  if (!text.baseline.empty() && against) {
    problems.add(Error(ErrorKind::usage, "compared with two things", at("--baseline"),
                       "either --baseline FILE or --against history"));
  } else if (text.regression.limit.empty() ? !text.baseline.empty() : !held) {
    problems.add(Error(ErrorKind::usage,
                       text.baseline.empty() ? "compared with what?" : "a baseline, but no limit",
                       at(text.baseline.empty() ? "--max-regression" : "--baseline"),
                       "--max-regression 3% --baseline old.json go together, or with --against "
                       "history"));
  }
  return limits;
}

Gate judge_max_step(const LogSection& section, double limit, const std::string& limit_text) {
  if (!section.headline_seconds) {
    throw Error(ErrorKind::insufficient, "the step time is not known, so it cannot be judged",
                at("--max-step"), section.seconds_missing);
  }
  return {"max-step", limit_text, section.headline_seconds,
          format_seconds(*section.headline_seconds), *section.headline_seconds <= limit};
}

Judged judged_of(const LogSection& section) {
  const Calculation& c = section.calc.calculation;
  return {c.mfu(), c.hfu(), c.status == CalcStatus::impossible, section.calc.mfu_missing,
          section.calc.impossible_because};
}

// Bytes as read, of a pipe as they came.
std::uint64_t bytes_of(const std::string& path, std::uint64_t passed) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? passed : size;
}

// What went by while the log was read.
struct Passed {
  std::uint64_t bytes = 0;
  std::string head;  // kHeadBytes at most
  void add(std::string_view more) {
    bytes += more.size();
    head += more.substr(0, kHeadBytes - head.size());
  }
};

// The log passes through on standard output, so the text of the answer goes beside it.
void prepare_tee(const LogText& text, LogReadOptions& reading,
                 const std::shared_ptr<Passed>& passed, Problems& problems) {
  reading.tee = [passed](std::string_view bytes) { passed->add(bytes); };
  if (!text.tee) return;
  if (text.output.json || writes_to_standard_output(text.output)) {
    problems.add(Error(ErrorKind::usage, "the log and the answer both want standard output",
                       at("--tee"), "give the answer a file: --out json:PATH"));
  }
  const auto through = std::make_shared<Output>(Output::standard());
  reading.tee = [through, passed](std::string_view bytes) {
    passed->add(bytes);
    through->write(bytes);
  };
}

// When the user interrupts a live pipe, the answer covers what was read.
TrainingLog read_live(const std::string& path, const LogReadOptions& options, Notes& notes,
                      bool& interrupted) {
  if (path != "-") return read_log(path, options, notes);
  const LivePipe pipe;
  try {
    TrainingLog log = read_log(path, options, notes);
    interrupted = pipe.interrupted();
    if (interrupted) {
      notes.add(NoteCode::interrupted, "interrupted: the answer covers what came until then");
    }
    return log;
  } catch (const Error&) {
    if (pipe.interrupted()) throw Interrupted{};
    throw;
  }
}

// Whether the format is worth naming where it is no log: more than that nothing was found in it.
bool says_what_it_is(InputFormat format) {
  switch (format) {
    case InputFormat::nsys_stats:
    case InputFormat::dcgm_dmon:
    case InputFormat::smi_dmon:
    case InputFormat::dcgm_text:
    case InputFormat::smi_csv:
    case InputFormat::kernel_log:
    case InputFormat::model_config:
      return true;
    default:
      return is_no_log(format);
  }
}

// What is surely no log is refused by its first bytes: those of a file before gigabytes are looked
// through, those of a pipe when they have come. What is said to be a log is read as one.
TrainingLog read_if_log(const std::string& path, const LogReadOptions& options,
                        const Passed& passed, Notes& notes, bool& interrupted) {
  if (!options.format.empty() || !options.columns.empty()) {
    return read_live(path, options, notes, interrupted);
  }
  const auto refuse = [&path](const DetectedFormat& found) -> void {
    throw other_format(found, "a training log", Place{.file = path});
  };
  const std::optional<DetectedFormat> of_file = format_of_file(path);
  if (of_file && is_no_log(of_file->format)) refuse(*of_file);
  try {
    TrainingLog log = read_live(path, options, notes, interrupted);
    const DetectedFormat found = of_file ? *of_file : detect_format(passed.head);
    if (is_no_log(found.format)) refuse(found);
    return log;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::format) throw;
    const DetectedFormat found = of_file ? *of_file : detect_format(passed.head);
    if (says_what_it_is(found.format)) refuse(found);
    throw;
  }
}

int run_log(const CLI::App& command, const LogText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.files.size() != 1) {
    problems.add(Error(ErrorKind::usage,
                       text.files.empty() ? "no log to read" : "more than one log", {},
                       "mfu log train.log; '-' is standard input"));
  }
  LogReadOptions reading = parse_log_reading(text.reading, problems);
  LogSummaryOptions summing = parse_log_summary(text.reading, problems);
  if (!text.statistic.empty()) {
    problems.attempt([&] { summing.statistic = parse_log_statistic(text.statistic); });
  }
  if (text.regression.beyond_noise && text.regression.limit.empty()) {
    problems.add(Error(ErrorKind::usage, "beyond the noise of what?", at("--beyond-noise"),
                       "it goes with --max-regression"));
  }
  const bool against = parse_against(text.against, problems);
  const LogLimits limits = parse_limits(text, against, problems);
  const GateLimits gates = parse_gates(text.gates, problems);
  const auto passed = std::make_shared<Passed>();
  prepare_tee(text, reading, passed, problems);
  std::vector<std::string> inputs = text.files;
  if (!text.baseline.empty()) inputs.push_back(text.baseline);
  if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
    problems.add(Error(ErrorKind::usage, "standard input is named twice", at("--baseline"),
                       "- can be read only once"));
  }
  refuse_to_overwrite(text.output, inputs, problems);
  {
    // Option errors come before waiting for a live log.
    Notes unused;
    (void)parse_calc(text.calc, problems, unused);
  }
  std::optional<Baseline> baseline;
  InputInfo baseline_file;
  if (!text.baseline.empty() && !problems.any()) {
    problems.attempt(
        [&] { baseline = read_baseline(text.baseline, summing.statistic, baseline_file); });
  }
  problems.throw_if_any();  // before any file is created
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();

  Notes notes;
  bool interrupted = false;
  const TrainingLog log = read_if_log(text.files.front(), reading, *passed, notes, interrupted);
  LogAnswer answer = answer_log(log, text.calc, summing, problems, notes, interrupted);

  Report report = report_of("log");
  InputInfo input;
  input.path = text.files.front();
  input.format = log.format;
  input.bytes = bytes_of(text.files.front(), passed->bytes);
  report.inputs.push_back(std::move(input));
  report.inputs.insert(report.inputs.end(), answer.files.begin(), answer.files.end());
  if (baseline) report.inputs.push_back(baseline_file);
  report.log = std::move(answer.section);
  if (against) {
    hold_against_history(text.against, side_of(*report.log, text.files.front()),
                         limits.max_regression.has_value(), report, notes);
  }
  report.notes = notes.all();

  const Judged judged = judged_of(*report.log);
  if (gates.strict) refuse_if_strict(report.notes, judged, "the answer is given anyway");
  if (gates.min_mfu) report.gates.push_back(judge_min_mfu(gates, judged));
  if (limits.max_step) {
    report.gates.push_back(judge_max_step(*report.log, *limits.max_step, text.max_step));
  }
  if (limits.max_regression && baseline) {
    report.gates.push_back(
        judge_regression(*baseline, *report.log, {*limits.max_regression, text.regression}));
  }
  if (limits.max_regression && against) {
    report.gates.push_back(
        judge_history(*report.history, {*limits.max_regression, text.regression}));
  }
  if (text.tee) move_text_to_standard_error(targets);
  return publish(report, targets, text.verbose, interrupted);
}

}  // namespace

std::function<int()> add_log(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("log", "MFU from a training log; gates for CI");
  const auto text = std::make_shared<LogText>();
  command->add_option("FILE", text->files, "A training log, gzip too; '-': stdin")->type_name("");
  // The measurement is the log's.
  for (const CalcOption& option : calc_options()) {
    constexpr std::array<std::string_view, 5> kMeasured{
        "--step-time", "--tokens-per-s", "--tokens-per-s-per-gpu", "--tflops", "--lengths"};
    if (std::find(kMeasured.begin(), kMeasured.end(), option.name) != kMeasured.end()) continue;
    command
        ->add_option(std::string(option.name), text->calc.*option.member, std::string(option.help))
        ->type_name(std::string(option.type));
  }
  add_log_reading_options(*command, text->reading);
  command->add_option("--skip", text->reading.skip, "Leading steps to leave out; else by rule")
      ->type_name("N");
  command->add_flag("--tee", text->tee, "Pass the log on to standard output");
  add_output_options(*command, text->output);
  add_gate_options(*command, text->gates, false);
  command->add_option("--statistic", text->statistic, "Headline and gates: mean, median, wall")
      ->type_name("NAME");
  command->add_option("--max-step", text->max_step, "Exit 1 when the step is longer: 13s")
      ->type_name("TIME");
  add_regression_options(*command, text->regression, "Exit 1 when it is slower by: 3%");
  command->add_option("--baseline", text->baseline, "Saved --json report to compare with")
      ->type_name("FILE");
  add_against_options(*command, text->against);
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu log train.log --chip h100-sxm --model llama-3.1-8b --min-mfu 40%\n"
      "  train | mfu log - --tee --chip a100 --out json:mfu.json\n"
      "  mfu log train.log --chip a100 --max-regression 3% --baseline old.json\n"
      "  mfu log steps.csv --columns step_time=dt:ms,tokens=tok --params 7B --gpus 8");
  return [command, text] { return run_log(*command, *text); };
}

}  // namespace mfu::app
