#include "inputs/compared_side.hpp"

#include <fmt/format.h>

#include <typeinfo>
#include <utility>

#include "base/bytes.hpp"
#include "base/note_code.hpp"
#include "diagnose/detail.hpp"
#include "inputs/diagnosed_run.hpp"
#include "inputs/read_inputs.hpp"
#include "inputs/saved_report.hpp"
#include "logs/registry.hpp"
#include "mfu/quantity.hpp"
#include "outputs/log_answer.hpp"
#include "readers/input_format.hpp"
#include "readers/run/logged_ranks.hpp"
#include "report/compare/sides.hpp"
#include "report/diagnose/scores_wording.hpp"

namespace mfu::app {
namespace {

// Whether to try it as a log: JSON without a schema may be one, a step a line.
bool may_be_side_of_log(InputFormat format) {
  return may_be_log(format) || format == InputFormat::json;
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
    std::variant<RunTimings, RankScores> ranks = ranks_of_log(log, notes);
    if (const auto* scores = std::get_if<RankScores>(&ranks)) throw scores_error(*scores);
    ReadResult read{std::get<RunTimings>(std::move(ranks)), {std::move(info)}};
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
  const InputFormat format = detect_format(source.peek(kHeadBytes)).format;
  if (format == InputFormat::report) {
    return from_report(std::move(source), request, inputs, notes);
  }
  if (may_be_side_of_log(format)) {
    return from_log(std::move(source), request, inputs, notes);
  }
  return from_run_itself(read_inputs({path}, request.threads, notes, std::move(source)), path,
                         request, inputs, notes);
}

Side read_any(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
              Notes& notes) {
  if (is_read_once(path)) return from_pipe(path, request, inputs, notes);
  const std::optional<DetectedFormat> found = format_of_file(path);
  if (found && found->format == InputFormat::report) {
    return from_report(ByteSource::open(path), request, inputs, notes);
  }
  if (found && may_be_side_of_log(found->format)) {
    Notes own;
    try {
      Side side = from_log(ByteSource::open(path), request, inputs, own);
      for (const Note& note : own.all()) notes.add(note);
      return side;
    } catch (const Error& of_log) {
      // A file that is not a log either is best described by what it is, unless the options say
      // that it is a log.
      const bool said = !request.reading.columns.empty() || !request.reading.format.empty();
      if (of_log.kind() != ErrorKind::format || said) throw;
    }
  }
  return from_run_itself(read_inputs({path}, request.threads, notes), path, request, inputs, notes);
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
