// The instrument of a measurement, and its text form.
#include "measure/fingerprint.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

namespace mfu {
namespace {

constexpr std::string_view kUnknownPeak = "unknown";
constexpr std::string_view kNoClock = "none";
constexpr std::string_view kGivenPeak = "given-peak";
constexpr std::array kClockRules{ClockRule::datasheet, ClockRule::max, ClockRule::base,
                                 ClockRule::mhz, ClockRule::measured};

// As "%.{digits}g" in the C locale.
std::string in_digits(double value, int digits) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, digits);
  return error == std::errc{} ? std::string(text.data(), end) : std::string();
}

// All of the text is a number.
std::optional<double> whole_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<double> with_unit(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return {};
  return whole_number(text.substr(0, text.size() - unit.size()));
}

std::string rule_text(ClockRule rule, const std::optional<double>& mhz) {
  std::string text(to_string(rule));
  if (mhz) text += "@" + in_digits(*mhz, 6) + "MHz";
  return text;
}

PeakClock parse_peak_clock(std::string_view text) {
  PeakClock clock;
  if (text.empty()) return clock;
  if (text == kNoClock) {
    clock.kind = PeakClock::Kind::none;
    return clock;
  }
  if (text == kGivenPeak) {
    clock.kind = PeakClock::Kind::given_peak;
    return clock;
  }
  const std::string_view name = text.substr(0, text.find('@'));
  for (const ClockRule rule : kClockRules) {
    if (to_string(rule) != name) continue;
    std::optional<double> mhz;
    if (name.size() < text.size()) mhz = with_unit(text.substr(name.size() + 1), "MHz");
    if (rule_text(rule, mhz) != text) break;
    clock.kind = PeakClock::Kind::rule;
    clock.rule = rule;
    clock.mhz = mhz;
    return clock;
  }
  clock.kind = PeakClock::Kind::other;
  clock.other = std::string(text);
  return clock;
}

// The values of the keys. One has spaces in it, so each ends where the next key begins.
std::array<std::string_view, 4> values_in(std::string_view text) {
  constexpr std::array<std::string_view, 4> kKeys{
      "convention=", " peak=", " precision=", " clock="};
  std::array<std::string_view, 4> values;
  std::size_t from = 0;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::size_t at = text.find(kKeys[i], from);
    if (at == std::string_view::npos) continue;
    from = at + kKeys[i].size();
    const std::size_t end =
        i + 1 < kKeys.size() ? text.find(kKeys[i + 1], from) : std::string_view::npos;
    values[i] = text.substr(from, end == std::string_view::npos ? end : end - from);
  }
  return values;
}

}  // namespace

std::string to_text(const PeakClock& clock) {
  switch (clock.kind) {
    case PeakClock::Kind::not_stated:
      break;
    case PeakClock::Kind::none:
      return std::string(kNoClock);
    case PeakClock::Kind::given_peak:
      return std::string(kGivenPeak);
    case PeakClock::Kind::rule:
      return rule_text(clock.rule, clock.mhz);
    case PeakClock::Kind::other:
      return clock.other;
  }
  return "";
}

std::string counted_by(const Fingerprint& fingerprint) {
  if (fingerprint.settings.empty()) return fingerprint.convention;
  return fingerprint.convention + " " + fingerprint.settings;
}

bool is_unnamed(const Fingerprint& fingerprint) noexcept {
  return fingerprint.convention == kUnnamed && fingerprint.settings.empty();
}

std::string to_text(const Fingerprint& fingerprint) {
  if (!fingerprint.as_read.empty()) return fingerprint.as_read;
  if (fingerprint == Fingerprint{}) return "";
  return "convention=" + counted_by(fingerprint) + " peak=" +
         (fingerprint.peak_tflops ? in_digits(*fingerprint.peak_tflops, 10) + "T"
                                  : std::string(kUnknownPeak)) +
         " precision=" +
         (fingerprint.precision.empty() ? std::string(kUnnamed) : fingerprint.precision) +
         " clock=" + to_text(fingerprint.clock);
}

Fingerprint parse_fingerprint(std::string_view text) {
  const auto [counted, peak, precision, clock] = values_in(text);
  Fingerprint fingerprint;
  const std::size_t space = counted.find(' ');
  fingerprint.convention = std::string(counted.substr(0, space));
  if (space != std::string_view::npos)
    fingerprint.settings = std::string(counted.substr(space + 1));
  fingerprint.peak_tflops = with_unit(peak, "T");
  if (precision != kUnnamed) fingerprint.precision = std::string(precision);
  fingerprint.clock = parse_peak_clock(clock);
  if (to_text(fingerprint) != text) fingerprint.as_read = std::string(text);
  return fingerprint;
}

Fingerprint fingerprint_of(std::string_view convention, std::string_view settings,
                           std::optional<double> peak_flops, std::string_view precision,
                           const PeakClock& clock) {
  Fingerprint exact;
  exact.convention = std::string(convention.empty() ? kUnnamed : convention);
  exact.settings = std::string(settings);
  if (peak_flops) exact.peak_tflops = *peak_flops / 1e12;
  exact.precision = std::string(precision);
  exact.clock = clock;
  return parse_fingerprint(to_text(exact));
}

Fingerprint fingerprint_of(std::string_view convention, std::string_view settings,
                           const std::optional<PeakUsed>& peak) {
  PeakClock clock;
  clock.kind = PeakClock::Kind::none;
  if (peak && peak->given) {
    clock.kind = PeakClock::Kind::given_peak;
  } else if (peak) {
    clock.kind = PeakClock::Kind::rule;
    clock.rule = peak->clock.rule;
    clock.mhz = peak->clock_mhz;
  }
  return fingerprint_of(convention, settings, peak ? std::optional(peak->flops) : std::nullopt,
                        peak && peak->precision ? precision_text(*peak) : std::string(), clock);
}

}  // namespace mfu
