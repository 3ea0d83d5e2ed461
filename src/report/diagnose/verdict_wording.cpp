#include "report/diagnose/verdict_wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_scale.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/worth/fix_worth.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/wording.hpp"

namespace mfu {
namespace {

bool is_named(const Verdict& verdict, Family family) {
  return family == verdict.family || std::find(verdict.families.begin(), verdict.families.end(),
                                               family) != verdict.families.end();
}

// "stall (input), all ranks, steady"
std::string place_and_time(Family family, Cause cause, const Subject& subject,
                           const std::string& when) {
  std::string text = family_name(family);
  if (const std::string name = cause_name(cause); !name.empty()) text += " (" + name + ")";
  if (!subject.name.empty()) text += ", " + subject.name;
  if (!when.empty()) text += ", " + when;
  return text;
}

// Jitter is nobody's fault, and can cost more than what makes a fault material.
std::string jitter_price(const Diagnosis& diagnosis) {
  const double step = diagnosis.headline.step_seconds;
  for (const Finding& finding : diagnosis.detail->findings) {
    if (finding.cause != Cause::jitter ||
        finding.loss_seconds < diagnosis.detail->materiality * step) {
      continue;
    }
    return fmt::format(", apart from {} of jitter", format_percent(finding.loss_seconds / step));
  }
  return "";
}

std::string when_of(const Finding& finding) {
  if (finding.gone_since_step) {
    return fmt::format("gone since step {}", *finding.gone_since_step);
  }
  return persistence_phrase(finding.persistence, finding.onset_step, finding.period_steps);
}

// Findings of a family stand by what they save one after the other, the verdict's first: what saves
// clearly more than that one, but comes after it, would save little before it.
bool hides_behind(const Diagnosis& diagnosis, const Finding& finding, const Finding& first) {
  constexpr double kClearly = 0.01;  // of the step
  return finding.loss_seconds - first.loss_seconds > kClearly * diagnosis.headline.step_seconds;
}

// "rank 11 on node n01 ...: 195.2 ms a step; it computes 1.200 s, its peers 1.000 s"
std::string also_line(const Diagnosis& diagnosis, const Finding& finding) {
  const Subject subject =
      subject_of(finding.locality, finding.culprits, diagnosis.detail->setup.stages);
  std::string text = place_and_time(finding.family, finding.cause, subject, when_of(finding)) +
                     fmt::format(": {} a step", format_seconds(finding.loss_seconds));
  const Finding* first = finding_for(diagnosis, finding.family);
  if (is_named(diagnosis.verdict, finding.family) && hides_behind(diagnosis, finding, *first)) {
    text += " once the first is fixed";  // it hides behind the first
  }
  for (const Fact& fact : finding.facts) {
    const bool computes = fact.kind == FactKind::compute_excess;
    if (!computes && fact.kind != FactKind::stall_excess) continue;
    const std::string_view verb = computes         ? subject.plural ? "compute" : "computes"
                                  : subject.plural ? "stall for"
                                                   : "stalls for";
    return text + fmt::format("; {} {} {}, {} peers {}", subject.plural ? "they" : "it", verb,
                              format_seconds(fact.a), subject.plural ? "their" : "its",
                              format_seconds(fact.b));
  }
  return text;
}

}  // namespace

const Finding* finding_for(const Diagnosis& diagnosis, Family family) {
  for (const Finding& finding : diagnosis.detail->findings) {
    if (finding.family == family) return &finding;
  }
  return nullptr;
}

std::string verdict_line_of(const Diagnosis& diagnosis) {
  const Verdict& verdict = diagnosis.verdict;
  const std::string confidence = fmt::format("; confidence {:.2f}", verdict.confidence);
  const auto with_place = [&](const Finding& finding) {
    return place_and_time(
        finding.family, finding.cause,
        subject_of(finding.locality, finding.culprits, diagnosis.detail->setup.stages),
        when_of(finding));
  };
  switch (verdict.family) {
    case Family::healthy:
      return fmt::format("healthy: no loss above {} of the step ({} for steady transfer){}{}",
                         format_percent(diagnosis.detail->materiality, 0),
                         format_percent(diagnosis.detail->communication_materiality, 0),
                         jitter_price(diagnosis), confidence);
    case Family::inconclusive: {
      std::string text = "inconclusive";
      if (verdict.families.size() == 1) {
        return text + " (a hint of " + family_name(verdict.families.front()) + ")";
      }
      for (std::size_t i = 0; i < verdict.families.size(); ++i) {
        text += (i == 0 ? ": " : " or ") + family_name(verdict.families[i]);
      }
      const Subject subject =
          subject_of(verdict.locality, verdict.culprits, diagnosis.detail->setup.stages);
      if (!subject.name.empty()) text += ", " + subject.name;
      const std::string when =
          persistence_phrase(verdict.persistence, verdict.onset_step, verdict.period_steps);
      if (!when.empty()) text += ", " + when;
      return text;
    }
    case Family::mixed: {
      std::string text = "mixed: ";
      for (std::size_t i = 0; i < verdict.families.size(); ++i) {
        const Finding* finding = finding_for(diagnosis, verdict.families[i]);
        if (i > 0) text += "; and ";
        text += finding != nullptr ? with_place(*finding) : family_name(verdict.families[i]);
      }
      return text + confidence;
    }
    default:
      break;
  }
  const Finding* finding = finding_for(diagnosis, verdict.family);
  const bool gone = finding != nullptr && finding->gone_since_step;
  return place_and_time(
             verdict.family, verdict.cause,
             subject_of(verdict.locality, verdict.culprits, diagnosis.detail->setup.stages),
             gone ? when_of(*finding)
                  : persistence_phrase(verdict.persistence, verdict.onset_step,
                                       verdict.period_steps)) +
         confidence;
}

std::string one_line_of(const Diagnosis& diagnosis) {
  const Verdict& verdict = diagnosis.verdict;
  std::string text(to_string(verdict.family));
  const bool open = verdict.family == Family::inconclusive || verdict.family == Family::mixed;
  for (std::size_t i = 0; open && i < verdict.families.size(); ++i) {
    text += (i == 0 ? " " : "|") + std::string(to_string(verdict.families[i]));
  }
  const Subject subject =
      subject_of(verdict.locality, verdict.culprits, diagnosis.detail->setup.stages);
  if (!subject.name.empty()) text += " " + subject.name;
  if (verdict.persistence != Persistence::none) {
    text += " " + std::string(to_string(verdict.persistence));
  }
  if (verdict.recoverable && diagnosis.headline.step_seconds > 0) {
    text += fmt::format(
        " {:+.1f} % of the step",
        100 * (verdict.recoverable->step_seconds / diagnosis.headline.step_seconds - 1));
  }
  if (verdict.family != Family::inconclusive)
    text += fmt::format(" conf {:.2f}", verdict.confidence);
  return text;
}

// Where more places of the family hide behind the one that the verdict is about: the step when all
// of them are mended.
std::optional<double> with_hidden(const Diagnosis& diagnosis, const Finding& first) {
  const bool hides =
      std::any_of(diagnosis.detail->findings.begin(), diagnosis.detail->findings.end(),
                  [&](const Finding& other) {
                    return other.family == first.family && hides_behind(diagnosis, other, first);
                  });
  if (!hides || !diagnosis.detail->worth) return std::nullopt;
  for (const FamilyWorth& entry : diagnosis.detail->worth->alone) {
    if (entry.family == first.family) return entry.step_seconds;
  }
  return std::nullopt;
}

std::string worth_of(const Diagnosis& diagnosis) {
  const Headline& headline = diagnosis.headline;
  if (!diagnosis.verdict.recoverable) return "";
  const Recoverable& left = *diagnosis.verdict.recoverable;
  const TimeScale scale = time_scale(headline.step_seconds);
  const auto shown = [&](double seconds) {
    return fmt::format("{:.{}f}", seconds / scale.unit_seconds, scale.decimals);
  };
  std::string text;
  if (headline.mfu && left.mfu) {
    text = fmt::format("{:.1f} MFU points ({:.1f} -> {:.1f} %), ",
                       100 * (*left.mfu - *headline.mfu), 100 * *headline.mfu, 100 * *left.mfu);
  } else if (headline.step_seconds > 0) {
    text = fmt::format("{} of the step, ",
                       format_percent(1 - left.step_seconds / headline.step_seconds));
  }
  // The interval with one digit less: it is not known better, and the line stays one line.
  const auto bound = [&](double seconds) {
    return fmt::format("{:.{}f}", seconds / scale.unit_seconds, std::max(0, scale.decimals - 1));
  };
  text += fmt::format("{} -> {} {} a step ({}..{})", shown(headline.step_seconds),
                      shown(left.step_seconds), scale.unit, bound(left.step_seconds_ci.lo),
                      bound(left.step_seconds_ci.hi));
  const Finding* finding = finding_for(diagnosis, diagnosis.verdict.family);
  const auto all = finding != nullptr ? with_hidden(diagnosis, *finding) : std::nullopt;
  if (all) {
    text += fmt::format("; {} when what hides behind it is fixed too", shown(*all));
  } else if (finding != nullptr && finding->gone_since_step) {
    text += fmt::format("; nothing left to gain since step {}", *finding->gone_since_step);
  } else if (finding != nullptr && diagnosis.detail->end_state) {
    // Of the family: said where the verdict's is the only finding of it.
    const auto same =
        std::count_if(diagnosis.detail->findings.begin(), diagnosis.detail->findings.end(),
                      [&](const Finding& other) { return other.family == finding->family; });
    for (const FamilyWorth& entry : diagnosis.detail->end_state->worth.alone) {
      if (same != 1 || entry.family != finding->family) continue;
      text += fmt::format("; from step {} on {} -> {}", diagnosis.detail->end_state->first_step,
                          shown(diagnosis.detail->end_state->worth.chain.front().step_seconds),
                          shown(entry.step_seconds));
    }
  }
  return text;
}

// What else was found when the verdict is about something: all that is material, and every further
// place of a family that the verdict names, since small ones add up to it.
std::vector<std::string> also_of(const Diagnosis& diagnosis) {
  constexpr std::size_t kMostPlaces = 6;
  constexpr double kLeastOfMaterial = 0.2;
  const Verdict& verdict = diagnosis.verdict;
  std::vector<std::string> lines;
  if (verdict.family == Family::healthy || verdict.family == Family::inconclusive) return lines;
  const double least =
      kLeastOfMaterial * diagnosis.detail->materiality * diagnosis.headline.step_seconds;
  std::size_t hidden = 0;
  double hidden_seconds = 0.0;
  for (const Finding& finding : diagnosis.detail->findings) {
    // The first of a family is the one that the verdict is about.
    if (is_named(verdict, finding.family) && finding_for(diagnosis, finding.family) == &finding) {
      continue;
    }
    const bool further_place = is_named(verdict, finding.family) &&
                               finding.locality != Locality::all && finding.loss_seconds >= least;
    if (!finding.material && !further_place) continue;
    if (lines.size() < kMostPlaces) {
      lines.push_back(also_line(diagnosis, finding));
    } else {
      ++hidden;
      hidden_seconds += finding.loss_seconds;
    }
  }
  if (hidden > 0) {
    lines.push_back(
        fmt::format("and {} more: {} a step together", hidden, format_seconds(hidden_seconds)));
  }
  return lines;
}

}  // namespace mfu
