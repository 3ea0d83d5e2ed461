// One measurement's arithmetic as a report holds it: numbers and finished sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/detective.hpp"
#include "measure/fingerprint.hpp"
#include "measure/peaks.hpp"
#include "mfu/measure.hpp"
#include "report/measure/references_section.hpp"

namespace mfu {

// An MFU against one peak, held against another.
struct Rebase {
  double from_mfu = 0.0;
  double from_peak_flops = 0.0;
  std::string from_name;  // chip and precision; empty: a number
  double to_peak_flops = 0.0;
  std::string to_name;
  [[nodiscard]] double achieved_flops() const { return from_mfu * from_peak_flops; }
  [[nodiscard]] double mfu() const { return achieved_flops() / to_peak_flops; }
};

// calc, and whatif, which is the same with more rows.
struct CalcSection {
  Calculation calculation;
  bool what_if = false;
  CalcStatus status = CalcStatus::no_model;  // of the rebase, where there is no calculation
  Fingerprint fingerprint;
  std::string mfu_missing;                // why there is no MFU, and what would give it; else empty
  std::vector<std::string> result_texts;  // a few words for each of calculation.results
  std::vector<std::string> impossible_because;
  std::vector<std::string> advice;  // closing lines
  std::optional<ReferencesSection> references;
  std::vector<PeakRow> peaks;
  std::vector<std::string> peak_texts;  // one for each of peaks
  std::optional<Detection> detection;
  std::vector<std::string> match_texts;  // one for each match
  struct MatchLine {  // matches that are one hypothesis under several conventions, together
    double value = 0.0;
    double relative_error = 0.0;
    bool tied = false;
    std::string text;
  };
  std::vector<MatchLine> match_lines;  // the first few
  std::string detection_line;          // how the best stands, and how many stand beside it
  std::optional<Rebase> rebase;        // then there is no calculation
};

// Words and numbers of a calculation without problems. Pure.
[[nodiscard]] CalcSection describe_calc(Calculation calculation);
// Adds the peaks and, where a figure was printed, what would give it.
void describe_what_if(CalcSection& section, std::optional<Detection> detection);
[[nodiscard]] CalcSection describe_rebase(const Rebase& rebase);

}  // namespace mfu
