// The arithmetic of one measurement: from what was measured to MFU and HFU, under one convention or
// many.
//
//   MFU = R F_model / P    HFU = R F_hardware / P
// R tokens per second and GPU, F FLOPs a token (flops.hpp), P peak FLOP/s of a GPU.
// Numbers only; describe() (report.hpp) puts them in words. All values in SI units, of the whole
// job unless said otherwise; nothing is ever guessed: what is not given stays empty.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/boxed.hpp"
#include "mfu/chip.hpp"
#include "mfu/error.hpp"
#include "mfu/flops.hpp"
#include "mfu/model.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// The peak that a measurement is held against.
struct PeakUsed {
  double flops = 0.0;                  // FLOP/s of one GPU, dense
  const Chip* chip = nullptr;          // nothing: the peak is given as a number
  std::optional<Precision> precision;  // of a mix, that with the largest share
  std::vector<PrecisionShare> mix;     // several precisions; empty: one
  Clock clock;
  std::optional<double> clock_mhz;  // that the figure means; nothing: unknown
  bool given = false;               // as a number, not from the chip table
};
// "bf16", "bf16=0.7,fp8=0.3"; empty: not known.
[[nodiscard]] std::string precision_text(const PeakUsed& peak);

struct CalcInput {
  std::optional<ModelShape> model;
  std::optional<double> params;  // stated N
  std::optional<double> seq_len;
  std::optional<double> batch;  // sequences a step
  std::optional<double> tokens_per_step;
  std::optional<double> gpus;
  std::optional<double> accumulation;  // microbatches a step; only explains factors
  std::vector<double> lengths;         // packed documents
  std::optional<double> step_seconds;
  std::optional<double> tokens_per_second;
  std::optional<double> tokens_per_second_per_gpu;
  std::optional<double> achieved_flops;  // FLOP/s of one GPU
  std::optional<PeakUsed> peak;
  const Convention* convention = nullptr;  // nothing is counted without one
  Switches switches;
};

// One group of alternatives, any of which would help.
enum class MissingInput { measurement, tokens, gpus, model, seq_len, peak };

struct ConventionResult {
  const Convention* convention = nullptr;
  std::optional<double> flops_per_token;           // model FLOPs; nothing for a hardware count
  std::optional<double> hardware_flops_per_token;  // with recomputation, where that is defined
  std::optional<double> flops_per_second;          // model FLOP/s of one GPU
  std::optional<double> hardware_flops_per_second;
  std::optional<double> mfu;
  std::optional<double> hfu;
  double params = 0.0;  // N that was used, where the formula has one
  std::string settings;
};

// A convention that could not be applied to these inputs, and what it said.
struct LeftOutConvention {
  const Convention* convention = nullptr;
  std::string reason;
};

// Two of the inputs say different things. What, calc_problems() (report.hpp) puts in words.
struct Disagreement;

enum class CalcStatus { ok, impossible, no_peak, no_model };
[[nodiscard]] std::string_view to_string(CalcStatus status) noexcept;

struct Calculation {
  CalcInput input;
  std::optional<double> tokens_per_step;
  std::optional<double> step_seconds;
  std::optional<double> tokens_per_second;
  std::optional<double> tokens_per_second_per_gpu;
  std::optional<double> achieved_flops;  // of one GPU, under the chosen convention
  std::optional<ParameterCount> parameters;
  std::vector<ConventionResult> results;  // the chosen one first; none without a model
  std::vector<LeftOutConvention> left_out;
  std::vector<MissingInput> missing;
  Boxed<std::vector<Disagreement>> disagreements;  // nothing: none
  CalcStatus status = CalcStatus::no_model;
  [[nodiscard]] std::optional<double> mfu() const {
    if (!results.empty()) return results.front().mfu;
    return ratio;
  }
  [[nodiscard]] std::optional<double> hfu() const {
    return results.empty() ? std::nullopt : results.front().hfu;
  }
  std::optional<double> ratio;  // achieved over peak, where there is no model to count
};

// `missing` and `disagreements` are filled before anything is counted; where there is one, there
// are no results. `others`: further conventions to apply; one that has no meaning here is left out.
// Throws what count_flops() throws for the chosen convention.
[[nodiscard]] Calculation calculate(const CalcInput& input,
                                    std::span<const Convention* const> others = {});

// Fills workload.flops_per_step and convention of a run that states no work, where a known model,
// the sequence length and the tokens of a step allow it. A model that is not known is a note.
void count_work(RunTimings& run, Notes& notes);

}  // namespace mfu
