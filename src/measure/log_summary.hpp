// What the steps of a training log amount to: which of them count, how long a step is, what is
// unusual. Numbers only; the sentences are made in the report room. Seconds and ratios.
//
// A log says how long a step takes, or only how fast it is. Either is brought to a cost: seconds of
// one unit of work. Costs add up, rates do not: the mean is total time over total work, never the
// mean of rates. A line that averages over several steps weighs as many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "logs/training_log.hpp"
#include "measure/detective.hpp"
#include "mfu/error.hpp"
#include "mfu/interval.hpp"
#include "mfu/measure.hpp"

namespace mfu {

// The unit of work that a cost is of.
enum class StepBasis {
  step,           // seconds a step
  sample,         // seconds a sample of the whole job
  token,          // seconds a token of the whole job
  token_per_gpu,  // seconds a token of one GPU
  flop,           // seconds a model FLOP of one GPU
};
[[nodiscard]] std::string_view to_string(StepBasis basis) noexcept;

// Which figure of the steps is the headline, and what gates judge.
enum class LogStatistic {
  mean,    // total time of the steps that count over their work: what the job gets
  median,  // the usual step
  wall,    // from the first to the last step with everything between: evaluations, checkpoints
};
[[nodiscard]] std::string_view to_string(LogStatistic statistic) noexcept;
// Throws Error{usage} at --statistic.
[[nodiscard]] LogStatistic parse_log_statistic(std::string_view text);

struct LogSummaryOptions {
  LogStatistic statistic = LogStatistic::mean;
  std::optional<std::size_t> skip;     // leading steps of each segment, instead of the warm-up rule
  std::optional<std::size_t> segment;  // from 1; nothing: all
  bool last_segment = false;           // then `segment` is not read
  std::optional<double> peak_flops;    // of one GPU: a step that prints more is refused
  // The cost of a step at the peak, where its work is known: faster steps are refused as well.
  std::optional<double> least_cost;
  std::uint64_t seed = 1;  // of the bootstrap
};

// Steps that do not count, by reason.
struct LeftOutSteps {
  std::int64_t warmup = 0;       // slow at the start: compilation, caches, allocator
  std::int64_t skipped = 0;      // LogSummaryOptions::skip
  std::int64_t without = 0;      // print neither the time nor the rate that the others do
  std::int64_t too_short = 0;    // under a quarter of the usual: the clock did not wait for the GPU
  std::int64_t over_peak = 0;    // print more FLOP/s than the peak: the same
  std::int64_t other_batch = 0;  // of another global batch than most (ramp-up)
  [[nodiscard]] std::int64_t total() const noexcept {
    return warmup + skipped + without + too_short + over_peak + other_batch;
  }
};

// Slow steps among those that count: over 10 % and five standard deviations above their
// neighbours' median.
struct OutlierSteps {
  std::int64_t count = 0;
  double time_share = 0.0;    // of the time of all steps that count
  double excess_share = 0.0;  // what they take beyond their neighbours, of that time
  double largest_cost = 0.0;  // same unit as the other costs
  std::int64_t largest_iteration = 0;
  std::int64_t beside_pauses = 0;        // right after an evaluation, checkpoint or profiler
  std::optional<double> period_steps;    // every so many steps
  std::optional<double> period_seconds;  // every so many seconds; only where no step period holds
};

// Two speeds between which the steps go, a tenth of them and more at each: no outliers.
struct LogLevels {
  double slow_share = 0.0;  // of the lines
  double time_share = 0.0;  // of the time of all steps that count
  double quick_cost = 0.0;  // means; same unit as the other costs
  double slow_cost = 0.0;
  std::optional<double> period_lines;  // slow ones come every so many lines
};

struct LogDrift {
  double change = 0.0;  // last fifth of the steps over the first fifth, less 1
  double z = 0.0;       // Mann-Kendall, over medians of consecutive steps
};

struct SegmentSummary {
  std::size_t number = 0;  // from 1, as --segment counts
  std::int64_t first_line = 0;
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  std::int64_t steps = 0;
  std::int64_t used = 0;
  std::optional<double> median_cost;
  // Over the segment before that has a median, less 1; only where it is beyond 2 % and four
  // standard errors.
  std::optional<double> change;
};

struct PauseSummary {
  std::string kind;
  std::int64_t count = 0;
  std::int64_t timed = 0;  // of these, with a duration
  double seconds = 0.0;
};

struct LogSummary {
  StepBasis basis = StepBasis::step;
  std::int64_t used = 0;   // steps; a line that averages over ten is ten
  std::int64_t lines = 0;  // entries of the log that they come from
  int steps_a_line = 1;    // median number of steps that a line averages over
  LeftOutSteps left_out;
  std::int64_t first_iteration = 0;  // of those used
  std::int64_t last_iteration = 0;
  double median_cost = 0.0;
  Interval median_ci;  // 95 %; both ends equal where there are fewer than 5 lines: not known
  bool interval_known = false;
  // The same over the median, less 1; nothing: not known.
  [[nodiscard]] std::optional<Interval> median_relative() const {
    if (!interval_known) return {};
    return Interval{median_ci.lo / median_cost - 1, median_ci.hi / median_cost - 1};
  }
  double mean_cost = 0.0;  // total time over total work
  LogStatistic statistic = LogStatistic::mean;
  double cost = 0.0;  // the headline's: that of `statistic`
  // From the first to the last step that counts, by the time stamps of their lines; seconds of one
  // step. Nothing: no stamps, or costs are not of steps.
  std::optional<double> wall_cost;
  double p95_cost = 0.0;
  double rounding = 0.0;  // of one printed value: half a unit of its last digit, relative
  // Of each line that counts, in the order of the log; `weights`: steps that it averages over.
  std::vector<double> costs, weights;
  OutlierSteps outliers;
  std::optional<LogLevels> levels;
  std::optional<LogDrift> drift;
  std::vector<SegmentSummary> segments;
  std::vector<PauseSummary> pauses;
  // Of the steps that count, as they print it; the batch is the most frequent one.
  std::optional<double> global_batch;
  std::optional<double> tokens_per_step;
  std::optional<double> tokens_per_s;
  std::optional<double> tokens_per_s_per_gpu;
  // What the log prints itself, brought to the headline's step: its FLOPs of a step (median) over
  // that step's time. `*_rounding`: of the printed figure.
  std::optional<double> model_flops_per_s_per_gpu;
  std::optional<double> hardware_flops_per_s_per_gpu;
  std::optional<double> mfu;
  double flops_rounding = 0.0;
  double mfu_rounding = 0.0;
};

// That of its statistic. Throws Error{insufficient}: wall, without time stamps.
[[nodiscard]] double headline_cost(const LogSummary& summary);

// Throws Error{insufficient} when no step has a time or a rate, or none is left, or the statistic
// is wall and the lines have no time stamps; Error{usage} for a segment that is not there. Notes
// "steps-refused", "batch-changes", "long-warmup".
[[nodiscard]] LogSummary summarize(const TrainingLog& log, const LogSummaryOptions& options,
                                   Notes& notes);

// A figure that the log prints itself, and what gives it.
struct LoggedFigure {
  bool is_ratio = false;  // MFU; else FLOP/s of one GPU
  bool hardware = false;  // with recomputation
  double value = 0.0;     // at the usual step, as most lines print it
  // What the printed MFU is held against, where the log says it or prints the FLOP/s beside it.
  std::optional<double> against_flops;
  bool recounted = false;  // there is a model and a measurement to count it from
  // The log's own conventions stand first among what reproduces the figure. Where `against_flops`
  // is known, the figure that is looked for is the MFU times it.
  Detection detection;
  // What reproduces it within the rounding of what is printed; null: nothing does.
  [[nodiscard]] const Match* match() const noexcept {
    const bool found = !detection.matches.empty() && detection.matches.front().tied;
    return found ? &detection.matches.front() : nullptr;
  }
};

// `calculation`: of the headline's step, without problems.
[[nodiscard]] std::vector<LoggedFigure> logged_figures(const LogSummary& summary,
                                                       const TrainingLog& log,
                                                       const Calculation& calculation);

}  // namespace mfu
