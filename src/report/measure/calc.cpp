// One measurement in words: headline, other conventions, what would explain the impossible.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/term_spread.hpp"
#include "measure/detective.hpp"
#include "measure/peaks.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/calc_wording.hpp"
#include "report/measure/references.hpp"
#include "report/report_of.hpp"

namespace mfu {
namespace {

// Largest over smallest MFU of the rows, minus 1.
std::optional<double> spread_of(const std::vector<ConventionResult>& results) {
  double least = 0.0;
  double most = 0.0;
  std::size_t count = 0;
  for (const ConventionResult& result : results) {
    if (!result.flops_per_token) continue;
    const double value = *result.flops_per_token;
    least = count == 0 ? value : std::min(least, value);
    most = std::max(most, value);
    ++count;
  }
  if (count < 2 || !(least > 0)) return {};
  return most / least - 1;
}

std::string mfu_missing_of(const Calculation& calculation) {
  if (calculation.mfu()) return "";
  if (!calculation.input.peak) {
    return "MFU needs the peak: --chip h100-sxm with --precision bf16, or --peak 989.4T";
  }
  if (!calculation.results.empty() && !calculation.results.front().flops_per_token) {
    return fmt::format("{} counts hardware FLOPs: it gives an HFU, not an MFU",
                       calculation.results.front().convention->id);
  }
  return "MFU needs a model and a measurement";
}

// A headline figure twice the dense one is answered both ways.
std::string sparse_line(const Calculation& calculation) {
  const std::optional<PeakUsed>& peak = calculation.input.peak;
  const std::optional<double> mfu = calculation.mfu();
  if (!peak || !peak->given || !mfu) return "";
  const Precision precision = peak->precision.value_or(Precision::bf16);
  const std::optional<SparseFigure> sparse = sparse_figure(peak->flops, precision);
  if (!sparse) return "";
  return fmt::format(
      "{} is the {} figure with 2:4 sparsity (as on {}); the dense one is {}: against that, MFU "
      "{}.",
      teraflops(peak->flops), to_string(precision), sparse->chip->name,
      teraflops(sparse->dense_flops), format_percent(*mfu * peak->flops / sparse->dense_flops));
}

// How many of the matches the lines hold.
std::size_t add_matches(CalcSection& section, const std::vector<Match>& matches) {
  constexpr std::size_t kLines = 10;
  std::size_t shown = 0;
  std::string changes;
  const auto same = [](double a, double b) { return std::fabs(a - b) <= 1e-9 * std::fabs(b); };
  for (const Match& match : matches) {
    const std::string own = match_changes(match, section.calculation);
    section.match_texts.push_back(match_convention(match) + own);
    std::vector<CalcSection::MatchLine>& lines = section.match_lines;
    if (!lines.empty() && own == changes && same(match.value, lines.back().value)) {
      // The conventions come before what they have in common.
      lines.back().text.insert(lines.back().text.size() - changes.size(),
                               " = " + match_convention(match));
    } else if (lines.size() < kLines) {
      lines.push_back(
          {match.value, match.relative_error, match.tied, match_convention(match) + own});
      changes = own;
    } else {
      changes = "\n";  // no line: nothing to compare it with
      continue;
    }
    ++shown;
  }
  return shown;
}

void add_advice(CalcSection& section) {
  const Calculation& calculation = section.calculation;
  if (const std::string line = sparse_line(calculation); !line.empty()) {
    section.advice.push_back(line);
  }
  if (calculation.results.empty()) {
    section.advice.emplace_back(
        "The TFLOP/s are as given: the convention that they were counted by is not stated.");
    return;
  }
  if (const std::optional<double> spread = spread_of(calculation.results)) {
    section.advice.push_back(
        fmt::format("Quote the convention with the number: they differ by {} here.",
                    format_percent(*spread, *spread < 0.0995 ? 1 : 0)));
  } else {
    section.advice.emplace_back("Quote the convention with the number.");
  }
}

void add_peaks(CalcSection& section) {
  section.peaks = peaks_around(section.calculation);
  for (const PeakRow& row : section.peaks) section.peak_texts.push_back(peak_name(row));
}

}  // namespace

std::vector<Error> calc_problems(const Calculation& calculation) {
  std::vector<Error> problems;
  for (const MissingInput missing : calculation.missing) {
    problems.push_back(missing_error(missing));
  }
  for (Error& problem : disagreement_errors(calculation)) problems.push_back(std::move(problem));
  return problems;
}

CalcSection describe_calc(Calculation calculation) {
  CalcSection section;
  section.calculation = std::move(calculation);
  const Calculation& c = section.calculation;
  section.status = c.status;
  section.mfu_missing = mfu_missing_of(c);
  section.fingerprint = c.results.empty()
                            ? fingerprint_of("", "", c.input.peak)
                            : fingerprint_of(c.results.front().convention->id,
                                             c.results.front().settings, c.input.peak);
  for (const ConventionResult& result : c.results) {
    section.result_texts.push_back(short_title(*result.convention));
  }
  for (const Excuse& excuse : excuses_for(c)) {
    section.impossible_because.push_back(excuse_sentence(excuse));
  }
  if (c.status == CalcStatus::impossible) {
    section.impossible_because.emplace_back(
        "the time covers fewer steps, is in another unit, or does not wait for the GPU");
  }
  // Against each precision of a mix alone, and against the blend.
  if (c.input.peak && c.input.peak->mix.size() > 1) add_peaks(section);
  add_advice(section);
  return section;
}

void describe_what_if(CalcSection& section, std::optional<Detection> detection) {
  section.what_if = true;
  if (section.peaks.empty()) add_peaks(section);
  if (!detection) return;
  const std::size_t shown = add_matches(section, detection->matches);
  if (detection->ties > 1) {
    section.detection_line = fmt::format(
        "{} of {} hypotheses lie within the rounding of what is printed (+-{}): a tie that the "
        "figure alone cannot break; fewest changes first{}",
        detection->ties, detection->tried, format_percent(detection->tolerance, 3),
        detection->ties > shown ? fmt::format(", {} of them shown", shown) : "");
  } else if (detection->ties == 1) {
    section.detection_line =
        fmt::format("one of {} hypotheses lies within the rounding of what is printed (+-{})",
                    detection->tried, format_percent(detection->tolerance, 3));
  } else {
    section.detection_line = fmt::format(
        "none of {} hypotheses lies within the rounding of what is printed (+-{}); the nearest {}",
        detection->tried, format_percent(detection->tolerance, 3), shown);
  }
  section.detection = std::move(detection);
}

CalcSection describe_rebase(const Rebase& rebase) {
  CalcSection section;
  section.rebase = rebase;
  section.what_if = true;
  section.status = rebase.mfu() > 1 ? CalcStatus::impossible : CalcStatus::ok;
  PeakUsed to;
  to.flops = rebase.to_peak_flops;
  to.given = true;
  section.fingerprint = fingerprint_of("", "", to);
  if (rebase.from_mfu > 1) {
    section.advice.emplace_back(
        "No GPU exceeds its peak: over 100 %, the first peak was not this GPU's.");
  }
  if (rebase.mfu() > 1) {
    section.impossible_because.emplace_back(
        "the run was not on this chip or in this precision, or the printed figure counts too much");
  }
  return section;
}

Report describe(const Calculation& calculation) {
  if (const std::vector<Error> problems = calc_problems(calculation); !problems.empty()) {
    throw Error(problems.front());
  }
  Report report = report_of("calc");
  report.calc = describe_calc(calculation);
  report.calc->references = placed_among_references(*report.calc);
  return report;
}

}  // namespace mfu
