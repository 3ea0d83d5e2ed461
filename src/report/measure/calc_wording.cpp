#include "report/measure/calc_wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "measure/disagreement.hpp"
#include "mfu/quantity.hpp"

namespace mfu {
namespace {

std::string_view option_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::seq_len:
      return "--seq-len";
    case Quantity::batch:
      return "--batch";
    case Quantity::tokens_per_step:
      return "--tokens-per-step";
    case Quantity::step_seconds:
      return "--step-time";
    case Quantity::tokens_per_second:
      return "--tokens-per-s";
    case Quantity::tokens_per_second_per_gpu:
      return "--tokens-per-s-per-gpu";
    case Quantity::achieved_flops:
      return "--tflops";
  }
  return "";
}

std::string value_text(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::achieved_flops:
      return teraflops(value) + " per GPU";
    case Quantity::step_seconds:
      return format_seconds(value);
    case Quantity::tokens_per_step:
      return format_grouped(value) + " tokens per step";
    default:
      return format_grouped(value) + " tokens/s";
  }
}

std::string options_text(const std::vector<Quantity>& from) {
  std::string text;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i > 0) text += i + 1 == from.size() ? " and " : ", ";
    text += option_of(from[i]);
  }
  return text;
}

std::string factor_hint(const Disagreement& found) {
  const std::int64_t factor = found.factor;
  switch (found.guess) {
    case FactorGuess::gpus:
      return fmt::format(
          "{} is the number of GPUs: one of the two is for a single GPU, the other for the whole "
          "job",
          factor);
    case FactorGuess::accumulation:
      return fmt::format(
          "{} is the gradient accumulation: one of the two counts a microbatch, the other the "
          "step",
          factor);
    case FactorGuess::node:
      return fmt::format(
          "{}: probably one of the two is for a single GPU and the other for a node of 8; "
          "otherwise gradient accumulation, or tensor-parallel copies of the same tokens",
          factor);
    case FactorGuess::copies:
      return fmt::format(
          "{}: probably gradient accumulation, or tensor- or sequence-parallel copies of the same "
          "tokens; otherwise GPUs counted once too often",
          factor);
    case FactorGuess::none:
      break;
  }
  return "no whole-number factor explains it: give only what was measured";
}

std::string_view clock_name(ClockRule rule) {
  switch (rule) {
    case ClockRule::datasheet:
      return "datasheet";
    case ClockRule::max:
      return "maximum clock";
    case ClockRule::base:
      return "base clock";
    case ClockRule::mhz:
      return "given clock";
    case ClockRule::measured:
      return "measured clock";
  }
  return "";
}

std::string factor_text(WrongFactor factor, const CalcInput& input) {
  const auto count = [](const std::optional<double>& value) {
    return format_grouped(value.value_or(0.0));
  };
  switch (factor) {
    case WrongFactor::none:
      return "";
    case WrongFactor::gpus_not_divided:
      return fmt::format("not divided by the {} GPUs", count(input.gpus));
    case WrongFactor::gpus_divided_twice:
      return fmt::format("divided twice by the {} GPUs", count(input.gpus));
    case WrongFactor::accumulation_twice:
      return fmt::format("accumulation ({}) counted twice", count(input.accumulation));
    case WrongFactor::accumulation_missed:
      return fmt::format("accumulation ({}) not counted", count(input.accumulation));
    case WrongFactor::forward_only:
      return "backward pass missing (1/3)";
    case WrongFactor::three_times:
      return "forward and backward multiplied by 3 again";
    case WrongFactor::with_embedding:
      return "with the embedding table as a matrix product (+6Vh)";
    case WrongFactor::without_embedding:
      return "without one embedding table (-6Vh)";
    case WrongFactor::sequence_doubled:
      return fmt::format("sequence length {} instead of {}",
                         format_grouped(2 * input.seq_len.value_or(0)), count(input.seq_len));
    case WrongFactor::sequence_halved:
      return fmt::format("sequence length {} instead of {}",
                         format_grouped(0.5 * input.seq_len.value_or(0)), count(input.seq_len));
    case WrongFactor::recomputed_full:
      return "with full recomputation (HFU)";
    case WrongFactor::recomputed_selective:
      return "with selective recomputation (HFU)";
  }
  return "";
}

Error disagreement_error(const Disagreement& found) {
  Place place;
  place.what = std::string(option_of(found.left));
  const double larger = std::max(found.left_value, found.right_value);
  const double smaller = std::min(found.left_value, found.right_value);
  const std::string apart = found.factor > 0 ? fmt::format("by a factor of {}", found.factor)
                            : larger < 2 * smaller
                                ? fmt::format("by {}", format_percent(larger / smaller - 1))
                                : fmt::format("by a factor of {:.3g}", larger / smaller);
  return Error(ErrorKind::usage,
               fmt::format("{} says {}, {} {} {}: they disagree {}", option_of(found.left),
                           value_text(found.left, found.left_value), options_text(found.from),
                           found.from.size() == 1 ? "says" : "say",
                           value_text(found.left, found.right_value), apart),
               std::move(place), factor_hint(found));
}

}  // namespace

std::string teraflops(double flops) { return fmt::format("{:.5g} TFLOP/s", flops / 1e12); }

