// What the log of a training run is reduced to, whatever framework printed it.
//
// A log is lines; a format is one file in src/logs that recognises its lines and fills this. What a
// log does not say stays empty: nothing here is guessed, and where a value comes from is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"

namespace mfu {

// One optimizer step as the log has it; steps of several ranks that are one step are one entry.
struct LoggedStep {
  // As printed; where the format prints none (told by a note "steps-not-numbered"): 1, 2, 3 ...
  std::int64_t iteration = 0;
  std::int64_t line = 0;                               // of the file, 1-based
  std::optional<double> step_s;                        // wall seconds of one step
  std::optional<double> tokens_per_s;                  // of the whole job
  std::optional<double> tokens_per_s_per_gpu;          // of one GPU
  std::optional<double> samples_per_s;                 // of the whole job
  std::optional<double> tokens;                        // of this step, whole job
  std::optional<double> global_batch;                  // samples of this step
  std::optional<double> model_flops_per_s_per_gpu;     // as printed, model FLOPs
  std::optional<double> hardware_flops_per_s_per_gpu;  // as printed, with recomputation
  std::optional<double> mfu;                           // as printed, 0..1
  // Of the line, seconds since the epoch. Logs print local time and no zone: it is read as UTC, so
  // only differences mean something.
  std::optional<double> timestamp_s;
  int steps_averaged = 1;  // a mean over this many steps (log_interval)
  int copies = 1;          // lines that told of this step (ranks)
  bool skipped = false;    // the framework skipped the update (overflow)
};

// A part of the log that is not a training step: evaluation, checkpoint, compilation.
struct LoggedPause {
  std::string kind;  // "evaluation", "checkpoint", "profiler"
  std::int64_t line = 0;
  double seconds = 0.0;  // 0: the log does not say
  std::int64_t after_iteration = -1;
};

// Steps of one process of training: a resumed run has several.
struct LogSegment {
  std::vector<LoggedStep> steps;  // ascending by iteration
  std::int64_t first_line = 0;
};

enum class RankUnit { seconds, ratio, flops_per_second, watts, celsius, hertz };

// One value per rank that the log prints: timers, scores.
struct LoggedRankValue {
  // The timer's name as printed ("forward-backward"), or "gpu-relative-score",
  // "gpu-individual-score", "iteration-time", "estimated-throughput", "computing" ...
  std::string series;
  std::int64_t iteration = -1;  // of the step before; where no step is printed: 1, 2 ... a report
  std::int64_t rank = 0;
  double value = 0.0;
  RankUnit unit = RankUnit::seconds;
};

struct TrainingLog {
  std::string format;             // "megatron-lm", "torchtitan", ...
  std::vector<std::string> also;  // other formats whose lines are in it
  std::string path;
  // In the order of the file, none without a step. None at all where only rank_values has values,
  // or where the log stops before its first step (note "no-steps").
  std::vector<LogSegment> segments;
  std::vector<LoggedPause> pauses;
  std::vector<LoggedRankValue> rank_values;

  // What the log says about the run; empty: nothing.
  std::optional<double> global_batch;  // sequences
  std::optional<double> seq_len;
  std::optional<double> gpus;
  std::optional<double> microbatches;
  std::map<std::string, int> parallel;  // "tp", "pp", "cp", "ep", "dp"
  std::string model_name;               // as printed
  std::string model_json;               // a shape (formats/model.md), from an arguments block
  std::optional<double> params;         // of the model, frozen ones included
  std::optional<double> trainable_params;
  bool frozen_weights = false;               // LoRA and the like: most weights are not trained
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

struct LogReadOptions {
  // For JSON Lines and CSV: which column holds what; the unit of a time may follow the name:
  // {"step_time", "dt:ms"}. Known on the left: see log_columns().
  std::map<std::string, std::string> columns;
  // Takes the bytes (decompressed) as they are read, before they are looked at. May be empty.
  std::function<void(std::string_view)> tee;
  // More steps than this are not kept one by one: neighbours are merged to means, with a note.
  std::size_t max_steps = 500'000;
  // Ask for one format by its name instead of telling it from the lines; empty: tell.
  std::string format;
};

struct LogFormatInfo {
  std::string_view name;     // "megatron-lm"
  std::string_view summary;  // "Megatron-LM, 2020 to 2026"
  bool per_rank = false;     // a source of rank_values, never of steps
};
[[nodiscard]] std::vector<LogFormatInfo> log_formats();

// The quantities that LogReadOptions::columns may name: "step", "step_time", "tokens" ...
[[nodiscard]] std::vector<std::string_view> log_columns();

// Reads the log at `path`, "-" for standard input, gzip or not, in one pass. Memory does not depend
// on the size of the file nor of a line. Throws Error{io}; Error{format} when no known format has a
// step in it, when two formats explain it equally well, or for columns that it has not;
// Error{usage} for a format or quantity that does not exist. Notes, among others:
// "two-signatures" (TrainingLog::also), "cut-last-line", "long-line", "steps-merged",
// "ranks-merged" (several ranks told of a step: the median of what they say), "resumed-run",
// "implausible-values", "implausible-setup" (figures that no step or job has are left out),
// "logged-mfu-above-100", "steps-not-numbered".
[[nodiscard]] TrainingLog read_log(const std::string& path, const LogReadOptions& options,
                                   Notes& notes);

}  // namespace mfu
