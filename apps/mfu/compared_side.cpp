#include "compared_side.hpp"

#include <filesystem>
#include <utility>

#include "base/bytes.hpp"
#include "diagnosed_run.hpp"
#include "log_answer.hpp"
#include "mfu/training_log.hpp"
#include "rank_log.hpp"
#include "read_inputs.hpp"
#include "saved_report.hpp"

namespace mfu::app {
namespace {

bool is_report(const std::string& path) {
  std::error_code ignored;
  if (path == "-") return true;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  constexpr std::size_t kHead = 4096;
  ByteSource source = ByteSource::open(path);
  return looks_like_report(source.peek(kHead));
}

Side from_report(const std::string& path, const SideRequest& request,
                 std::vector<InputInfo>& inputs, Notes& notes) {
  InputInfo info;
  SavedReport saved = [&] {
    try {
      return read_report(path, info);
    } catch (const Error& error) {
      if (path != "-" || error.message() != "is no report of mfu") throw;
      throw Error(ErrorKind::format, "standard input is no saved report", Place{.file = path},
                  "give runs and logs as files");
    }
  }();
  inputs.push_back(info);
  if (request.options_given) {
    notes.add("report-as-saved", Severity::info,
              "the options do not change a saved report: it stands as it was measured",
              Place{.file = path});
  }
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
  return side_of(run.section, path);
}

Side from_log(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
              Notes& notes) {
  const TrainingLog log = read_log(path, {}, notes);
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  InputInfo info{path, log.format, failed ? 0 : bytes};
  if (log.segments.empty() && !log.rank_values.empty()) {
    ReadResult read;
    read.run = run_of_log(log, notes);
    read.inputs.push_back(std::move(info));
    return from_run(std::move(read), path, request, inputs, notes);
  }
  Problems problems;
  LogAnswer answer = answer_log(log, request.calc, request.summing, problems, notes);
  inputs.push_back(std::move(info));
  inputs.insert(inputs.end(), answer.files.begin(), answer.files.end());
  return side_of(answer.section, path);
}

Side read_any(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
              Notes& notes) {
  if (is_report(path)) return from_report(path, request, inputs, notes);
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
      Side side = from_log(path, request, inputs, own);
      for (const Note& note : own.all()) {
        notes.add(note.code, note.severity, note.text, note.first, note.count);
      }
      return side;
    } catch (const Error& of_log) {
      // A file that is no log either is best told by the first error.
      if (of_log.kind() == ErrorKind::format) throw error;
      throw;
    }
  }
  return from_run(std::move(read), path, request, inputs, notes);
}

}  // namespace

Side read_side(const std::string& path, const SideRequest& request, std::vector<InputInfo>& inputs,
               Notes& notes) {
  Notes own;
  Side side = read_any(path, request, inputs, own);
  for (const Note& note : own.all()) {
    Place place = note.first;
    if (place.file.empty()) place.file = path;
    notes.add(note.code, note.severity, note.text, std::move(place), note.count);
  }
  return side;
}

}  // namespace mfu::app