std::string short_title(const Convention& convention) {
  struct Words {
    std::string_view id, text;
  };
  static constexpr std::array<Words, 4> kWords{{{"palm", "6N + 12 L H T (default)"},
                                                {"exact-full", "matrix products alone"},
                                                {"exact-causal", "half the attention"},
                                                {"6n", "no attention term"}}};
  for (const Words& words : kWords) {
    if (words.id == convention.id) return std::string(words.text);
  }
  return std::string(convention.title);
}

std::string peak_name(const PeakRow& row) {
  if (row.chip == nullptr) return "as given";
  std::string text(row.chip->name);
  if (!row.mix.empty()) text += " blend of " + to_text(row.mix);
  if (row.precision) text += " " + std::string(to_string(*row.precision));
  if (!row.dense) return text + ", 2:4 sparse, twice the dense";
  if (row.clock) text += ", " + std::string(clock_name(*row.clock));
  return row.clock_mhz > 0.0 ? text + fmt::format(", {:.6g} MHz", row.clock_mhz) : text;
}

std::string peak_used_name(const PeakUsed& peak) {
  if (peak.chip == nullptr) return "";
  std::string text(peak.chip->name);
  if (const std::string name = precision_text(peak); !name.empty()) text += " " + name;
  return text;
}

std::string excuse_sentence(const Excuse& excuse) {
  const std::string would = " would give " + format_percent(excuse.would_be);
  switch (excuse.kind) {
    case ExcuseKind::gpus:
      return fmt::format("more GPUs did the work: {} of them", format_grouped(excuse.count)) +
             would;
    case ExcuseKind::accumulation:
      return fmt::format("accumulation ({}) is counted once too often: without it",
                         format_grouped(excuse.count)) +
             would;
    case ExcuseKind::causal:
      return "full attention is counted, but the kernels do the causal half: exact-causal" + would;
    case ExcuseKind::other_precision:
      return fmt::format("the run computes in {}: its peak of {}",
                         excuse.precision ? to_string(*excuse.precision) : "another precision",
                         teraflops(excuse.peak_flops)) +
             would;
    case ExcuseKind::other_chip:
      return fmt::format("another chip: {} with {}",
                         excuse.chip != nullptr ? excuse.chip->name : "",
                         teraflops(excuse.peak_flops)) +
             would;
    case ExcuseKind::hardware:
      return "the achieved figure includes full recomputation (an HFU): 3/4 of it" + would;
    case ExcuseKind::given_peak:
      return fmt::format("the given peak is too low by a factor of 2: {}",
                         teraflops(excuse.peak_flops)) +
             would;
    case ExcuseKind::clock:
      return fmt::format(
                 "the GPU ran above the clock of the peak, at {:.0f} MHz or more: its "
                 "maximum of {:.6g} MHz",
                 std::ceil(excuse.count), excuse.chip->max_mhz) +
             would;
    case ExcuseKind::package:
      return fmt::format("the figure is for a {}, the peak for one of its {:.0f} devices: {}",
                         excuse.chip->package.name, excuse.count, teraflops(excuse.peak_flops)) +
             would;
    case ExcuseKind::sparse:
      return fmt::format("2:4 sparsity is in use: the sparse peak of {}",
                         teraflops(excuse.peak_flops)) +
             would;
  }
  return "";
}

std::string match_convention(const Match& match) {
  if (match.convention == nullptr) return "achieved as given";
  std::string text(match.convention->id);
  const bool recomputed = match.factor == WrongFactor::recomputed_full ||
                          match.factor == WrongFactor::recomputed_selective;
  if (match.hardware && !recomputed) text += " (a hardware count)";
  return text;
}

std::string match_changes(const Match& match, const Calculation& calculation) {
  std::string text;
  if (!match.peak.used) {
    text += ", peak " + teraflops(match.peak.flops) + " (" + peak_name(match.peak) + ")";
  }
  if (const std::string factor = factor_text(match.factor, calculation.input); !factor.empty()) {
    text += ", " + factor;
  }
  return text;
}

Error missing_error(MissingInput missing) {
  const auto error = [](std::string_view option, std::string message, std::string hint) {
    Place place;
    place.what = std::string(option);
    return Error(ErrorKind::usage, std::move(message), std::move(place), std::move(hint));
  };
  switch (missing) {
    case MissingInput::measurement:
      return error("--step-time", "the speed of the run is not given",
                   "one of --step-time 12.9s (with --batch 512 or --tokens-per-step), "
                   "--tokens-per-s 325140, --tokens-per-s-per-gpu 5080, --tflops 310T");
    case MissingInput::tokens:
      return error("--batch", "the tokens per step are not known",
                   "--batch 512 (sequences per step of the whole job, with --seq-len 8192) or "
                   "--tokens-per-step 4194304");
    case MissingInput::gpus:
      return error("--gpus", "the number of GPUs is not given", "--gpus 64");
    case MissingInput::model:
      return error("--model", "neither a model nor its parameters are given",
                   "--model llama-3.1-8b (a name, a config.json or a JSON object), or --params "
                   "8.03B");
    case MissingInput::seq_len:
      return error("--seq-len", "the sequence length is not given",
                   "--seq-len 8192: tokens of one sequence");
    case MissingInput::peak:
      break;
  }
  return error("--chip", "the peak is not given",
               "--chip h100-sxm (with --precision bf16), or --peak 989.4T");
}

std::vector<Error> disagreement_errors(const Calculation& calculation) {
  std::vector<Error> errors;
  if (!calculation.disagreements) return errors;
  for (const Disagreement& found : *calculation.disagreements) {
    errors.push_back(disagreement_error(found));
  }
  return errors;
}

}  // namespace mfu
