#include "analysis/setup.hpp"

#include "analysis/job.hpp"
#include "mfu/chip.hpp"

namespace mfu::analysis {

namespace {

Error at_place(const Error& error, std::string what) {
  return Error(error.kind(), error.message(), Place{.what = std::move(what)}, error.hint());
}

void resolve_peak(const RunTimings& run, Setup& setup, Notes& notes) {
  const Hardware& hardware = run.hardware;
  const Chip* chip = nullptr;
  if (!hardware.chip.empty()) {
    try {
      const ChipMatch match = match_chip(hardware.chip);
      chip = match.chip;
      if (!match.same_peak_ids.empty()) {
        notes.add("chip-taken", Severity::info,
                  "\"" + hardware.chip + "\" is several chips of one peak; taken for " +
                      std::string(chip->id),
                  Place{.what = "hardware.chip"});
      }
    } catch (const Error& error) {
      // A peak that is given needs no chip: its name is then only shown.
      if (!hardware.peak_tflops) throw at_place(error, "hardware.chip");
      notes.add("unknown-chip", Severity::info,
                "the chip is not in the table; the given peak stands",
                Place{.what = "hardware.chip"});
    }
  }
  if (chip != nullptr) {
    setup.chip_id = chip->id;
    setup.chip_name = chip->name;
  } else {
    setup.chip_name = hardware.chip;
  }
  setup.precision = hardware.precision;
  setup.clock = run.clock;
  if (hardware.peak_tflops) {
    setup.peak_flops_per_gpu = *hardware.peak_tflops * 1e12;
    setup.peak_given = true;
    return;
  }
  if (chip == nullptr) return;
  if (setup.precision.empty()) {
    setup.precision = "bf16";
    notes.add("precision-assumed", Severity::assumption,
              "no precision is given; the peak is that of bf16",
              Place{.what = "hardware.precision"});
  }
  try {
    const Precision precision = parse_precision(setup.precision);
    setup.precision = to_string(precision);
    const Peak peak = peak_at(*chip, precision, run.clock);
    setup.peak_flops_per_gpu = peak.flops;
    setup.clock_mhz = peak.clock_mhz;
  } catch (const Error& error) {
    throw at_place(error, "hardware.precision");
  }
}

}  // namespace

Setup resolve_setup(const RunTimings& run, const DiagnoseOptions& options, Notes& notes) {
  Setup setup;
  setup.model = run.model;
  setup.recorded_ranks = static_cast<std::int64_t>(run.ranks.size());
  const auto in_file =
      static_cast<std::int64_t>(run.recorded_ranks > 0 ? run.recorded_ranks : run.ranks.size());
  setup.expected_ranks = expected_ranks(run);
  setup.gpus = run.hardware.count.value_or(in_file);
  resolve_peak(run, setup, notes);
  setup.convention = run.convention;
  setup.seq_len = run.workload.seq_len;
  setup.tokens_per_step = run.workload.tokens_per_step;
  if (!setup.tokens_per_step && run.workload.seq_len && run.workload.global_batch) {
    setup.tokens_per_step = *run.workload.seq_len * *run.workload.global_batch;
  }
  setup.flops_per_step = run.workload.flops_per_step;
  if (setup.flops_per_step && !(*setup.flops_per_step > 0.0)) setup.flops_per_step.reset();
  setup.reference = options.reference;
  setup.microbatches = run.workload.microbatches;

  return setup;
}

}  // namespace mfu::analysis
