// What the log of a training run is reduced to, whatever framework printed it.
//
// A log is lines; a format is one file in src/logs that recognises its lines and fills this. What a
// log does not say stays empty: nothing here is guessed, and where a value comes from is said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mfu/error.hpp"

namespace mfu {

// One optimizer step as the log has it; steps of several ranks that are one step are one entry.
struct LoggedStep {
  std::int64_t iteration = 0;                       // as printed
  std::int64_t line = 0;                            // of the file, 1-based
  std::optional<double> step_s;                     // wall seconds of one step
  std::optional<double> tokens_per_s;               // of the whole job
  std::optional<double> tokens_per_s_per_gpu;       // of one GPU
  std::optional<double> samples_per_s;              // of the whole job
  std::optional<double> tokens;                     // of this step, whole job
  std::optional<double> global_batch;               // samples of this step
  std::optional<double> model_flops_per_s_per_gpu;  // as printed, model FLOPs
  std::optional<double> hardware_flops_per_s_per_gpu;  // as printed, with recomputation
  std::optional<double> mfu;                        // as printed, 0..1
  std::optional<double> timestamp_s;                // of the line, seconds since the epoch
  int steps_averaged = 1;   // a mean over this many steps (log_interval)
  int copies = 1;           // lines that told of this step (ranks)
  bool skipped = false;     // the framework skipped the update (overflow)
};

// A part of the log that is no training step: evaluation, checkpoint, compilation.
struct LoggedPause {
  std::string kind;  // "evaluation", "checkpoint", "profiler"
  std::int64_t line = 0;
  double seconds = 0.0;
  std::int64_t after_iteration = -1;
};

// Steps of one process of training: a resumed run has several.
struct LogSegment {
  std::vector<LoggedStep> steps;  // ascending by iteration
  std::int64_t first_line = 0;
};

// One value per rank that the log prints: timers, scores.
struct LoggedRankValue {
  std::string series;  // "forward-backward", "gpu-relative-score"
  std::int64_t iteration = -1;
  std::int64_t rank = 0;
  double value = 0.0;
  std::string unit;  // "s", "ratio", "flops"
};

struct TrainingLog {
  std::string format;                 // "megatron-lm", "torchtitan", ...
  std::vector<std::string> also;      // other formats whose lines are in it
  std::string path;
  std::vector<LogSegment> segments;   // in the order of the file; at least one with a step
  std::vector<LoggedPause> pauses;
  std::vector<LoggedRankValue> rank_values;

  // What the log says about the run; empty: nothing.
  std::optional<double> global_batch;  // sequences
  std::optional<double> seq_len;
  std::optional<double> gpus;
  std::optional<double> microbatches;
  std::map<std::string, int> parallel;       // "tp", "pp", "cp", "ep", "dp"
  std::string model_name;                    // as printed
  std::string model_json;                    // a shape (formats/model.md), from an arguments block
  std::string precision;                     // "bf16", "fp8"
  std::string recompute;                     // "none", "selective", "full"
  std::string device_name;                   // as printed
  std::optional<double> peak_flops_assumed;  // that the framework's own MFU stands on
  // Which line each of the above comes from: "global_batch" -> "arguments block, line 212".
  std::map<std::string, std::string> said_by;
  // The framework's convention for its own TFLOP/s and MFU: ids of mfu list conventions, likeliest
  // first; empty: not known.
  std::vector<std::string> convention_hints;
};

}  // namespace mfu
