#include "report/diagnose/instrument.hpp"

#include <fmt/format.h>

namespace mfu {

std::string fingerprint_of(const Setup& setup) {
  std::string clock = "none";
  if (setup.peak_given) {
    clock = "given-peak";
  } else if (setup.peak_flops_per_gpu) {
    clock = to_string(setup.clock.rule);
    if (setup.clock_mhz) clock += fmt::format("@{:.6g}MHz", *setup.clock_mhz);
  }
  // Where the work was counted and not given, the switches are part of what the MFU stands on.
  std::string convention = setup.convention.empty() ? "unnamed" : setup.convention;
  if (setup.counted && !setup.counted->settings.empty()) {
    convention += " " + setup.counted->settings;
  }
  return fmt::format("convention={} peak={} precision={} clock={}", convention,
                     setup.peak_flops_per_gpu
                         ? fmt::format("{:.10g}T", *setup.peak_flops_per_gpu / 1e12)
                         : std::string("unknown"),
                     setup.precision.empty() ? "unnamed" : setup.precision, clock);
}

std::string status_of(const Headline& headline) {
  if (headline.mfu) return headline.impossible ? "impossible" : "ok";
  return headline.missing_peak && !headline.missing_work ? "no-peak" : "no-model";
}

std::vector<SideCount> counts_of(const Setup& setup) {
  if (!setup.flops_per_step || !setup.tokens_per_step || setup.convention.empty()) return {};
  return {{setup.convention, setup.counted ? setup.counted->settings : std::string(),
           *setup.flops_per_step / *setup.tokens_per_step}};
}

}  // namespace mfu
