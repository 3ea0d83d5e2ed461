#include "inputs/diagnosed_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/note_code.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/setup.hpp"
#include "inputs/counted_work.hpp"
#include "inputs/telemetry_source.hpp"
#include "mfu/quantity.hpp"
#include "report/diagnose/worth_section.hpp"

namespace mfu::app {
DiagnosedRun diagnose_run(ReadResult read, const RunRequest& request, Notes& notes,
                          const std::function<void(const std::string&)>& progress) {
  const auto done = [&](const std::string& what) {
    if (progress) progress(what);
  };
  for (const InputInfo& input : read.inputs) {
    done(fmt::format("read {} ({}, {})", input.path, input.format,
                     format_si(static_cast<double>(input.bytes), "B")));
  }
  const std::string device = add_telemetry(read.run, request.telemetry, notes, read.inputs);
  override_run(read.run, request.overrides, notes);
  count_work(read.run, read.inputs, notes);
  name_chip(read.run, device, request.options.user_chips, notes);
  const RunTimings run = select(std::move(read.run), request.selection, notes);
  done(fmt::format("{} ranks x {} steps, {}", run.ranks.size(), run.steps.size(),
                   format_si(static_cast<double>(run.column_bytes()), "B")));
  Diagnosis diagnosis = diagnose(run, request.options, notes);
  done("diagnosed");
  const WorthAsk ask = worth_ask(request.worth, diagnosis.detail->setup);
  DiagnosedRun result{describe_diagnose(std::move(diagnosis), run, ask), std::move(read.inputs)};
  for (const Note& note : notes.all()) {
    // The general sentence says what MFU needs; this says why the file's values were not enough.
    if (note.code == NoteCode::work_not_counted && !result.section.mfu_missing.empty()) {
      result.section.mfu_missing += "; " + note.text;
    }
  }
  return result;
}

}  // namespace mfu::app
