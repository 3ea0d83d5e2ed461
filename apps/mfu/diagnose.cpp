// mfu diagnose FILE...: one run, where its time goes and whose fault it is.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "counted_work.hpp"
#include "mfu/analyze.hpp"
#include "mfu/quantity.hpp"
#include "mfu/read.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "mfu/version.hpp"
#include "options.hpp"
#include "publish.hpp"
#include "rank_log.hpp"
#include "read_inputs.hpp"
#include "run_overrides.hpp"
#include "telemetry_source.hpp"
#include "worth_options.hpp"

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
  std::string threads;
  bool verbose = false;
};

// Talk for -v: what is done, and how long it takes.
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

// Where the work was counted and not given: its switches are part of what the MFU stands on.
void add_counted(DiagnoseSection& section, const CountedWork& work) {
  section.params = work.params;
  section.active_params = work.active_params;
  const std::optional<double>& mfu = section.diagnosis.headline.mfu;
  if (mfu && work.hardware_share) section.hfu = *mfu * *work.hardware_share;
  const std::size_t at = section.fingerprint.find(" peak=");
  if (at != std::string::npos && !work.settings.empty()) {
    section.fingerprint.insert(at, " " + work.settings);
  }
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
int publish_scores(const HealthyScores& healthy, const GateLimits& limits, const Notes& notes,
                   std::vector<OutputTarget>& targets, bool verbose) {
  if (limits.min_mfu) throw Error(healthy);
  Report report;
  report.tool_version = std::string(version());
  report.command = "diagnose";
  report.inputs = healthy.inputs;
  report.notes = notes.all();
  report.scores = healthy.section;
  if (limits.strict) refuse_if_strict(report.notes, {}, "the scores are judged all the same");
  if (!limits.fail_on.empty()) {
    Verdict verdict;
    verdict.family = Family::healthy;
    report.gates.push_back(judge_fail_on(limits, verdict));
  }
  return publish(report, targets, verbose);
}

int run_diagnose(const CLI::App& command, const DiagnoseText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.files.empty()) {
    problems.add(Error(ErrorKind::usage, "no file to diagnose", {},
                       "mfu diagnose run.json; '-' is standard input"));
  }
  const Selection selection = parse_selection(text.selection, problems);
  DiagnoseOptions options = parse_analysis(text.analysis, problems);
  Notes notes;
  std::vector<InputInfo> files;
  const Overrides overrides = parse_overrides(text.overrides, problems, notes, files);
  options.user_chips = overrides.user_chips;
  const WorthLimits worth = parse_worth(text.worth, problems);
  const unsigned threads = parse_threads(text.threads, problems);
  const GateLimits limits = parse_gates(text.gates, problems);
  const std::vector<TelemetryFile> telemetry =
      parse_telemetry(text.telemetry, text.files, problems);
  std::vector<std::string> read_files = text.files;
  for (const TelemetryFile& file : telemetry) read_files.push_back(file.path);
  refuse_to_overwrite(text.output, read_files, problems);
  problems.throw_if_any();  // before any file is created
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();

  Progress progress(text.verbose);
  ReadResult read;
  try {
    read = read_run_or_log(text.files, threads, notes);
  } catch (const HealthyScores& healthy) {
    return publish_scores(healthy, limits, notes, targets, text.verbose);
  }
  for (const InputInfo& input : read.inputs) {
    progress.done(fmt::format("read {} ({}, {})", input.path, input.format,
                              format_si(static_cast<double>(input.bytes), "B")));
  }
  const std::string device = add_telemetry(read.run, telemetry, notes, read.inputs);
  override_run(read.run, overrides, notes);
  const std::optional<CountedWork> counted = count_work(read.run, read.inputs, notes);
  name_chip(read.run, device, options.user_chips, notes);
  const RunTimings run = select(std::move(read.run), selection, notes);
  progress.done(fmt::format("{} ranks x {} steps, {}", run.ranks.size(), run.steps.size(),
                            format_si(static_cast<double>(run.column_bytes()), "B")));
  Diagnosis diagnosis = diagnose(run, options, notes);
  progress.done("diagnosed");
  const WorthAsk ask = worth_ask(worth, diagnosis.setup);

  Report report;
  report.tool_version = std::string(version());
  report.command = "diagnose";
  report.inputs = std::move(read.inputs);
  report.inputs.insert(report.inputs.end(), files.begin(), files.end());
  report.notes = notes.all();
  report.diagnose = describe(std::move(diagnosis), run, ask);

  if (counted) add_counted(*report.diagnose, *counted);
  for (const Note& note : report.notes) {
    // The general sentence says what MFU needs; this says what became of what the file gives.
    if (note.code == "work-not-counted" && !report.diagnose->mfu_missing.empty()) {
      report.diagnose->mfu_missing += "; " + note.text;
    }
  }

  // Before the notes: what they say is part of the refusal.
  const Judged judged = judged_of(*report.diagnose);
  if (limits.strict) refuse_if_strict(report.notes, judged, "the run is diagnosed all the same");
  if (limits.min_mfu) report.gates.push_back(judge_min_mfu(limits, judged));
  if (!limits.fail_on.empty()) {
    report.gates.push_back(judge_fail_on(limits, report.diagnose->diagnosis.verdict));
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
  add_gate_options(*command, text->gates);
  add_selection_options(*command, text->selection);
  add_analysis_options(*command, text->analysis);
  add_worth_options(*command, text->worth);
  add_override_options(*command, text->overrides);
  add_telemetry_option(*command, text->telemetry);
  add_threads_option(*command, text->threads);
  command->add_flag("-v,--verbose", text->verbose, "Say what is done, on standard error");
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
