// The arithmetic of one measurement: from what was measured to MFU and HFU, under one convention or
// many, and the way back from a printed figure to what produced it.
//
//   MFU = R F_model / P    HFU = R F_hardware / P
// R tokens per second and GPU, F FLOPs a token (flops.hpp), P peak FLOP/s of a GPU.
// Numbers only: every sentence is made in the report room. All values in SI units, of the whole job
// unless said otherwise; nothing is ever guessed: what is not given stays empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"
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
  const Convention* convention = nullptr;
  Switches switches;
};

enum class Quantity {
  seq_len,
  batch,
  tokens_per_step,
  step_seconds,
  tokens_per_second,
  tokens_per_second_per_gpu,
  achieved_flops,
};

// What a factor between two statements of one quantity probably is.
enum class FactorGuess { none, gpus, accumulation, node, copies };

// Two of the inputs say different things.
struct Disagreement {
  Quantity left;  // as it is given; `right` is what the other inputs make of it
  double left_value = 0.0;
  double right_value = 0.0;
  std::vector<Quantity> from;  // the inputs that `right_value` comes from
  std::int64_t factor = 0;     // larger over smaller, where that is a whole number; else 0
  bool left_is_larger = false;
  FactorGuess guess = FactorGuess::none;
};
// Statements that are this close agree.
inline constexpr double kAgreement = 0.01;
// The whole number from 2 on that `ratio` is within 1 % of; else 0.
[[nodiscard]] std::int64_t whole_factor(double ratio) noexcept;

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
  std::vector<Disagreement> disagreements;
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

// The overrides that another convention than the chosen one is counted with: what is a fact of the
// run (recomputation, what is trained), as far as the convention knows it; how attention, window
// and router are counted is what conventions differ in. The chosen one takes all of them.
[[nodiscard]] Switches switches_for(const CalcInput& input, const Convention& convention);

// ---------------------------------------------------------------- the instrument

// At what clock a peak was taken.
struct PeakClock {
  enum class Kind {
    not_stated,
    none,        // there is no peak
    given_peak,  // as a number: it has no clock
    rule,
    other,  // of a text that says something else
  };
  Kind kind = Kind::not_stated;
  ClockRule rule = ClockRule::datasheet;
  std::optional<double> mhz;  // nothing: not known
  std::string other;
  friend bool operator==(const PeakClock&, const PeakClock&) = default;
};
// "datasheet@1830MHz", "given-peak", "none"; empty: not stated.
[[nodiscard]] std::string to_text(const PeakClock& clock);

inline constexpr std::string_view kUnnamed = "unnamed";

// What two numbers must share to be comparable: how the work is counted, and the peak that it is
// held against. Numbers are those of the text form (10 digits of the peak, 6 of the clock), so that
// a measurement equals what was saved of it. As it is made: nothing is stated.
struct Fingerprint {
  std::string convention;  // id; "unnamed": FLOP/s of which nobody says how they were counted
  std::string settings;    // its switches: "attention=full window=honour"; empty: none
  std::optional<double> peak_tflops;  // of one GPU; nothing: unknown
  std::string precision;              // "bf16", "bf16=0.7,fp8=0.3"; empty: unnamed
  PeakClock clock;
  std::string as_read;  // all of a text from outside that does not have this form; else empty
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};
// "convention=palm attention=full peak=989.4T precision=bf16 clock=datasheet@1830MHz"; empty:
// nothing is stated.
[[nodiscard]] std::string to_text(const Fingerprint& fingerprint);
// Of a text from outside: a saved report, a history. What is not of the form is kept in as_read,
// beside the parts that can be made out: it equals itself alone.
[[nodiscard]] Fingerprint parse_fingerprint(std::string_view text);
// "palm attention=full": the convention with its switches.
[[nodiscard]] std::string counted_by(const Fingerprint& fingerprint);
// It says that its convention has no name.
[[nodiscard]] bool is_unnamed(const Fingerprint& fingerprint) noexcept;

