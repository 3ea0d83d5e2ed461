#include "inputs/compared_side.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <typeinfo>
#include <utility>

#include "base/bytes.hpp"
#include "base/note_code.hpp"
#include "diagnose/detail.hpp"
#include "inputs/diagnosed_run.hpp"
#include "inputs/rank_log.hpp"
#include "inputs/read_inputs.hpp"
#include "inputs/saved_report.hpp"
#include "logs/registry.hpp"
#include "mfu/quantity.hpp"
#include "outputs/log_answer.hpp"
#include "readers/reader.hpp"
#include "report/compare/sides.hpp"

namespace mfu::app {
namespace {

constexpr std::size_t kReportHead = 4096;

bool is_report(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  ByteSource source = ByteSource::open(path);
  return looks_like_report(source.peek(kReportHead));
}

// A slow rank that one side did not record is not a gain of that side.
void note_missing_ranks(const Side& side, const std::optional<double>& recorded,
                        const std::string& path, Notes& notes) {
  if (!recorded || !side.gpus || *recorded >= *side.gpus) return;
  notes.add(NoteCode::ranks_not_recorded,
            fmt::format("{} of {} GPUs were recorded: the others are assumed to be like them",
                        format_grouped(*recorded), format_grouped(*side.gpus)),
            Place{.file = path});
}

Side from_report(ByteSource source, const SideRequest& request, std::vector<InputInfo>& inputs,
                 Notes& notes) {
  InputInfo info;
  SavedReport saved = read_report(source, info);
  inputs.push_back(info);
  if (request.options_given) {
    notes.add(NoteCode::report_as_saved,
              "the options do not change a saved report: it stands as it was measured",
              Place{.file = source.name()});
  }
  note_missing_ranks(saved.side, saved.recorded_ranks, source.name(), notes);
  return std::move(saved.side);
}

Side from_run(ReadResult read, const std::string& path, const SideRequest& request,
              std::vector<InputInfo>& inputs, Notes& notes) {
  RunRequest asked;
  asked.overrides = request.overrides;
  asked.selection = request.selection;
  asked.options = request.analysis;
  DiagnosedRun run = diagnose_run(std::move(read), asked, notes, {});
  inputs.insert(inputs.end(), run.inputs.begin(), run.inputs.end());
  Side side = side_of(run.section, path);
  const auto recorded = static_cast<double>(run.section.diagnosis.detail->setup.recorded_ranks);
  note_missing_ranks(side, recorded, path, notes);
  return side;
}

Side from_run_itself(ReadResult read, const std::string& path, const SideRequest& request,
                     std::vector<InputInfo>& inputs, Notes& notes) {
  if (!request.log_options.empty()) {
    notes.add(NoteCode::options_of_logs,
              "this is a run, but these options are for logs: " + request.log_options,
              Place{.file = path});
  }
  return from_run(std::move(read), path, request, inputs, notes);
}

Side from_log(ByteSource source, const SideRequest& request, std::vector<InputInfo>& inputs,
              Notes& notes) {
  const std::string path = source.name();
  const TrainingLog log = read_log(source, request.reading, notes);
  InputInfo info{path, log.format, source.raw_bytes()};
  if (log.segments.empty() && !log.rank_values.empty()) {
    ReadResult read;
    read.run = run_of_log(log, notes);
    read.inputs.push_back(std::move(info));
    return from_run(std::move(read), path, request, inputs, notes);
  }
  if (request.selection.first_step || request.selection.last_step ||
      !request.selection.ranks.empty()) {
    throw Error(ErrorKind::usage, "steps and ranks of a log cannot be chosen", Place{.file = path},
                "--skip N leaves out its first steps, --segment selects a restart");
  }
  Problems problems;
  LogAnswer answer = answer_log(log, request.calc, request.summing, problems, notes);
  inputs.push_back(std::move(info));
  inputs.insert(inputs.end(), answer.files.begin(), answer.files.end());
  return side_of(answer.section, path);
}

// What is read once: its first bytes say what it is.
Side from_pipe(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
               Notes& notes) {
  ByteSource source = ByteSource::open(path);
  if (looks_like_report(source.peek(kReportHead))) {
    return from_report(std::move(source), request, inputs, notes);
  }
  const std::string head(source.peek(kHeadBytes));
  if (is_no_run(head) || may_be_json_lines(head)) {
    return from_log(std::move(source), request, inputs, notes);
  }
  return from_run_itself(read_inputs({path}, request.threads, notes, std::move(source)), path,
                         request, inputs, notes);
}

Side read_any(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
              Notes& notes) {
  if (is_read_once(path)) return from_pipe(path, request, inputs, notes);
  if (is_report(path)) return from_report(ByteSource::open(path), request, inputs, notes);
  ReadResult read;
  try {
    read = read_inputs({path}, request.threads, notes);
  } catch (const Error& error) {
    // JSON without a schema may be a log, a step a line.
    const bool other = error.kind() == ErrorKind::format &&
                       (error.message().starts_with("not a timing document") ||
                        error.message() == "schema is missing");
    std::error_code ignored;
    if (!other || !std::filesystem::is_regular_file(path, ignored)) throw;
    Notes own;
    try {
      Side side = from_log(ByteSource::open(path), request, inputs, own);
      for (const Note& note : own.all()) notes.add(note);
      return side;
    } catch (const Error& of_log) {
      // For a file that is not a log either, the first error is the best, unless the options say it
      // is one.
      const bool said = !request.reading.columns.empty() || !request.reading.format.empty();
      if (of_log.kind() == ErrorKind::format && !said) throw error;
      throw;
    }
  }
  return from_run_itself(std::move(read), path, request, inputs, notes);
}

}  // namespace

Side read_side(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
               Notes& notes) {
  Notes own;
  Side side;
  try {
    side = read_any(path, request, inputs, own);
  } catch (const Error& error) {
    // Of which of the two; a collection of errors stays one.
    if (!error.place().file.empty() || typeid(error) != typeid(Error)) throw;
    Place place = error.place();
    place.file = path;
    throw Error(error.kind(), error.message(), std::move(place), error.hint());
  }
  for (Note note : own.all()) {
    if (note.first.file.empty()) note.first.file = path;
    notes.add(std::move(note));
  }
  return side;
}

}  // namespace mfu::app
