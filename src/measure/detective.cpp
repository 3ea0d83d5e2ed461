// The detective: which convention, peak or single wrong factor turns a measurement into the figure
// that was printed.
//
// Every hypothesis is tried. Those within the rounding of the printed figure cannot be told apart
// by it: they are ties, and the one that changes least about what was stated stands first.
#include "measure/detective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "chips/mixups.hpp"
#include "measure/peaks.hpp"
#include "measure/work_of.hpp"
#include "mfu/error.hpp"
#include "mfu/measure.hpp"

namespace mfu {
namespace {

constexpr std::array kFactors{
    WrongFactor::none,
    WrongFactor::gpus_not_divided,
    WrongFactor::gpus_divided_twice,
    WrongFactor::accumulation_twice,
    WrongFactor::accumulation_missed,
    WrongFactor::forward_only,
    WrongFactor::three_times,
    WrongFactor::with_embedding,
    WrongFactor::without_embedding,
    WrongFactor::sequence_doubled,
    WrongFactor::sequence_halved,
    WrongFactor::recomputed_full,
    WrongFactor::recomputed_selective,
};

using Value = std::optional<double>;

bool same_peak(double a, double b) { return std::fabs(a - b) <= 1e-9 * b; }

std::vector<PeakRow> candidate_peaks(const Calculation& calculation, bool is_ratio) {
  std::vector<PeakRow> rows = peaks_around(calculation);
  if (!is_ratio) {
    PeakRow none;
    none.used = true;
    return {none};
  }
  const Precision own = calculation.input.peak && calculation.input.peak->precision
                            ? *calculation.input.peak->precision
                            : Precision::bf16;
  const auto add = [&](const Chip& chip, const PrecisionRate& rate) {
    const bool there = std::any_of(rows.begin(), rows.end(), [&](const PeakRow& row) {
      return same_peak(row.flops, rate.datasheet_flops);
    });
    if (there) return;
    PeakRow row;
    row.chip = &chip;
    row.precision = rate.precision;
    row.clock = ClockRule::datasheet;
    row.clock_mhz = rate.datasheet_mhz;
    row.flops = rate.datasheet_flops;
    rows.push_back(row);
  };
  const Chip* chip = calculation.input.peak ? calculation.input.peak->chip : nullptr;
  if (chip != nullptr) {
    for (const PrecisionRate& rate : chip->rates) add(*chip, rate);
  }
  for (const Chip& other : chips()) {
    if (!may_be_mixed_up(chip, other)) continue;
    for (const PrecisionRate& rate : other.rates) {
      if (rate.precision == own) add(other, rate);
    }
  }
  return rows;
}

// FLOPs a token of one convention under one wrong factor, times what the factor does to the rate.
class Counts {
 public:
  Counts(const Calculation& calculation, const Convention* convention)
      : calculation_(calculation), convention_(convention) {}

  // Nothing where the factor has no meaning here.
  [[nodiscard]] Value rate(WrongFactor factor) const {
    const CalcInput& input = calculation_.input;
    const Value plain = flops(1.0, {});
    if (!plain) return {};
    const auto times = [&](const Value& by, bool divide) -> Value {
      if (!by || !(*by > 1)) return {};
      return divide ? *plain / *by : *plain * *by;
    };
    switch (factor) {
      case WrongFactor::none:
        return plain;
      case WrongFactor::gpus_not_divided:
        return times(input.gpus, false);
      case WrongFactor::gpus_divided_twice:
        return times(input.gpus, true);
      case WrongFactor::accumulation_twice:
        return times(input.accumulation, false);
      case WrongFactor::accumulation_missed:
        return times(input.accumulation, true);
      case WrongFactor::forward_only:
        return *plain / 3;
      case WrongFactor::three_times:
        return *plain * 3;
      case WrongFactor::with_embedding:
      case WrongFactor::without_embedding:
        return with_table(*plain, factor == WrongFactor::with_embedding);
      case WrongFactor::sequence_doubled:
        return flops(2.0, {});
      case WrongFactor::sequence_halved:
        return flops(0.5, {});
      case WrongFactor::recomputed_full:
        return flops(1.0, RecomputeCount::full);
      case WrongFactor::recomputed_selective:
        return flops(1.0, RecomputeCount::selective);
    }
    return {};
  }

