// mfu diagnose FILE...: one run, where its time goes and whose fault it is.
#include "mfu/diagnose.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "commands/worth_options.hpp"
#include "compare/side.hpp"
#include "inputs/diagnosed_run.hpp"
#include "inputs/read_inputs.hpp"
#include "inputs/run_overrides.hpp"
#include "inputs/telemetry_source.hpp"
#include "mfu/quantity.hpp"
#include "mfu/read.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/against_history.hpp"
#include "outputs/publish.hpp"
#include "outputs/regression_limit.hpp"
#include "report/compare/history_section.hpp"
#include "report/compare/sides.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/scores_section.hpp"
#include "report/diagnose/scores_wording.hpp"
#include "report/measure/references.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct DiagnoseText {
  std::vector<std::string> files, telemetry;
  OutputText output;
  SelectionText selection;
  AnalysisText analysis;
  OverrideText overrides;
  WorthText worth;
  GateText gates;
  AgainstText against;
  RegressionText regression;
  std::string threads;
  bool one_line = false;
  bool verbose = false;
};

// Progress for -v, with times.
class Progress {
 public:
  explicit Progress(bool verbose)
      : log_("mfu", std::make_shared<spdlog::sinks::stderr_sink_st>()),
        started_(std::chrono::steady_clock::now()) {
    log_.set_pattern("mfu: %v");
    log_.set_level(verbose ? spdlog::level::info : spdlog::level::off);
  }
  void done(const std::string& what) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started_;
    log_.info("{:8.3f} s  {}", seconds.count(), what);
  }

 private:
  spdlog::logger log_;
  std::chrono::steady_clock::time_point started_;
};

Judged judged_of(const DiagnoseSection& section) {
  const Headline& headline = section.diagnosis.headline;
  return {headline.mfu, section.hfu, headline.impossible, section.mfu_missing,
          section.impossible_because};
}

Gate judge_fail_on(const GateLimits& limits, const Verdict& verdict) {
  const auto listed = [&](Family family) {
    return std::find(limits.fail_on.begin(), limits.fail_on.end(), family) != limits.fail_on.end();
  };
  bool failed = listed(verdict.family);
  if (verdict.family == Family::mixed) {
    failed = failed || std::any_of(verdict.families.begin(), verdict.families.end(), listed);
  }
  return {"fail-on", limits.fail_on_text, std::nullopt, std::string(to_string(verdict.family)),
          !failed};
}

// The answer where a log has scores alone. A gate on the MFU cannot be judged by them.
int publish_scores(const RankScores& scores, std::vector<InputInfo> inputs,
                   const GateLimits& limits, const Notes& notes, std::vector<OutputTarget>& targets,
                   bool verbose) {
  std::optional<ScoresSection> section = describe_scores(scores);
  if (!section || limits.min_mfu) throw scores_error(scores);
  Report report = report_of("diagnose");
  report.inputs = std::move(inputs);
  report.notes = notes.all();
  report.scores = std::move(*section);
  if (limits.strict) refuse_if_strict(report.notes, {}, "the scores are judged anyway");
  if (!limits.fail_on.empty()) {
    Verdict verdict;
    verdict.family = report.scores->family;
    report.gates.push_back(judge_fail_on(limits, verdict));
  }
  return publish(report, targets, verbose);
}

