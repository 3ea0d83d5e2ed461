// mfu reduce TRACES -o run.json: what a diagnosis needs of big traces, in a document that travels.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "inputs/read_inputs.hpp"
#include "mfu/read.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "outputs/terminal.hpp"
#include "readers/run/writer.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct ReduceText {
  std::vector<std::string> files;
  std::string output;
  OutputText report;
  std::string threads;
  bool verbose = false;
};

Error wrong(std::string message, std::string hint) {
  Place place;
  place.what = "-o";
  return Error(ErrorKind::usage, std::move(message), std::move(place), std::move(hint));
}

void refuse_input_as_output(const std::string& output, const std::string& input) {
  std::error_code ignored;
  if (output == "-" || input == "-") return;
  if (!std::filesystem::equivalent(output, input, ignored)) return;
  throw wrong("'" + output + "' is an input", "write to another file");
}

int run_reduce(const CLI::App& command, const ReduceText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.files.empty()) {
    problems.add(Error(ErrorKind::usage, "no trace to reduce", {},
                       "mfu reduce TRACE_DIR -o run.json; '-' is standard input"));
  }
  if (text.output.empty()) {
    problems.add(wrong("no file to write to", "-o run.json; '-o -' is standard output"));
  }
  if (text.output == "-" && text.report.json) {
    problems.add(wrong("two results for standard output", "write the run to a file: -o run.json"));
  }
  const unsigned threads = parse_threads(text.threads, problems);
  for (const std::string& file : text.files) {
    problems.attempt([&] { refuse_input_as_output(text.output, file); });
  }
  refuse_to_overwrite(text.report, text.files, problems);
  problems.throw_if_any();
  std::vector<OutputTarget> targets = open_outputs(text.report, problems);
  problems.throw_if_any();
  const bool to_file = text.output != "-";
  if (to_file) Output::require_folder_for(text.output);

  Report report = report_of("reduce");
  Notes notes;
  ReadResult read = read_inputs(text.files, threads, notes);
  for (const InputInfo& input : read.inputs) {
    refuse_input_as_output(text.output, input.path);
    if (read.of_documents) {
      throw Error(ErrorKind::usage, "is a timing document already", Place{.file = input.path},
                  "mfu diagnose reads it as it is; mfu reduce takes profiler traces");
    }
  }
  // The file appears under its name only when it is complete.
  Output output = to_file ? Output::replacing(text.output) : Output::standard();
  output.write(write_run(read.run, notes));

  report.inputs = std::move(read.inputs);
  report.notes = notes.all();
  if (!to_file && text.report.out.empty()) {
    say_notes(report.notes, text.verbose);
    return 0;
  }
  const int exit_code = publish(report, targets, text.verbose);
  if (text.verbose) {
    say(fmt::format("mfu: {}: {} ranks x {} steps", text.output, read.run.ranks.size(),
                    read.run.steps.size()));
  }
  return exit_code;
}

}  // namespace

std::function<int()> add_reduce(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("reduce", "Profiler traces to a small run document");
  const auto text = std::make_shared<ReduceText>();
  command->add_option("TRACE", text->files, "Traces: files, folders, patterns; '-': stdin")
      ->type_name("");
  command->add_option("-o,--output", text->output, "The document; '-': standard output")
      ->type_name("FILE");
  add_output_options(*command, text->report);
  add_threads_option(*command, text->threads);
  command->add_flag("-v,--verbose", text->verbose, "Report progress on standard error");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu reduce TRACE_DIR -o run.json\n"
      "  mfu reduce 'rank*.pt.trace.json.gz' -o run.json\n"
      "  mfu diagnose run.json                    the report of the traces themselves");
  return [command, text] { return run_reduce(*command, *text); };
}

}  // namespace mfu::app