// `convention`: id; empty: unnamed. `peak_flops`: of one GPU.
[[nodiscard]] Fingerprint fingerprint_of(std::string_view convention, std::string_view settings,
                                         std::optional<double> peak_flops,
                                         std::string_view precision, const PeakClock& clock);
[[nodiscard]] Fingerprint fingerprint_of(std::string_view convention, std::string_view settings,
                                         const std::optional<PeakUsed>& peak);

// ---------------------------------------------------------------- peaks

struct PeakRow {
  const Chip* chip = nullptr;  // nothing: from a given number
  std::optional<Precision> precision;
  std::vector<PrecisionShare> mix;  // several precisions: their blend; empty: one
  std::optional<ClockRule> clock;   // nothing: from a given number
  double clock_mhz = 0.0;           // 0: unknown
  bool dense = true;
  double flops = 0.0;
  std::optional<double> mfu;
  bool used = false;  // the peak of the measurement itself
};

// The measurement's peak and its neighbours: each precision of a mix, every clock of the chip in
// that precision, and the 2:4-sparse headline figure, which is twice the datasheet's dense one. For
// a number: what chips have it, as their dense or as their sparse figure.
[[nodiscard]] std::vector<PeakRow> peaks_around(const Calculation& calculation);

// ---------------------------------------------------------------- impossible

enum class ExcuseKind {
  gpus,          // the throughput is that of `count` GPUs
  accumulation,  // counted once too often
  sparse,        // the sparse peak
  clock,         // the GPU ran faster than the peak's clock: `count` MHz at least
  package,       // the figure is of all `count` devices of what is sold as one
  other_chip,    // `chip`
  other_precision,
  given_peak,  // twice the given peak
  hardware,    // the achieved figure holds recomputation
  causal,      // full attention counted where the kernel does half
};
struct Excuse {
  ExcuseKind kind;
  double would_be = 0.0;  // MFU; 0..1
  double count = 0.0;
  const Chip* chip = nullptr;
  std::optional<Precision> precision;
  double peak_flops = 0.0;
};
// What would explain an MFU over 1, likeliest first. What leaves it over 1 explains nothing.
[[nodiscard]] std::vector<Excuse> excuses_for(const Calculation& calculation);

// ---------------------------------------------------------------- the detective

struct Reported {
  bool is_ratio = false;  // MFU or HFU; else FLOP/s of one GPU
  double value = 0.0;
  double half_unit = 0.0;  // half a unit of the last printed digit, relative to the value
};

enum class WrongFactor {
  none,
  gpus_not_divided,    // the whole job's throughput against one GPU
  gpus_divided_twice,  // a GPU's throughput divided by the GPUs again
  accumulation_twice,
  accumulation_missed,
  forward_only,  // the backward pass is missing: 1/3
  three_times,   // forward and backward counted three times over
  with_embedding,
  without_embedding,
  sequence_doubled,
  sequence_halved,
  recomputed_full,  // a hardware figure
  recomputed_selective,
};

struct Match {
  const Convention* convention = nullptr;
  WrongFactor factor = WrongFactor::none;
  PeakRow peak;  // `used` where it is the measurement's own
  bool hardware = false;
  double value = 0.0;           // of the reported kind
  double relative_error = 0.0;  // (value - reported) / reported
  int departures = 0;           // from what was stated: convention, peak, factor
  bool tied = false;            // within the rounding of what is printed
};

struct Detection {
  Reported reported;
  double tolerance = 0.0;      // relative: rounding of the figure and of the measurement
  std::vector<Match> matches;  // best first: within the tolerance by departures, then by error
  std::size_t tried = 0;
  std::size_t ties = 0;  // all within the tolerance, also those that are not listed
};

// Which convention, peak or single wrong factor turns the measurement into the printed figure.
// `half_unit`: the rounding of the measurement itself, relative. At most `most` matches are kept.
[[nodiscard]] Detection detect(const Calculation& calculation, const Reported& reported,
                               double half_unit, std::size_t most = 10);

}  // namespace mfu