int run_diagnose(const CLI::App& command, const DiagnoseText& given) {
  DiagnoseText text = given;
  if (text.one_line) text.output.out.emplace_back("line");
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.files.empty()) {
    problems.add(Error(ErrorKind::usage, "no file to diagnose", {},
                       "mfu diagnose run.json; '-' is standard input"));
  }
  RunRequest request;
  request.selection = parse_selection(text.selection, problems);
  request.options = parse_analysis(text.analysis, problems);
  Notes notes;
  std::vector<InputInfo> files;
  request.overrides = parse_overrides(text.overrides, problems, notes, files);
  request.options.user_chips = request.overrides.user_chips;
  request.worth = parse_worth(text.worth, problems);
  const unsigned threads = parse_threads(text.threads, problems);
  const GateLimits limits = parse_gates(text.gates, problems);
  const bool against = parse_against(text.against, problems);
  std::optional<double> max_regression;
  if (!text.regression.limit.empty()) {
    problems.attempt(
        [&] { max_regression = parse_ratio(text.regression.limit, "--max-regression"); });
    if (!against) {
      problems.add(Error(ErrorKind::usage, "compared with what?", at("--max-regression"),
                         "--against history --db FILE; mfu compare takes two runs"));
    }
  }
  request.telemetry = parse_telemetry(text.telemetry, text.files, problems);
  std::vector<std::string> read_files = text.files;
  for (const TelemetryFile& file : request.telemetry) read_files.push_back(file.path);
  refuse_to_overwrite(text.output, read_files, problems);
  problems.throw_if_any();  // before any file is created
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();

  Progress progress(text.verbose);
  LoggedRanks logged = read_run_or_log(text.files, threads, notes);
  if (const auto* scores = std::get_if<RankScores>(&logged.ranks)) {
    return publish_scores(*scores, std::move(logged.inputs), limits, notes, targets, text.verbose);
  }
  ReadResult read{std::get<RunTimings>(std::move(logged.ranks)), std::move(logged.inputs)};
  DiagnosedRun run = diagnose_run(std::move(read), request, notes,
                                  [&](const std::string& what) { progress.done(what); });

  Report report = report_of("diagnose");
  report.inputs = std::move(run.inputs);
  report.inputs.insert(report.inputs.end(), files.begin(), files.end());
  report.diagnose = std::move(run.section);
  report.diagnose->references = placed_among_references(*report.diagnose);
  if (against) {
    hold_against_history(text.against, side_of(*report.diagnose, text.files.front()),
                         max_regression.has_value(), report, notes);
  }
  report.notes = notes.all();

  // Before the notes: they are part of the refusal.
  const Judged judged = judged_of(*report.diagnose);
  if (limits.strict) refuse_if_strict(report.notes, judged, "the run is diagnosed anyway");
  if (limits.min_mfu) report.gates.push_back(judge_min_mfu(limits, judged));
  if (!limits.fail_on.empty()) {
    report.gates.push_back(judge_fail_on(limits, report.diagnose->diagnosis.verdict));
  }
  if (max_regression) {
    report.gates.push_back(judge_history(*report.history, {*max_regression, text.regression}));
  }
  const int exit_code = publish(report, targets, text.verbose);
  progress.done("written");
  return exit_code;
}

}  // namespace

std::function<int()> add_diagnose(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("diagnose", "Where the step's time goes, and whose fault it is");
  const auto text = std::make_shared<DiagnoseText>();
  command->add_option("FILE", text->files, "Traces (or folders), mfu.run/1, logs; '-': stdin")
      ->type_name("");
  add_output_options(*command, text->output);
  command->add_flag("--one-line", text->one_line, "Print the verdict as one line, for chat");
  add_gate_options(*command, text->gates);
  add_against_options(*command, text->against);
  add_regression_options(*command, text->regression, "Exit 1 when slower than usual by: 3%");
  add_selection_options(*command, text->selection);
  add_analysis_options(*command, text->analysis);
  add_worth_options(*command, text->worth);
  add_override_options(*command, text->overrides);
  add_telemetry_option(*command, text->telemetry);
  add_threads_option(*command, text->threads);
  command->add_flag("-v,--verbose", text->verbose, "Report progress on standard error");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu diagnose run.json\n"
      "  mfu diagnose TRACE_DIR\n"
      "  mfu diagnose rank*.jsonl --steps 21..500 --json\n"
      "  mfu diagnose run.json --telemetry node*.csv node3=dmesg.log\n"
      "  mfu diagnose run.json --min-mfu 40% --fail-on straggler,stall\n"
      "  mfu diagnose run.json --price 2.5/h --tokens-left 2T\n"
      "  mfu diagnose run.json.gz --out json:report.json --out text:report.txt");
  return [command, text] { return run_diagnose(*command, *text); };
}

}  // namespace mfu::app
