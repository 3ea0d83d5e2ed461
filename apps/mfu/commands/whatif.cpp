// mfu whatif: the same measurement under every convention and against the peaks around its own;
// where a printed figure comes from; a figure moved from one peak to another.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/decimal.hpp"
#include "commands/calc_options.hpp"
#include "commands/commands.hpp"
#include "measure/detective.hpp"
#include "mfu/chip.hpp"
#include "mfu/measure.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "report/measure/calc_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

constexpr std::size_t kMatches = 24;

struct WhatIfText {
  CalcText calc;
  OutputText output;
  std::string reported, rebase, from_peak, from_chip, to_peak, to_chip;
  bool strict = false;
  bool verbose = false;
};

Reported parse_reported(const std::string& text) {
  Reported reported;
  reported.half_unit = rounding_of(text);
  const bool bare = parse_decimal(text).status == DecimalStatus::ok;
  reported.is_ratio = bare || text.find('%') != std::string::npos;
  reported.value =
      reported.is_ratio ? parse_printed_ratio(text, "--reported") : parse_flops(text, "--reported");
  return reported;
}

// One end of a rebase: a number, or a chip in a precision.
double parse_end(const std::string& peak, const std::string& chip, const std::string& precision,
                 const std::string& side, std::string& name) {
  if (!peak.empty() && !chip.empty()) {
    throw Error(ErrorKind::usage, "two peaks for one side", at("--" + side + "-peak"),
                "give --" + side + "-peak or --" + side + "-chip");
  }
  if (!peak.empty()) return parse_flops(peak, "--" + side + "-peak");
  if (chip.empty()) {
    throw Error(ErrorKind::usage, "the peak is not given", at("--" + side + "-peak"),
                "--" + side + "-peak 312T or --" + side + "-chip a100");
  }
  const std::vector<PrecisionShare> mix =
      parse_precision_mix(precision.empty() ? "bf16" : precision, at("--precision"));
  const Chip* found = chip_of(chip, "--" + side + "-chip", "--" + side + "-peak").chip;
  name = std::string(found->name) + " " + to_text(mix);
  return peak_of_mix(*found, mix, {}).flops;
}

bool asks_for_rebase(const WhatIfText& text) {
  return !text.rebase.empty() || !text.from_peak.empty() || !text.from_chip.empty() ||
         !text.to_peak.empty() || !text.to_chip.empty();
}

CalcSection rebased(const WhatIfText& text, Problems& problems) {
  Rebase rebase;
  problems.attempt([&] {
    if (text.rebase.empty()) {
      throw Error(ErrorKind::usage, "no MFU to move", at("--rebase"),
                  "--rebase 29% --from-peak 312T --to-chip h100-sxm");
    }
    rebase.from_mfu = parse_printed_ratio(text.rebase, "--rebase");
  });
  problems.attempt([&] {
    rebase.from_peak_flops =
        parse_end(text.from_peak, text.from_chip, text.calc.precision, "from", rebase.from_name);
  });
  problems.attempt([&] {
    rebase.to_peak_flops =
        parse_end(text.to_peak, text.to_chip, text.calc.precision, "to", rebase.to_name);
  });
  if (!text.reported.empty()) {
    problems.add(Error(ErrorKind::usage, "either --rebase or --reported", at("--reported")));
  }
  problems.throw_if_any();
  return describe_rebase(rebase);
}

CalcSection measured(const WhatIfText& text, Problems& problems, Notes& notes,
                     std::vector<InputInfo>& files) {
  std::optional<Reported> reported;
  if (!text.reported.empty()) {
    problems.attempt([&] { reported = parse_reported(text.reported); });
  }
  const ParsedCalc parsed = parse_measurement(text.calc, problems, notes);
  files = parsed.files;
  if (reported && reported->is_ratio && !parsed.input.peak) {
    problems.add(Error(ErrorKind::usage, "the peak is not given", at("--chip"),
                       "--chip h100-sxm (with --precision bf16), or --peak 989.4T"));
  }
  problems.throw_if_any();
  const std::vector<const Convention*> all = all_conventions();
  Calculation calculation = calculate(parsed.input, all);
  for (const Error& problem : calc_problems(calculation)) problems.add(problem);
  problems.throw_if_any();
  std::optional<Detection> detection;
  if (reported) detection = detect(calculation, *reported, parsed.rounding, kMatches);
  CalcSection section = describe_calc(std::move(calculation));
  describe_what_if(section, std::move(detection));
  return section;
}

int run_whatif(const CLI::App& command, const WhatIfText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  Notes notes;
  Report report = report_of("whatif");
  report.calc = asks_for_rebase(text) ? rebased(text, problems)
                                      : measured(text, problems, notes, report.inputs);
  report.notes = notes.all();
  if (text.strict) {
    const CalcSection& section = *report.calc;
    const std::optional<double> mfu =
        section.rebase ? std::optional<double>(section.rebase->mfu()) : section.calculation.mfu();
    refuse_if_strict(report.notes,
                     {mfu, std::nullopt, section.status == CalcStatus::impossible,
                      section.mfu_missing, section.impossible_because},
                     "the answer is given anyway");
  }
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();
  return publish(report, targets, text.verbose);
}

}  // namespace

std::function<int()> add_whatif(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("whatif", "Other conventions and peaks; what a printed MFU is");
  const auto text = std::make_shared<WhatIfText>();
  constexpr std::array kParts{CalcPart::model, CalcPart::step, CalcPart::measurement,
                              CalcPart::peak, CalcPart::convention};
  add_calc_options(*command, text->calc, kParts);
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    command->add_option(name, value, help)->type_name(type);
  };
  add("--reported", text->reported, "FIGURE", "Printed figure, 74.13% or 231T: what gives it?");
  add("--rebase", text->rebase, "MFU", "MFU against one peak: what against another?");
  add("--from-peak", text->from_peak, "FLOP/s", "The peak that it was printed against");
  add("--from-chip", text->from_chip, "NAME", "The same, by chip");
  add("--to-peak", text->to_peak, "FLOP/s", "The peak to restate it against");
  add("--to-chip", text->to_chip, "NAME", "The same, by chip");
  add_output_options(*command, text->output);
  command->add_flag("--strict", text->strict, "Exit 2 on an assumption or an MFU over 100 %");
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu whatif --model llama-3.1-8b --chip h100-sxm --gpus 64 --seq-len 8192 \\\n"
      "             --batch 512 --step-time 12.9s --reported 26.4%\n"
      "  mfu whatif --rebase 104% --from-peak 312T --to-chip h100-sxm");
  return [command, text] { return run_whatif(*command, *text); };
}

}  // namespace mfu::app
