// Two measurements of one job under one convention: is the second better, by how much, and which
// factor moved.
//
// Speed is compared in logs: log(MFU_after / MFU_before) is the sum of the factors' log ratios, and
// swapping the two sides changes the sign and nothing else. Steps of a run and lines of a log are
// resampled in blocks on either side (two-sample moving-block bootstrap); where a saved report
// holds intervals and no steps, these are combined as independent errors. Numbers and codes only:
// every sentence is made in the report room. Seconds and ratios.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/diagnose.hpp"
#include "mfu/log_summary.hpp"
#include "mfu/model.hpp"

namespace mfu {

// What a side was measured on.
enum class Measure {
  run,     // steps of every rank: mean step, factors, parts
  log,     // lines of a log: usual step and mean step
  single,  // one figure
};
[[nodiscard]] std::string_view to_string(Measure measure) noexcept;

struct SideFactor {
  std::string id;               // of FactorId; of a log: "usual_step", "slow_steps"
  std::optional<double> value;  // nothing for single_gpu where work or peak is not known
  double seconds = 0.0;         // that it costs a step; without a value: its seconds themselves
  std::optional<Interval> relative_ci;  // 95 %, over the value, less 1
  std::vector<SideFactor> parts;        // multiply to value
};

struct SidePart {
  std::string id;
  double seconds = 0.0;  // a step
};

// FLOPs of a token under one convention.
struct SideCount {
  std::string convention;  // id
  std::string settings;    // its switches
  double flops_per_token = 0.0;
};

// One side of a comparison, whatever it was read from. Empty and nothing: not known.
struct Side {
  std::string name;  // as the user named the input
  Measure measure = Measure::run;
  std::optional<CalcStatus> status;

  // The instrument.
  Fingerprint fingerprint;
  std::optional<double> peak_flops_per_gpu;
  std::string reference;  // of a run: "median", "mean"
  std::string split;      // of a run: how waiting was told from transfer

  // The set-up.
  std::string job, model, chip, recompute;
  std::optional<double> params, seq_len, global_batch, tokens_per_step, flops_per_step;
  std::optional<double> gpus, nodes, microbatches, stages;
  std::map<std::string, std::int64_t> layout;  // "tp", "cp", "ep", "dp", "pp"
  std::optional<ModelShape> shape;             // where the input has one
  std::vector<SideCount> counts;               // what the input was counted with

  // The measurement. All steps that count: total work over total time.
  std::optional<double> mfu;
  std::optional<double> step_seconds;
  std::optional<double> tokens_per_second_per_gpu;
  std::optional<double> usual_step_seconds;  // of a log: the median
  std::vector<SideFactor> factors;           // multiply to mfu where all have a value
  std::vector<SidePart> parts;               // sum to step_seconds
  std::optional<Interval> relative_ci;       // 95 % of the speed, over it, less 1
  std::int64_t steps = 0;                    // that count

  // What is resampled; none: only the intervals above are known.
  std::vector<StepTerms> terms;  // of a run, by step
  std::vector<double> costs;     // of a log, by line
  std::vector<double> weights;   // steps that each line averages over
};

// All but the name and what only words hold: the fingerprint, the model's counts.
[[nodiscard]] Side side_of(const Diagnosis& diagnosis);

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

// One key of the set-up in which the sides differ. Keys of one `cause` go together: tensor and data
// parallel sizes are one change of layout. An empty cause: it follows from another.
struct Difference {
  std::string key;    // as in setup: "gpus", "tp"
  std::string cause;  // "batch", "sequence", "layout", "scale", "chip", "model" ...
  std::optional<double> before, after;
  std::string before_text, after_text;
};

// How the sides were brought under one convention.
enum class Restatement {
  none,
  counts,  // both counted under `convention`
  tokens,  // the same model and sequence: tokens a second of a GPU, whatever the FLOPs of one
  flops,   // FLOP/s of a GPU under the same convention, against the peak of `after`
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

struct PartChange {
  std::string id;
  double before = 0.0;  // seconds a step
  double after = 0.0;
};

enum class Outcome { better, worse, no_change, unknown };
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

struct CompareOptions {
  bool reconvert = false;
  double least_change = 0.01;  // ratio: less is no change; runs differ by as much by chance
  int replicates = 1000;
  std::uint64_t seed = 20240613;
};

struct Comparison {
  bool comparable = false;
  std::vector<Reason> reasons;  // what stands, or stood, in the way
  std::vector<Difference> differences;
  std::vector<std::string> causes;  // of the differences, each once
  Restatement restated = Restatement::none;
  std::string restated_convention;
  bool same_data = false;  // the two sides are the same measurement
  bool per_gpu = false;    // work a step or GPUs differ: seconds a step do not compare
  bool split_differs = false;

  std::optional<double> mfu_before, mfu_after;  // as compared, after a restatement
  std::optional<double> step_before, step_after;
  double log_ratio = 0.0;          // speed of after over before
  std::optional<Interval> log_ci;  // 95 %; nothing: no spread is known
  Outcome outcome = Outcome::unknown;
  std::vector<FactorChange> factors;  // log ratios sum to log_ratio
  std::vector<PartChange> parts;      // sum to the steps
  std::string moved;                  // the factor with the largest change; empty: none moved
  double least_change = 0.0;

  [[nodiscard]] double relative_change() const noexcept;  // of the speed
  [[nodiscard]] std::optional<Interval> relative_ci() const noexcept;
};

// `comparable` is false where something stands in the way that options.reconvert does not allow to
// take out, or that cannot be taken out: then only reasons and differences are filled.
[[nodiscard]] Comparison compare(const Side& before, const Side& after,
                                 const CompareOptions& options);

// The ids that a run's or a log's change can be expected of: factors and their parts.
[[nodiscard]] std::span<const std::string_view> expectable_factors() noexcept;

// Whether the change is the one that was aimed at: the factor moved, and for the better; a part of
// a factor: that it is the largest part of it.
[[nodiscard]] bool is_as_expected(const Comparison& comparison, std::string_view factor);

// Fails only when the slowdown is beyond `limit` and its interval excludes none.
struct Regression {
  double slowdown = 0.0;  // share of the speed that is lost; below 0: quicker
  std::optional<Interval> interval;
  bool beyond_limit = false;
  bool certain = false;
  [[nodiscard]] bool failed() const noexcept { return beyond_limit && certain; }
};
[[nodiscard]] Regression regression_of(const Comparison& comparison, double limit) noexcept;

// 95 % intervals of the mean step and of each factor of a run, over the value, less 1. Nothing for
// fewer than 5 steps.
struct TermSpread {
  Interval step;
  std::vector<Interval> factors;  // single_gpu, balance, own_stall, transfer, dependency
};
[[nodiscard]] std::optional<TermSpread> spread_of(std::span<const StepTerms> terms);

// The same of a log: of the mean cost of all lines that count, and of the usual over it.
struct LogSpread {
  Interval mean;
  Interval slow_steps;
};
[[nodiscard]] std::optional<LogSpread> spread_of(const LogSummary& summary);

}  // namespace mfu
