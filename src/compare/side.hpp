// One side of a comparison, whatever it was read from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/step_terms.hpp"
#include "measure/fingerprint.hpp"
#include "measure/log_summary.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/interval.hpp"
#include "mfu/measure.hpp"
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
  std::string split;      // of a run: how waiting was separated from transfer

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
  // Of a log, what its headline is of, and its figures; a report without one is of the median.
  LogStatistic statistic = LogStatistic::mean;
  std::optional<double> headline_mfu, headline_step_seconds;
  std::optional<Interval> headline_relative;  // 95 % of the step, over it, less 1
  std::vector<SideFactor> factors;            // multiply to mfu where all have a value
  std::vector<SidePart> parts;                // sum to step_seconds
  std::optional<Interval> relative_ci;        // 95 % of the speed, over it, less 1
  std::int64_t steps = 0;                     // that count

  // What is resampled; none: only the intervals above are known.
  std::vector<StepTerms> terms;  // of a run, by step
  std::vector<double> costs;     // of a log, by line
  std::vector<double> weights;   // steps that each line averages over
};

// All but the name and what only words hold: the fingerprint, the model's counts.
[[nodiscard]] Side side_of(const Diagnosis& diagnosis);

}  // namespace mfu
