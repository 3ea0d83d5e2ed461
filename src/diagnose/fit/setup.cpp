#include "diagnose/fit/setup.hpp"

#include <set>
#include <string_view>
#include <vector>

#include "base/note_code.hpp"
#include "chips/no_chip.hpp"
#include "diagnose/devices/health.hpp"
#include "diagnose/fit/job.hpp"
#include "mfu/chip.hpp"

namespace mfu::diagnosis {

namespace {

Error at_place(const Error& error, std::string what) {
  // The table of chips does not know the keys of a run file.
  const auto* none = dynamic_cast<const NoChip*>(&error);
  std::string hint = none != nullptr ? none->hint_with("give hardware.peak_tflops (dense, per GPU)")
                                     : error.hint();
  return Error(error.kind(), error.message(), Place{.what = std::move(what)}, std::move(hint));
}

// A given peak is used as it is; oddities are noted.
void note_given_peak(const Setup& setup, const Clock& clock, Notes& notes) {
  const Place place{.what = "hardware.peak_tflops"};
  Precision precision = Precision::bf16;
  try {
    if (!setup.precision.empty()) precision = parse_precision(setup.precision);
  } catch (const Error&) {
    return;  // of a precision that has no name here, or of several
  }
  if (const auto sparse = sparse_figure(*setup.peak_flops_per_gpu, precision)) {
    notes.add(NoteCode::sparse_peak,
              "the given peak is the 2:4 sparse " + std::string(to_string(precision)) +
                  " figure of " + std::string(sparse->chip->id) +
                  ", twice the dense one: MFU against the dense peak is twice as high",
              place);
  } else if (setup.chip != nullptr) {
    const PrecisionRate* rate = rate_of(*setup.chip, precision);
    const double given = *setup.peak_flops_per_gpu;
    if (rate == nullptr || given > 1.3 * rate->datasheet_flops ||
        given < 0.5 * rate->datasheet_flops) {
      notes.add(NoteCode::peak_disagrees,
                "the given peak is far from the dense " + std::string(to_string(precision)) +
                    " figure of " + std::string(setup.chip->id),
                place);
    }
  }
  if (clock.rule != ClockRule::datasheet) {
    notes.add(NoteCode::clock_not_used, "a given peak has no clock: the clock is not used",
              Place{.what = "clock"});
  }
}

void resolve_peak(const RunTimings& run, const DiagnoseOptions& options, Setup& setup,
                  Notes& notes) {
  const Hardware& hardware = run.hardware;
  const Chip* chip = nullptr;
  if (!hardware.chip.empty()) {
    try {
      const ChipMatch match = match_chip(hardware.chip, {}, options.user_chips);
      chip = match.chip;
      if (!match.remark.empty()) {
        notes.add(NoteCode::chip_name, match.remark, Place{.what = "hardware.chip"});
      }
      if (!match.same_peak_ids.empty()) {
        notes.add(NoteCode::chip_taken,
                  "\"" + hardware.chip +
                      "\" fits several chips of the same peak; the one used is " +
                      std::string(chip->id),
                  Place{.what = "hardware.chip"});
      }
    } catch (const Error& error) {
      // A given peak needs no chip: the name is only shown.
      if (!hardware.peak_tflops) throw at_place(error, "hardware.chip");
      notes.add(NoteCode::unknown_chip, "the chip is not in the table; the given peak is used",
                Place{.what = "hardware.chip"});
    }
  }
  if (chip != nullptr) {
    setup.chip = chip;
    setup.chip_id = chip->id;
    setup.chip_name = chip->name;
  } else {
    setup.chip_name = hardware.chip;
  }
  setup.precision = hardware.precision;
  setup.clock = hardware.peak_tflops ? Clock{} : run.clock;
  if (hardware.peak_tflops) {
    setup.peak_flops_per_gpu = *hardware.peak_tflops * 1e12;
    setup.peak_given = true;
    note_given_peak(setup, run.clock, notes);
    return;
  }
  if (chip == nullptr) return;
  if (setup.precision.empty()) {
    setup.precision = "bf16";
    notes.add(NoteCode::precision_assumed, "no precision is given; the peak is that of bf16",
              Place{.what = "hardware.precision"});
  }
  try {
    const std::vector<PrecisionShare> mix = parse_precision_mix(setup.precision);
    setup.precision = to_text(mix);
    if (setup.clock.rule == ClockRule::measured && !(setup.clock.mhz > 0.0)) {
      setup.clock.mhz = job_clock_mhz(run).value_or(0.0);
    }
    const Peak peak = peak_of_mix(*chip, mix, setup.clock);
    setup.peak_flops_per_gpu = peak.flops;
    if (peak.clock_mhz > 0.0) setup.clock_mhz = peak.clock_mhz;
    if (peak.above_max) {
      notes.add(NoteCode::clock_above_max, "the clock of the peak is above the chip's maximum",
                Place{.what = "clock"});
    }
  } catch (const Error& error) {
    throw at_place(error, error.kind() == ErrorKind::insufficient ? "clock" : "hardware.precision");
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
  resolve_peak(run, options, setup, notes);
  setup.convention = run.convention;
  setup.counted = run.counted;
  setup.seq_len = run.workload.seq_len;
  setup.tokens_per_step = run.workload.tokens_per_step;
  if (!setup.tokens_per_step && run.workload.seq_len && run.workload.global_batch) {
    setup.tokens_per_step = *run.workload.seq_len * *run.workload.global_batch;
  }
  setup.flops_per_step = run.workload.flops_per_step;
  if (setup.flops_per_step && !(*setup.flops_per_step > 0.0)) setup.flops_per_step.reset();
  setup.reference = options.reference;
  setup.microbatches = run.workload.microbatches;
  if (const auto name = run.job.find("name"); name != run.job.end()) setup.job = name->second;
  setup.global_batch = run.workload.global_batch;
  setup.recompute = run.workload.recompute;
  setup.parallelism = run.parallelism;
  std::set<std::string_view> nodes;
  for (const RankInfo& rank : run.ranks) {
    if (!rank.node.empty()) nodes.insert(rank.node);
  }
  setup.nodes = static_cast<std::int64_t>(nodes.size());
  return setup;
}

}  // namespace mfu::diagnosis
