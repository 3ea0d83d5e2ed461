#include "report/measure/impossible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chips/mixups.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/setup.hpp"
#include "mfu/chip.hpp"
#include "mfu/quantity.hpp"

namespace mfu {
namespace {

std::string exact_teraflops(double flops) { return fmt::format("{:.10g} TFLOP/s", flops / 1e12); }

// The chip's dense peak in a precision by its name; 0: it has none.
double datasheet_flops(const Chip& chip, std::string_view precision) {
  for (const PrecisionRate& rate : chip.rates) {
    if (to_string(rate.precision) == precision) return rate.datasheet_flops;
  }
  return 0.0;
}

Precision precision_of(const Setup& setup) {
  try {
    return parse_precision(setup.precision);
  } catch (const Error&) {
    return Precision::bf16;  // a mix, or not known
  }
}

}  // namespace

std::vector<std::string> explain_impossible(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  const Setup& setup = diagnosis.detail->setup;
  if (!diagnosis.headline.impossible || !diagnosis.headline.mfu) return lines;
  const double mfu = *diagnosis.headline.mfu;
  // What would still be over 1 explains nothing.
  const auto add = [&](double would_be, const std::string& text) {
    if (would_be > 0 && would_be <= 1) {
      lines.push_back(text + " would give " + format_percent(would_be));
    }
  };

  const double times = std::ceil(mfu);
  if (times <= 1e6) {
    add(mfu / times,
        fmt::format(
            "flops_per_step is for the whole job, hardware.count ({}) for part of it: {:.0f} "
            "GPUs",
            setup.gpus, times * static_cast<double>(setup.gpus)));
  }
  if (setup.microbatches && *setup.microbatches > 1) {
    add(mfu / *setup.microbatches,
        fmt::format("accumulation counted twice: 1/{} of the work", *setup.microbatches));
  }
  if (setup.peak_flops_per_gpu && !setup.peak_given && setup.chip != nullptr) {
    const double work = mfu * *setup.peak_flops_per_gpu;  // FLOP/s per GPU, as claimed
    const double fp8 = datasheet_flops(*setup.chip, "fp8");
    if (setup.precision != "fp8" && fp8 > *setup.peak_flops_per_gpu) {
      add(work / fp8, fmt::format("the run computes in fp8: its peak of {}", exact_teraflops(fp8)));
    }
    for (const Chip& chip : chips()) {
      if (!may_be_mixed_up(setup.chip, chip)) continue;
      const double peak = datasheet_flops(chip, setup.precision);
      if (peak < work) continue;
      add(work / peak, fmt::format("another chip: {} with {}", chip.name, exact_teraflops(peak)));
      break;
    }
  }
  if (setup.peak_given) {
    add(mfu / 2, "hardware.peak_tflops (TFLOP/s per GPU) is too low: twice the peak");
  }
  const Precision precision = precision_of(setup);
  if (setup.chip != nullptr && !setup.peak_given && setup.peak_flops_per_gpu) {
    try {
      const double work = mfu * *setup.peak_flops_per_gpu;
      const double most = peak_at(*setup.chip, precision, {ClockRule::max, 0.0}).flops;
      add(work / most,
          fmt::format(
              "the GPUs ran above the clock of the peak, at {:.0f} MHz or more: the maximum "
              "of {:.6g} MHz",
              std::ceil(clock_for(*setup.chip, precision, work)), setup.chip->max_mhz));
    } catch (const Error&) {
      // No maximum clock, or no clock at all: nothing to say about it.
    }
    if (setup.chip->package.devices > 1) {
      add(mfu / setup.chip->package.devices,
          fmt::format("the figure is for a {}, the peak for one of its {} devices: all of them",
                      setup.chip->package.name, setup.chip->package.devices));
    }
  }
  if (setup.chip == nullptr || has_sparse_figure(*setup.chip, precision)) {
    add(mfu / 2, "2:4 sparsity is in use: the sparse peak, twice the dense one,");
  }
  lines.emplace_back("the times are not in the unit that time_unit says, or leave out steps");
  return lines;
}

}  // namespace mfu
