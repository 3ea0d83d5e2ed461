// mfu peak [CHIP]: peaks at a clock, and what a figure of TFLOP/s may be.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "inputs/chip_source.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "report/measure/peak_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct PeakText {
  std::vector<std::string> names;
  std::string precision, clock, tflops, units, telemetry, chips;
  bool sparse = false;
  bool verbose = false;
  OutputText output;
};

// The chip asked for, however it was named; nothing: all.
void resolve_chip(const PeakText& text, const ObservedDevices& observed, PeakQuery& query) {
  ChipMatch match;
  if (!text.names.empty()) {
    match = chip_of(text.names.front(), "CHIP", "the option --peak of mfu calc:", query.user_chips);
  } else if (!text.telemetry.empty()) {
    match = only_chip(observed);
  } else {
    return;
  }
  query.chip = match.chip;
  for (std::string& doubt : doubts(observed, *match.chip))
    query.remarks.push_back(std::move(doubt));
  query.devices_in_name = match.devices_in_name;
  if (!match.remark.empty()) query.remarks.push_back(match.remark);
  if (!match.same_peak_ids.empty()) {
    query.remarks.push_back(
        fmt::format("The name is ambiguous: {} has the same peaks, not the same memory",
                    fmt::join(match.same_peak_ids, ", ")));
  }
}

int run_peak(const CLI::App& command, const PeakText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.names.size() > 1) {
    problems.add(Error(ErrorKind::usage, "one chip at a time", at("CHIP"),
                       "a name of several words is quoted: mfu peak \"NVIDIA H100 80GB HBM3\""));
  }
  Notes notes;
  Report report = report_of("peak");
  PeakQuery query;
  ObservedDevices observed;
  query.sparse = text.sparse;
  problems.attempt([&] { query.user_chips = user_chips(text.chips, notes, report.inputs); });
  problems.attempt(
      [&] { observed = observe(text.telemetry, query.user_chips, notes, report.inputs); });
  problems.attempt([&] {
    if (!text.precision.empty()) query.mix = parse_precision_mix(text.precision, at("--precision"));
  });
  problems.attempt([&] {
    if (!text.tflops.empty()) query.flops = parse_flops(text.tflops, "--tflops");
  });
  problems.throw_if_any();
  problems.attempt([&] { resolve_chip(text, observed, query); });
  problems.throw_if_any();
  problems.attempt([&] { query.clock = parse_clock(text.clock, observed, query.chip); });
  problems.attempt([&] {
    if (text.units.empty()) return;
    const double units = parse_count(text.units, "--units");
    if (query.chip == nullptr) {
      throw Error(ErrorKind::usage, "the units of which chip?", at("--units"), "name the chip");
    }
    if (units != std::floor(units)) {
      throw Error(ErrorKind::usage, "'" + text.units + "' is not a number of units", at("--units"),
                  "write a whole number");
    }
    if (units > query.chip->units) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} has {} units", query.chip->id, query.chip->units), at("--units"),
                  "a slice has fewer");
    }
    query.chip = &with_units(*query.chip, static_cast<int>(units),
                             fmt::format("{}-units", static_cast<int>(units)));
  });
  problems.throw_if_any();
  report.peak = describe_peak(query);
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();
  report.notes = notes.all();
  return publish(report, targets, text.verbose);
}

}  // namespace

std::function<int()> add_peak(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("peak", "Peaks at a clock, of one chip or of all");
  const auto text = std::make_shared<PeakText>();
  command
      ->add_option("CHIP", text->names,
                   "h100-sxm, \"NVIDIA H100 80GB HBM3\", \"gfx942 304 CU 192 GB\"; none: all")
      ->type_name("");
  command
      ->add_option("--precision", text->precision,
                   "bf16 (default), fp16, fp16_fp16acc, fp8 ...; a mix: bf16=0.7,fp8=0.3")
      ->type_name("NAME");
  command->add_option("--clock", text->clock, "datasheet (default), max, base, measured or MHz")
      ->type_name("RULE");
  command->add_flag("--sparse", text->sparse, "The 2:4 sparse figures, twice the dense ones");
  command->add_option("--tflops", text->tflops, "What this figure is: its clock, or its pitfall")
      ->type_name("FLOP/s");
  command->add_option("--units", text->units, "SMs or CUs of a slice")->type_name("N");
  command->add_option("--telemetry", text->telemetry, "nvidia-smi CSV: the device, its clock")
      ->type_name("FILE");
  command->add_option("--chips", text->chips, "Your own chips: mfu.chips/1 JSON")
      ->type_name("FILE");
  add_output_options(*command, text->output);
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu peak h100-sxm\n"
      "  mfu peak \"NVIDIA GB200\" --clock 2062\n"
      "  mfu peak h100-sxm --tflops 700T\n"
      "  mfu peak --tflops 1979T\n"
      "  mfu peak h100-sxm --precision bf16=0.7,fp8=0.3 --json");
  return [command, text] { return run_peak(*command, *text); };
}

}  // namespace mfu::app
