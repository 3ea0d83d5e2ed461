#include "report/diagnose/instrument.hpp"

namespace mfu {

Fingerprint fingerprint_of(const Setup& setup) {
  PeakClock clock;
  clock.kind = PeakClock::Kind::none;
  if (setup.peak_given) {
    clock.kind = PeakClock::Kind::given_peak;
  } else if (setup.peak_flops_per_gpu) {
    clock.kind = PeakClock::Kind::rule;
    clock.rule = setup.clock.rule;
    clock.mhz = setup.clock_mhz;
  }
  // Where the work was counted and not given, the switches are part of what the MFU stands on.
  return fingerprint_of(setup.convention,
                        setup.counted ? std::string_view(setup.counted->settings) : "",
                        setup.peak_flops_per_gpu, setup.precision, clock);
}

CalcStatus status_of(const Headline& headline) {
  if (headline.mfu) return headline.impossible ? CalcStatus::impossible : CalcStatus::ok;
  return headline.missing_peak && !headline.missing_work ? CalcStatus::no_peak
                                                         : CalcStatus::no_model;
}

std::vector<SideCount> counts_of(const Setup& setup) {
  if (!setup.flops_per_step || !setup.tokens_per_step || setup.convention.empty()) return {};
  return {{setup.convention, setup.counted ? setup.counted->settings : std::string(),
           *setup.flops_per_step / *setup.tokens_per_step}};
}

}  // namespace mfu
