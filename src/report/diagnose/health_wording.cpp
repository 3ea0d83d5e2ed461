#include "report/diagnose/health_wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "mfu/quantity.hpp"
#include "timings/device_health.hpp"

namespace mfu {
namespace {

std::string megahertz(double mhz) { return format_grouped(mhz) + " MHz"; }
std::string degrees(double heat) { return fmt::format("{:.0f} C", heat); }
std::string watts(double power) { return fmt::format("{:.0f} W", power); }

std::string clause(const Subject& subject, std::string_view singular, std::string_view plural) {
  return subject.name + " " + std::string(subject.plural ? plural : singular);
}
std::string whose_peers(const Subject& subject) {
  return subject.plural ? "their peers" : "its peers";
}

std::string reason_name(ThrottleReason reason) {
  switch (reason) {
    case ThrottleReason::gpu_idle:
      return "idle";
    case ThrottleReason::applications_clocks:
      return "application clocks";
    case ThrottleReason::sw_power_cap:
      return "SW power cap";
    case ThrottleReason::hw_slowdown:
      return "HW slowdown";
    case ThrottleReason::sync_boost:
      return "sync boost";
    case ThrottleReason::sw_thermal:
      return "SW thermal slowdown";
    case ThrottleReason::hw_thermal:
      return "HW thermal slowdown";
    case ThrottleReason::hw_power_brake:
      return "HW power brake";
    case ThrottleReason::display_clocks:
      return "display clocks";
    case ThrottleReason::power_violation:
      return "power violation";
    case ThrottleReason::thermal_violation:
      return "thermal violation";
  }
  return "";
}

// Empty: unknown here.
std::string_view xid_meaning(std::int64_t code) {
  struct Meaning {
    std::int64_t code;
    std::string_view text;
  };
  constexpr Meaning kMeanings[] = {
      {13, "the application's fault: a graphics engine exception"},
      {31, "the application's fault: a memory page fault"},
      {43, "the application stopped"},
      {45, "the application was terminated"},
      {48, "a double-bit memory error"},
      {63, "a memory row was remapped, or a page retired"},
      {64, "remapping a memory row failed"},
      {74, "an NVLink error"},
      {79, "the GPU fell off the bus"},
      {92, "many single-bit memory errors"},
      {94, "a contained memory error"},
      {95, "an uncontained memory error"},
      {109, "a context switch timed out"},
      {119, "the GPU's firmware did not answer"},
      {120, "an error of the GPU's firmware"},
      {143, "the GPU could not be initialised"},
      {154, "the driver asks for a recovery of the GPU"},
  };
  for (const Meaning& known : kMeanings) {
    if (known.code == code) return known.text;
  }
  return code >= 144 && code <= 150 ? "an NVLink error" : "";
}

std::string clock_text(const HealthFact& fact, const Subject& subject, bool whole) {
  std::string text = clause(subject, "runs", "run") + " at " + megahertz(*fact.value);
  if (fact.peers) {
    text += fmt::format(", {} at {}", whose_peers(subject), megahertz(*fact.peers));
  } else if (whole && fact.limit) {
    text += fmt::format(", {:.2f} x the {} of the peak", *fact.value / *fact.limit,
                        megahertz(*fact.limit));
  }
  if (fact.rated && (whole || !fact.peers)) {
    text += fmt::format(" (at most {})", megahertz(*fact.rated));
  }
  if (fact.explains && *fact.explains < 0.5) {
    text += fmt::format(": that explains {} of the extra time",
                        format_percent(std::max(0.0, *fact.explains), 0));
  }
  return text;
}

std::string throttle_text(const HealthFact& fact, const Subject& subject) {
  if (!fact.reason) return "no throttle reason under load";
  std::string text =
      fmt::format("{} in {} of {} load", reason_name(*fact.reason),
                  format_percent(fact.value.value_or(1.0), 0), subject.plural ? "their" : "its");
  if (fact.peers) {
    text += fmt::format(" ({} {})", whose_peers(subject), format_percent(*fact.peers, 0));
  }
  return text;
}

std::string temperature_text(const HealthFact& fact, const Subject& subject,
                             std::string_view what) {
  std::string text;
  if (fact.margin) {
    text =
        fmt::format("{} {} below throttling", clause(subject, "is", "are"), degrees(*fact.value));
  } else {
    text = fmt::format("{}{} {}", what, subject.name.empty() ? "" : subject.name + " at",
                       degrees(*fact.value));
  }
  if (fact.peers) text += fmt::format(", {} at {}", whose_peers(subject), degrees(*fact.peers));
  if (fact.limit) text += fmt::format("; slowdown at {}", degrees(*fact.limit));
  return text;
}

std::string power_text(const HealthFact& fact, const Subject& subject) {
  if (fact.limit && fact.rated && *fact.limit < 0.97 * *fact.rated) {
    return fmt::format("{} capped at {} of {}", clause(subject, "is", "are"), watts(*fact.limit),
                       watts(*fact.rated));
  }
  if (!fact.value) {
    return fmt::format("{} allowed {}", clause(subject, "is", "are"),
                       watts(fact.limit.value_or(0)));
  }
  std::string text = fmt::format("{} {}", clause(subject, "draws", "draw"), watts(*fact.value));
  if (fact.peers) text += fmt::format(", {} {}", whose_peers(subject), watts(*fact.peers));
  if (fact.limit) text += fmt::format("; allowed {}", watts(*fact.limit));
  if (fact.stance == Stance::supports && fact.peers) {
    text += ", at the same clock: the clock does not show what holds it back";
  }
  return text;
}

std::string ecc_text(const HealthFact& fact, const Subject& subject) {
  std::vector<std::string> parts;
  if (fact.count > 0) {
    parts.push_back(fmt::format("{} new uncorrected memory {}", fact.count,
                                fact.count == 1 ? "error" : "errors"));
  }
  if (!fact.recovery.empty()) {
    parts.push_back("the driver asks for a recovery: " + shortened(fact.recovery));
  }
  if (parts.empty() && fact.stance != Stance::contradicts) {
    parts.emplace_back("a remapped memory row waits for a reset, or could not be remapped");
  }
  if (parts.empty()) return "no new uncorrected memory errors";
  return fmt::format("{}: {}", subject.name, fmt::join(parts, "; "));
}

std::string xid_text(const HealthFact& fact, const Subject& subject) {
  if (fact.code == 0) return "no Xid";
  const std::string_view meaning = xid_meaning(fact.code);
  std::string text = fmt::format("Xid {}", fact.code);
  if (fact.count > 1) text += fmt::format(" ({} times)", fact.count);
  text += " on " + (fact.on_node ? "a GPU of that node" : subject.name);
  if (!meaning.empty()) text += fmt::format(": {}", meaning);
  if (fact.before) text += "; it came before the recorded run";
  return text;
}

std::string check_name(HealthCheck check) {
  switch (check) {
    case HealthCheck::clock:
      return "clock";
    case HealthCheck::throttle:
      return "throttle reasons";
    case HealthCheck::temperature:
      return "temperature";
    case HealthCheck::memory_temperature:
      return "memory temperature";
    case HealthCheck::power:
      return "power";
    case HealthCheck::ecc:
      return "ECC";
    case HealthCheck::xid:
      return "Xid";
  }
  return "";
}

std::string clock_split(const Diagnosis& diagnosis) {
  for (const Factor& factor : diagnosis.factors) {
    if (factor.id != FactorId::single_gpu || factor.parts.size() != 2) continue;
    return fmt::format(
        "{} of the peak's {}: x {:.3f}; kernels at that clock x {:.3f}; together x "
        "{:.3f}",
        megahertz(diagnosis.detail->health.clock_mhz.value_or(0.0)),
        megahertz(diagnosis.detail->setup.clock_mhz.value_or(0.0)), factor.parts[0].value,
        factor.parts[1].value, factor.value);
  }
  return "";
}

std::string two_modes_text(const TwoModes& modes) {
  std::string text = fmt::format(
      "steps switch between two lengths: {} and {} ({:.2f} "
      "x, {} of {} steps are slow)",
      format_seconds(modes.fast_s), format_seconds(modes.slow_s), modes.slow_s / modes.fast_s,
      modes.slow_steps, modes.of);
  if (modes.fast_clock_mhz && modes.slow_clock_mhz) {
    const bool same = *modes.slow_clock_mhz > 0.97 * *modes.fast_clock_mhz;
    text += fmt::format("; clock {} and {}", megahertz(*modes.fast_clock_mhz),
                        megahertz(*modes.slow_clock_mhz));
    if (same) text += ": the clock does not show it";
  }
  if (modes.fast_power_w && modes.slow_power_w) {
    text +=
        fmt::format("; power {} and {}", watts(*modes.fast_power_w), watts(*modes.slow_power_w));
  }
  return text;
}

std::string sentence_alone(const HealthFact& fact, const Subject& subject, bool whole) {
  switch (fact.check) {
    case HealthCheck::clock:
      return fact.value ? clock_text(fact, subject, whole) : "";
    case HealthCheck::throttle:
      return throttle_text(fact, subject);
    case HealthCheck::temperature:
      return fact.value ? temperature_text(fact, subject, "") : "";
    case HealthCheck::memory_temperature:
      return fact.value ? temperature_text(fact, subject, "memory of ") : "";
    case HealthCheck::power:
      return power_text(fact, subject);
    case HealthCheck::ecc:
      return ecc_text(fact, subject);
    case HealthCheck::xid:
      return xid_text(fact, subject);
  }
  return "";
}

}  // namespace

std::string health_sentence(const HealthFact& fact, const Subject& subject, bool whole) {
  if (fact.stance == Stance::not_measured) return check_name(fact.check) + ": not measured";
  std::string text = sentence_alone(fact, subject, whole);
  if (!text.empty() && fact.alike_peers > 0) {
    text +=
        fmt::format("; so {} {} that {} not slow", fact.alike_peers == 1 ? "is" : "are",
                    fact.alike_peers == 1 ? "1 peer" : fmt::format("{} peers", fact.alike_peers),
                    fact.alike_peers == 1 ? "is" : "are");
  }
  return text;
}

HealthTexts health_texts(const Diagnosis& diagnosis, const Subject& subject) {
  HealthTexts texts;
  const Verdict& verdict = diagnosis.verdict;
  const bool whole = verdict.locality == Locality::all;
  std::vector<std::string> as_it_should, not_measured;
  for (const HealthFact& fact : diagnosis.detail->verdict_health) {
    texts.facts.push_back(health_sentence(fact, subject, whole));
    if (fact.stance == Stance::neutral) texts.checked.push_back(texts.facts.back());
    if (fact.stance == Stance::contradicts) as_it_should.push_back(check_name(fact.check));
    if (fact.stance == Stance::not_measured) not_measured.push_back(check_name(fact.check));
  }
  if (!as_it_should.empty()) {
    texts.checked.push_back(fmt::format("not the reason: {}", fmt::join(as_it_should, ", ")));
  }
  if (!not_measured.empty()) {
    texts.checked.push_back(fmt::format("not measured: {}", fmt::join(not_measured, ", ")));
  }
  texts.clock = clock_split(diagnosis);
  for (const HealthRemark& remark : diagnosis.detail->health.remarks) {
    const Subject whose{(remark.ranks.size() == 1 ? "rank " : "ranks ") + number_list(remark.ranks),
                        remark.ranks.size() > 1};
    std::string text = health_sentence(remark.fact, whose, false);
    if (remark.fact.check == HealthCheck::throttle) text = whose.name + ": " + text;
    // These are not culprits: the timings, where there are any, say so.
    if (verdict.family != Family::inconclusive) {
      text += whose.plural ? "; their timings do not stand out" : "; its timings do not stand out";
    }
    texts.remarks.push_back(std::move(text));
  }
  // Bursts are reported with their finding; what the devices did in them is not.
  const auto& modes = diagnosis.detail->health.two_modes;
  const bool told =
      std::any_of(diagnosis.detail->findings.begin(), diagnosis.detail->findings.end(),
                  [](const Finding& finding) {
                    return finding.material && finding.persistence == Persistence::bursts;
                  });
  if (modes && (!told || modes->fast_clock_mhz || modes->fast_power_w))
    texts.two_modes = two_modes_text(*modes);
  return texts;
}

}  // namespace mfu
