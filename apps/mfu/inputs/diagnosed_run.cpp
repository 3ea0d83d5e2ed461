#include "inputs/diagnosed_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "inputs/counted_work.hpp"
#include "inputs/telemetry_source.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

// Where the work was counted and not given: its switches are part of what the MFU stands on.
void add_counted(DiagnoseSection& section, const CountedWork& work) {
  section.params = work.params;
  section.active_params = work.active_params;
  section.shape = work.shape;
  const std::optional<double>& mfu = section.diagnosis.headline.mfu;
  if (mfu && work.hardware_share) section.hfu = *mfu * *work.hardware_share;
  section.fingerprint = fingerprint_of(section.diagnosis.setup, work.settings);
}

// What a comparison can restate the run by.
void add_count(DiagnoseSection& section, const CountedWork* work) {
  const Setup& setup = section.diagnosis.setup;
  if (!setup.flops_per_step || !setup.tokens_per_step || setup.convention.empty()) return;
  section.counts.push_back({setup.convention, work != nullptr ? work->settings : std::string(),
                            *setup.flops_per_step / *setup.tokens_per_step});
}

}  // namespace

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
  const WorkCount counted = count_work(read.run, read.inputs, notes);
  name_chip(read.run, device, request.options.user_chips, notes);
  const RunTimings run = select(std::move(read.run), request.selection, notes);
  done(fmt::format("{} ranks x {} steps, {}", run.ranks.size(), run.steps.size(),
                   format_si(static_cast<double>(run.column_bytes()), "B")));
  Diagnosis diagnosis = diagnose(run, request.options, notes);
  done("diagnosed");
  const WorthAsk ask = worth_ask(request.worth, diagnosis.setup);
  DiagnosedRun result{describe(std::move(diagnosis), run, ask), std::move(read.inputs)};
  if (counted.work) add_counted(result.section, *counted.work);
  add_count(result.section, counted.work ? &*counted.work : nullptr);
  // The general sentence says what MFU needs; this says what became of what the file gives.
  if (!counted.why_not.empty() && !result.section.mfu_missing.empty()) {
    result.section.mfu_missing += "; " + counted.why_not;
  }
  return result;
}

}  // namespace mfu::app
