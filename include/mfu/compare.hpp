// Two measurements of one job under one convention: is the second better, by how much, and which
// factor moved.
//
// Speed is compared in logs: log(MFU_after / MFU_before) is the sum of the factors' log ratios, and
// swapping the two sides changes the sign and nothing else. Steps of a run and lines of a log are
// resampled in blocks on either side (two-sample moving-block bootstrap); where a saved report
// holds intervals and no steps, these are combined as independent errors. Numbers and codes only;
// describe() (report.hpp) puts them in words. Seconds and ratios.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/boxed.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/interval.hpp"

namespace mfu {

// Why two sides cannot be held against one another.
enum class Obstacle {
  impossible,   // a side is over 100 %
  unmeasured,   // a side has neither an MFU nor a step time
  convention,   // FLOPs are counted differently
  formula,      // the same tokens, another number of FLOPs, under one name
  peak,         // another peak
  clock,        // another clock rule, or clock
  precision,    //
  gpus,         // another number of GPUs
  tokens,       // another number of tokens a step
  work,         // another number of FLOPs a step, and the tokens are not known
  reference,    // another reference compute
  missing_mfu,  // one side has an MFU, the other does not
};
[[nodiscard]] std::string_view to_string(Obstacle obstacle) noexcept;

struct Reason {
  Obstacle obstacle;
  std::optional<double> before, after;
  std::string before_text, after_text;
};

struct FactorChange {
  std::string id;
  std::optional<double> before, after;
  double log_ratio = 0.0;           // of after over before
  std::optional<Interval> log_ci;   // 95 %
  double seconds = 0.0;             // change of what it costs a step
  bool significant = false;         // beyond noise and least_change
  std::vector<FactorChange> parts;  // log ratios sum to log_ratio
};

enum class Outcome { better, worse, no_change, unknown };
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

struct CompareOptions {
  bool reconvert = false;
  double least_change = 0.01;  // ratio: less is no change; runs differ by as much by chance
  int replicates = 1000;
  std::uint64_t seed = 20240613;
};

// What the comparison stands on: for describe().
struct ComparisonDetail;

struct Comparison {
  bool comparable = false;
  std::vector<Reason> reasons;  // what stands, or stood, in the way

  std::optional<double> mfu_before, mfu_after;  // as compared, after a restatement
  std::optional<double> step_before, step_after;
  double log_ratio = 0.0;          // speed of after over before
  std::optional<Interval> log_ci;  // 95 %; nothing: no spread is known
  Outcome outcome = Outcome::unknown;
  std::vector<FactorChange> factors;  // log ratios sum to log_ratio
  std::string moved;                  // the factor with the largest change; empty: none moved
  double least_change = 0.0;
  Boxed<ComparisonDetail> detail;  // compare() fills it

  [[nodiscard]] double relative_change() const noexcept;  // of the speed
  [[nodiscard]] std::optional<Interval> relative_ci() const noexcept;
};

// `comparable` is false where something stands in the way that options.reconvert does not allow to
// take out, or that cannot be taken out: then only the reasons are filled. The diagnoses are those
// that diagnose() made; else throws Error{usage}.
[[nodiscard]] Comparison compare(const Diagnosis& before, const Diagnosis& after,
                                 const CompareOptions& options = {});

}  // namespace mfu
