// The instrument of a measurement: how its work is counted and the peak that it is held against.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mfu/measure.hpp"
#include "mfu/timings.hpp"

namespace mfu {

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

}  // namespace mfu
