// Peaks beside the one that was used, and what would explain an MFU over 1.
#include "measure/peaks.hpp"

#include <algorithm>
#include <cmath>

#include "chips/mixups.hpp"
#include "mfu/error.hpp"
#include "mfu/measure.hpp"

namespace mfu {
namespace {

PeakRow row_of(const Chip& chip, Precision precision, ClockRule rule, const Peak& peak) {
  PeakRow row;
  row.chip = &chip;
  row.precision = precision;
  row.clock = rule;
  row.clock_mhz = peak.clock_mhz;
  row.flops = peak.flops;
  return row;
}

// The blend, then each of its precisions alone, at the same clock.
void add_mix_rows(std::vector<PeakRow>& rows, const PeakUsed& used) {
  PeakRow blend;
  blend.chip = used.chip;
  blend.mix = used.mix;
  blend.clock = used.clock.rule;
  blend.clock_mhz = used.clock_mhz.value_or(0.0);
  blend.flops = used.flops;
  blend.used = true;
  rows.push_back(blend);
  for (const PrecisionShare& part : used.mix) {
    rows.push_back(row_of(*used.chip, part.precision, used.clock.rule,
                          peak_at(*used.chip, part.precision, used.clock)));
  }
}

void add_chip_rows(std::vector<PeakRow>& rows, const PeakUsed& used) {
  const Chip& chip = *used.chip;
  const Precision precision = used.precision.value_or(Precision::bf16);
  const auto add = [&](const Clock& clock) {
    try {
      PeakRow row = row_of(chip, precision, clock.rule, peak_at(chip, precision, clock));
      row.used = !used.given && clock.rule == used.clock.rule;
      rows.push_back(row);
    } catch (const Error&) {
      return;  // this clock of the chip is not known: no row
    }
  };
  const bool number = used.clock.rule == ClockRule::mhz || used.clock.rule == ClockRule::measured;
  if (number && !used.given) add(used.clock);
  for (const ClockRule rule : {ClockRule::datasheet, ClockRule::max, ClockRule::base}) {
    add({rule, 0.0});
  }
  if (const PrecisionRate* rate = rate_of(chip, precision);
      rate != nullptr && has_sparse_figure(chip, precision)) {
    PeakRow row = row_of(chip, precision, ClockRule::datasheet,
                         {2 * rate->datasheet_flops, rate->datasheet_mhz, rate->basis, false});
    row.dense = false;
    rows.push_back(row);
  }
}

// What the table has under this number.
void add_rows_of_figure(std::vector<PeakRow>& rows, double flops) {
  const auto add = [&](const PeakRow& row) {
    const bool there = std::any_of(rows.begin(), rows.end(), [&](const PeakRow& other) {
      return other.chip != nullptr && other.dense == row.dense &&
             other.precision == row.precision && same_figure(other.flops, row.flops);
    });
    if (!there) rows.push_back(row);
  };
  for (const Chip& chip : chips()) {
    for (const PrecisionRate& rate : chip.rates) {
      PeakRow dense = row_of(chip, rate.precision, ClockRule::datasheet,
                             {rate.datasheet_flops, rate.datasheet_mhz, rate.basis, false});
      if (same_figure(flops, rate.datasheet_flops)) add(dense);
      if (!has_sparse_figure(chip, rate.precision)) continue;
      if (same_figure(flops, 2 * rate.datasheet_flops)) {
        add(dense);
        dense.dense = false;
        dense.flops *= 2;
        add(dense);
      }
    }
  }
}

bool plausible(double mfu) { return mfu >= 0.05 && mfu <= 0.75; }

void add_chip_excuses(const PeakUsed& peak, double work, std::vector<Excuse>& excuses) {
  const Precision precision = peak.precision.value_or(Precision::bf16);
  if (peak.chip != nullptr && precision != Precision::fp8) {
    const PrecisionRate* fp8 = rate_of(*peak.chip, Precision::fp8);
    if (fp8 != nullptr && fp8->datasheet_flops > peak.flops) {
      excuses.push_back({ExcuseKind::other_precision, work / fp8->datasheet_flops, 0, peak.chip,
                         Precision::fp8, fp8->datasheet_flops});
    }
  }
  constexpr std::size_t kChips = 3;
  std::vector<double> seen{peak.flops};
  for (const Chip& chip : chips()) {
    if (!may_be_mixed_up(peak.chip, chip)) continue;
    const PrecisionRate* rate = rate_of(chip, precision);
    if (rate == nullptr || rate->datasheet_flops < work) continue;
    const bool known = std::any_of(seen.begin(), seen.end(), [&](double flops) {
      return same_figure(flops, rate->datasheet_flops);
    });
    if (known) continue;
    seen.push_back(rate->datasheet_flops);
    excuses.push_back({ExcuseKind::other_chip, work / rate->datasheet_flops, 0, &chip, precision,
                       rate->datasheet_flops});
    if (seen.size() > kChips) break;
  }
}

// Sparse figures, faster clocks and cards of several devices, where the chip has them.
void add_device_excuses(const PeakUsed& peak, double mfu, std::vector<Excuse>& excuses) {
  const Excuse sparse{ExcuseKind::sparse, mfu / 2, 0, nullptr, {}, 2 * peak.flops};
  if (peak.chip == nullptr || peak.given) {
    excuses.push_back(sparse);
    return;
  }
  const Chip& chip = *peak.chip;
  const Precision precision = peak.precision.value_or(Precision::bf16);
  try {
    const Peak most = peak_at(chip, precision, {ClockRule::max, 0.0});
    if (peak.mix.size() < 2 && most.flops > mfu * peak.flops) {
      excuses.push_back({ExcuseKind::clock,
                         mfu * peak.flops / most.flops,
                         clock_for(chip, precision, mfu * peak.flops),
                         &chip,
                         {},
                         most.flops});
    }
  } catch (const Error&) {
    // No maximum clock, or no clock at all: nothing to say about it.
  }
  if (chip.package.devices > 1) {
    excuses.push_back({ExcuseKind::package,
                       mfu / chip.package.devices,
                       static_cast<double>(chip.package.devices),
                       &chip,
                       {},
                       chip.package.devices * peak.flops});
  }
  if (has_sparse_figure(chip, precision)) excuses.push_back(sparse);
}

}  // namespace

std::string precision_text(const PeakUsed& peak) {
  if (peak.mix.size() > 1) return to_text(peak.mix);
  return peak.precision ? std::string(to_string(*peak.precision)) : std::string();
}

std::vector<PeakRow> peaks_around(const Calculation& calculation) {
  std::vector<PeakRow> rows;
  if (!calculation.input.peak) return rows;
  const PeakUsed& used = *calculation.input.peak;
  if (used.given) {
    PeakRow row;
    row.flops = used.flops;
    row.used = true;
    rows.push_back(row);
    add_rows_of_figure(rows, used.flops);
  } else if (used.chip != nullptr && used.mix.size() > 1) {
    add_mix_rows(rows, used);
  } else if (used.chip != nullptr) {
    add_chip_rows(rows, used);
  }
  const std::optional<double> mfu = calculation.mfu();
  for (PeakRow& row : rows) {
    if (mfu) row.mfu = *mfu * used.flops / row.flops;
  }
  return rows;
}

std::vector<Excuse> excuses_for(const Calculation& calculation) {
  std::vector<Excuse> excuses;
  const std::optional<double> mfu =
      calculation.mfu() ? calculation.mfu()
                        : (calculation.results.empty() ? std::optional<double>()
                                                       : calculation.results.front().hfu);
  if (calculation.status != CalcStatus::impossible || !mfu || !calculation.input.peak) {
    return excuses;
  }
  const CalcInput& input = calculation.input;
  const double gpus = input.gpus.value_or(1.0);
  if (input.tokens_per_second_per_gpu || input.achieved_flops) {
    if (gpus > 1) excuses.push_back({ExcuseKind::gpus, *mfu / gpus, gpus, nullptr, {}, 0});
    if (gpus <= 1) excuses.push_back({ExcuseKind::gpus, *mfu / 8, 8, nullptr, {}, 0});
  } else {
    const double least = std::ceil(*mfu);
    if (least < 8) excuses.push_back({ExcuseKind::gpus, *mfu / 8, 8 * gpus, nullptr, {}, 0});
    if (least < 1e6) {
      excuses.push_back({ExcuseKind::gpus, *mfu / least, least * gpus, nullptr, {}, 0});
    }
  }
  if (input.accumulation && *input.accumulation > 1) {
    excuses.push_back({ExcuseKind::accumulation,
                       *mfu / *input.accumulation,
                       *input.accumulation,
                       nullptr,
                       {},
                       0});
  }
  for (const ConventionResult& result : calculation.results) {
    if (result.convention != nullptr && result.convention->id == "exact-causal" && result.mfu &&
        *result.mfu < *mfu) {
      excuses.push_back({ExcuseKind::causal, *result.mfu, 0, nullptr, {}, 0});
    }
  }
  const double work = *mfu * input.peak->flops;
  add_chip_excuses(*input.peak, work, excuses);
  if (input.achieved_flops) {
    excuses.push_back({ExcuseKind::hardware, *mfu * 0.75, 0, nullptr, {}, 0});
  }
  if (input.peak->given) {
    excuses.push_back({ExcuseKind::given_peak, *mfu / 2, 0, nullptr, {}, 2 * input.peak->flops});
  }
  add_device_excuses(*input.peak, *mfu, excuses);
  std::erase_if(excuses,
                [](const Excuse& excuse) { return !(excuse.would_be > 0) || excuse.would_be > 1; });
  std::stable_partition(excuses.begin(), excuses.end(),
                        [](const Excuse& excuse) { return plausible(excuse.would_be); });
  return excuses;
}

}  // namespace mfu