 private:
  [[nodiscard]] Value with_table(double plain, bool in) const {
    if (!calculation_.parameters || !calculation_.tokens_per_second_per_gpu) return {};
    const double table =
        6 * calculation_.parameters->embedding * *calculation_.tokens_per_second_per_gpu;
    if (!(table > 0) || convention_ == nullptr) return {};
    const double changed = in ? plain + table : plain - table;
    return changed > 0 ? Value(changed) : Value{};
  }

  // FLOP/s of one GPU.
  [[nodiscard]] Value flops(double longer, std::optional<RecomputeCount> recompute) const {
    const CalcInput& input = calculation_.input;
    if (convention_ == nullptr) {
      const bool plain = longer == 1.0 && !recompute;
      return plain ? calculation_.achieved_flops : Value{};
    }
    if (longer != 1.0 && (!input.seq_len || !input.lengths.empty())) return {};
    Work work;
    work.seq_len = input.seq_len.value_or(0.0) * longer;
    work.lengths = input.lengths;
    work.params = input.params;
    Switches switches = switches_for(input, *convention_);
    if (recompute) switches.recompute = recompute;
    try {
      const FlopCount count =
          count_flops(input.model.value_or(ModelShape{}), work, *convention_, switches);
      const Value each = recompute || !count.model_flops ? count.hardware_flops : count.model_flops;
      if (!each || !calculation_.tokens_per_second_per_gpu) return {};
      // Recomputation that changes nothing, or the convention's own, is not a separate hypothesis.
      if (recompute && (!count.model_flops || *each == *count.model_flops)) return {};
      // Tokens a step follow from the sequences, where they are given as sequences.
      const bool tokens_follow = longer != 1.0 && input.step_seconds && input.batch &&
                                 !input.tokens_per_step && !input.tokens_per_second &&
                                 !input.tokens_per_second_per_gpu;
      return *each * *calculation_.tokens_per_second_per_gpu * (tokens_follow ? longer : 1.0);
    } catch (const Error&) {
      return {};  // this convention has no meaning for the shape
    }
  }

  const Calculation& calculation_;
  const Convention* convention_;
};

}  // namespace

Detection detect(const Calculation& calculation, const Reported& reported, double half_unit,
                 std::size_t most) {
  Detection detection;
  detection.reported = reported;
  // The last bits of the arithmetic are not a difference.
  detection.tolerance = reported.half_unit + half_unit + 1e-9;
  const std::vector<PeakRow> peaks = candidate_peaks(calculation, reported.is_ratio);
  std::vector<const Convention*> tried;
  if (calculation.results.empty()) {
    tried.push_back(nullptr);
  } else {
    tried.push_back(calculation.input.convention);
    for (const Convention& convention : conventions()) {
      if (&convention != calculation.input.convention) tried.push_back(&convention);
    }
  }
  std::vector<Match> matches;
  for (const Convention* convention : tried) {
    const Counts counts(calculation, convention);
    for (const WrongFactor factor : kFactors) {
      const Value rate = counts.rate(factor);
      if (!rate) continue;
      const bool recomputed =
          factor == WrongFactor::recomputed_full || factor == WrongFactor::recomputed_selective;
      for (const PeakRow& peak : peaks) {
        Match match;
        match.convention = convention;
        match.factor = factor;
        match.peak = peak;
        match.hardware = recomputed || (convention != nullptr && convention->hardware_count);
        match.value = reported.is_ratio ? *rate / peak.flops : *rate;
        match.relative_error = match.value / reported.value - 1;
        match.departures = (convention != calculation.input.convention ? 1 : 0) +
                           (peak.used ? 0 : 1) + (factor == WrongFactor::none ? 0 : 1);
        match.tied = std::fabs(match.relative_error) <= detection.tolerance;
        ++detection.tried;
        // Three changes at once reach any number; they are listed where they reach this one.
        if (match.departures < 3 || match.tied) matches.push_back(match);
        if (match.tied) ++detection.ties;
      }
    }
  }
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    const auto key = [](const Match& match) {
      return std::make_tuple(!match.tied, match.tied ? match.departures : 0,
                             std::fabs(match.relative_error));
    };
    return key(a) < key(b);
  });
  if (matches.size() > most) matches.resize(most);
  detection.matches = std::move(matches);
  return detection;
}

}  // namespace mfu
