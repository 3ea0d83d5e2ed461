// A comparison as a report holds it: numbers and finished sentences.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "mfu/compare.hpp"
#include "mfu/error.hpp"

namespace mfu {

struct CompareSection {
  Comparison comparison;
  std::string before_title, after_title;  // input, model, GPUs, steps
  std::string verdict_line;               // "better: 29.9 % more speed (95 %: 29.1 to 30.7 %)"
  std::string moved_line;                 // which factor, and its share of the change; empty: none
  std::string expected;                   // --expect; empty: not asked
  bool as_expected = false;
  std::string expected_line;
  std::string restated_line;  // how both were brought under one convention; empty: not needed
  std::vector<std::string> reason_texts;      // one for each of comparison.reasons
  std::vector<std::string> difference_texts;  // one for each of the differences
  std::string credit;                         // whether the change has one cause
  std::vector<std::string> cautions;
  std::vector<std::string> factor_labels;  // one for each of comparison.factors
  std::vector<std::string> part_labels;    // one for each of the parts
};

// Words and numbers of a comparison. `expected`: a factor or part; empty: none. Pure.
[[nodiscard]] CompareSection describe_compare(Comparison comparison, std::string expected);
// Why the two are not comparable, each with the way out. Not empty for such.
[[nodiscard]] std::vector<Error> compare_problems(const CompareSection& section);

}  // namespace mfu
