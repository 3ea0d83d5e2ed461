#include "diagnose/verdict.hpp"

#include <algorithm>

#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/places/place.hpp"
#include "diagnose/setup.hpp"
#include "diagnose/standing.hpp"
#include "diagnose/step_terms.hpp"
#include "diagnose/thresholds.hpp"
#include "diagnose/unseen.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kSupport = 0.9;            // share of the resamples that must agree
constexpr double kMostUnexplained = 0.05;   // of the step, either way
constexpr double kUnsplitConfidence = 0.6;  // most, where two readings of the samples fit alike
constexpr double kAsMuch = 0.01;            // of the step: worth as much as another
constexpr double kHealthyBound = 1.6;       // upper bound in units of materiality: 8 % at 5 %

double share_of(std::size_t count, std::size_t of) {
  return of == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(of);
}

void take_finding(Diagnosis& diagnosis, const Finding& finding) {
  Verdict& verdict = diagnosis.verdict;
  std::vector<Fact>& facts = diagnosis.detail->verdict_facts;
  verdict.locality = finding.locality;
  verdict.culprits = finding.culprits;
  verdict.persistence = finding.persistence;
  verdict.cause = finding.cause;
  verdict.onset_step = finding.onset_step;
  verdict.period_steps = finding.period_steps;
  facts.insert(facts.end(), finding.facts.begin(), finding.facts.end());
  diagnosis.detail->verdict_health = finding.health;
}

// Seconds a step that its place takes longer than its peers, over all steps.
double own_excess(const Finding& finding) {
  for (const Fact& fact : finding.facts) {
    if (fact.kind != FactKind::compute_excess && fact.kind != FactKind::stall_excess) continue;
    return (fact.a - fact.b) * static_cast<double>(fact.count) /
           static_cast<double>(std::max<std::int64_t>(1, fact.of));
  }
  return 0.0;
}

Fact bubble_fact(const RuleContext& context, const Diagnosis& diagnosis) {
  for (const Part& part : diagnosis.parts) {
    if (part.id != PartId::pipeline_bubble) continue;
    return {FactKind::schedule_bubble,
            part.seconds,
            part.share,
            context.job().stages(),
            context.job().run().workload.microbatches.value_or(0),
            {}};
  }
  return {FactKind::schedule_bubble, 0, 0, context.job().stages(), 0, {}};
}

class Judge {
 public:
  Judge(RuleContext& context, Diagnosis& diagnosis)
      : context_(context), diagnosis_(diagnosis), resampled_(resample(context)) {
    std::vector<std::size_t> all(context.job().steps());
    for (std::size_t s = 0; s < all.size(); ++s) all[s] = s;
    point_ = standing_of(context, all);
  }

  void run() {
    write_findings();
    facts_ = obstacles(context_, diagnosis_.detail->setup);
    const double overshoot = mean(context_.model.overshoot());
    if (overshoot >= kMostUnexplained * point_.step) {
      facts_.emplace_back(FactKind::overexplained, overshoot, overshoot / point_.step);
    }
    const Family top = point_.top();
    add_unseparated(top);
    add_unmeasured(top);
    const bool too_few = facts_.size() == 1 && facts_.front().kind == FactKind::few_ranks;
    const std::size_t first = top == Family::healthy ? context_.found.size() : leader(top);
    if (too_few && first < context_.found.size() && may_be_missing_rank(context_.found[first])) {
      suspect_missing_ranks(context_.found[first]);
    } else if (!facts_.empty()) {
      abstain(top);
    } else if (top == Family::healthy) {
      nothing_material();
    } else {
      decide(top);
    }
    if (context_.job().stages() > 1 && context_.job().microbatch_chunks() > 0.0) {
      facts_.push_back(bubble_fact(context_, diagnosis_));
    }
    Verdict& verdict = diagnosis_.verdict;
    verdict.confidence =
        verdict.family == Family::inconclusive
            ? 0.0
            : std::min(verdict.confidence * (1.0 - doubt_of_waits()), limits::kMostConfidence);
  }

 private:
  // How far the verdict hangs on where the waits are.
  [[nodiscard]] double doubt_of_waits() const { return context_.model.attribution().waits_doubt; }

  // A schedule's own bubble whose microbatches are not known would be taken for a stall, or for
  // communication.
  void add_unseparated(Family top) {
    const Job& job = context_.job();
    if (job.stages() > 1 && job.microbatch_chunks() <= 0.0 &&
        (top == Family::stall || top == Family::communication)) {
      facts_.emplace_back(FactKind::no_microbatches, 0, 0, job.stages());
    }
  }

  // Without communication neither it nor waiting is known, and `stall`, the rest of the step, holds
  // both. What was seen in compute stands.
  void add_unmeasured(Family top) {
    const Job& job = context_.job();
    if (job.ranks() < 2 || !zero_everywhere(job, job.run().comm)) return;
    if (!job.run().wait.empty() && !zero_everywhere(job, job.run().wait)) return;
    if (top == Family::straggler || top == Family::imbalance ||
        top == Family::single_gpu_efficiency) {
      return;
    }
    facts_.emplace_back(FactKind::unmeasured, 0, 0, 0, 0,
                        "communication is 0 on every rank in every step: it was not measured, and "
                        "neither was waiting");
  }

  // Waiting for an unrecorded rank looks like slow communication, or like one slow link.
  [[nodiscard]] bool may_be_missing_rank(const Candidate& candidate) const {
    const auto seen = static_cast<std::int64_t>(context_.job().ranks());
    if (seen >= diagnosis_.detail->setup.expected_ranks) return false;
    if (diagnosis_.detail->split == SplitMethod::separate) return false;
    return candidate.unseen_member || (candidate.finding.family == Family::stall &&
                                       context_.model.attribution().waits_in_stall);
  }

  void suspect_missing_ranks(const Candidate& candidate) {
    Verdict& verdict = diagnosis_.verdict;
    const std::int64_t expected = diagnosis_.detail->setup.expected_ranks;
    const std::int64_t count = expected - static_cast<std::int64_t>(context_.job().ranks());
    const std::vector<std::int64_t> missing = missing_numbers(context_.job(), expected);
    facts_.emplace_back(FactKind::missing_ranks, 0, 0, count, expected,
                        names_of_missing(missing, count));
    verdict.family = Family::inconclusive;
    verdict.families = {Family::straggler};
    if (candidate.finding.family != Family::straggler) {
      verdict.families.push_back(candidate.finding.family);
    } else if (candidate.finding.locality == Locality::link) {
      verdict.families.push_back(Family::communication);
    }
    verdict.locality = Locality::rank;
    if (static_cast<std::int64_t>(missing.size()) == count) verdict.culprits.ranks = missing;
    verdict.persistence = candidate.finding.persistence;
    verdict.period_steps = candidate.finding.period_steps;
    verdict.onset_step = candidate.finding.onset_step;
  }

  [[nodiscard]] double unexplained_share() const {
    return mean(context_.model.unexplained()) / point_.step;
  }

  // The index of what is worth most of a family when it is mended first. Where none is worth more
  // than another so, the one whose fix the others were counted after.
  [[nodiscard]] std::size_t leader(Family family) const {
    std::size_t best = context_.found.size();
    for (std::size_t k = 0; k < context_.found.size(); ++k) {
      if (context_.found[k].finding.family != family) continue;
      const double margin = context_.found[k].alone.empty() ? 0.0 : kAsMuch * point_.step;
      if (best == context_.found.size()) {
        best = k;
        continue;
      }
      // Of places that were slow one after the other, the one that is slow still.
      const bool gone = context_.found[k].finding.gone_since_step.has_value();
      const bool best_gone = context_.found[best].finding.gone_since_step.has_value();
      const double least = context_.found[k].materiality * point_.step;
      if (gone != best_gone && point_.alone[gone ? best : k] >= least) {
        if (best_gone) best = k;
        continue;
      }
      if (point_.alone[k] > point_.alone[best] + margin) best = k;
    }
    return best;
  }

  void write_findings() {
    std::vector<std::size_t> order(context_.found.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return point_.loss[a] > point_.loss[b]; });
    // What a verdict would name comes first of its family, though more may hide behind it.
    for (auto it = order.begin(); it != order.end(); ++it) {
      const Family family = context_.found[*it].finding.family;
      const auto same = [&](std::size_t k) { return context_.found[k].finding.family == family; };
      if (std::any_of(order.begin(), it, same)) continue;
      const auto first = std::find(it, order.end(), leader(family));
      std::rotate(it, first, first + 1);
    }
    for (const std::size_t k : order) {
      Finding finding = context_.found[k].finding;
      finding.loss_seconds = point_.loss[k];
      finding.loss_ci = interval_of(resampled_.loss[k]);
      const double least = context_.found[k].materiality * point_.step;
      // Behind a place as slow as itself a place saves nothing alone, and is slow all the same.
      const bool hides = !context_.found[k].alone.empty() && own_excess(finding) >= least;
      finding.material = point_.loss[k] >= least || hides;
      findings_.push_back(std::move(finding));
    }
  }

  void abstain(Family suspected) {
    Verdict& verdict = diagnosis_.verdict;
    verdict.family = Family::inconclusive;
    verdict.locality = Locality::none;
    if (suspected != Family::healthy && verdict.families.empty()) verdict.families = {suspected};
  }

  void add_unexplained() {
    if (context_.job().step_spread() > kMostUnexplained) {
      facts_.emplace_back(FactKind::step_uneven, context_.job().step_spread());
    }
    facts_.emplace_back(FactKind::unexplained, mean(context_.model.unexplained()),
                        unexplained_share());
    if (context_.job().stages() > 1 && context_.job().microbatch_chunks() <= 0.0) {
      facts_.emplace_back(FactKind::no_microbatches, 0, 0, context_.job().stages());
    }
  }

  void nothing_material() {
    Verdict& verdict = diagnosis_.verdict;
    bool bounded = true;
    for (const auto& [family, scores] : resampled_.score) {
      bounded = bounded && quantile(scores, 0.975) < kHealthyBound;
    }
    const auto quiet = static_cast<std::size_t>(
        std::count(resampled_.top.begin(), resampled_.top.end(), Family::healthy));
    verdict.confidence = share_of(quiet, resampled_.top.size());
    bool told = false;
    bool place_told = false;
    for (const Finding& finding : findings_) {
      // A slow place deserves a check even if fixing it would save little.
      if (finding.family == Family::straggler && !place_told) {
        place_told = true;
        told = told || &finding == findings_.data();
        facts_.emplace_back(FactKind::below_materiality, finding.loss_seconds,
                            finding.loss_seconds / point_.step, 1, 0, place_name(finding.culprits));
        continue;
      }
      const bool costly = finding.loss_seconds >= context_.options.materiality * point_.step;
      if (finding.cause == Cause::jitter && costly) {
        facts_.insert(facts_.end(), finding.facts.begin(), finding.facts.end());
      } else if (!told) {
        told = true;
        facts_.emplace_back(FactKind::below_materiality, finding.loss_seconds,
                            finding.loss_seconds / point_.step, 0, 0,
                            std::string(to_string(finding.family)));
      }
    }
    if (unexplained_share() >= kMostUnexplained) {
      add_unexplained();
      abstain(Family::healthy);
      return;
    }
    if (!bounded) {
      abstain(findings_.empty() ? Family::healthy : findings_.front().family);
      return;
    }
    verdict.family = Family::healthy;
    if (diagnosis_.headline.mfu) {
      // Judged at the clock that was observed, where one was.
      const Factor& single = diagnosis_.factors.front();
      const bool at_clock = !single.parts.empty();
      facts_.emplace_back(FactKind::efficiency, at_clock ? single.parts.back().value : single.value,
                          diagnosis_.detail->target_efficiency, at_clock ? 1 : 0);
    } else {
      facts_.emplace_back(FactKind::not_judged);
    }
  }

  void decide(Family top) {
    Verdict& verdict = diagnosis_.verdict;
    const std::size_t first = leader(top);
    const Candidate& chosen = context_.found[first];
    const std::size_t replicates = resampled_.top.size();
    if (may_be_missing_rank(chosen)) {
      suspect_missing_ranks(chosen);
      return;
    }

    Family second = Family::healthy;
    for (const Family family : kFamilies) {
      if (family == top || !point_.material(family)) continue;
      if (!context_.found[leader(family)].alike.empty()) continue;  // nobody knows what it is
      if (point_.seconds.at(family) <= 0.5 * point_.seconds.at(top)) continue;
      if (second == Family::healthy || point_.seconds.at(family) > point_.seconds.at(second)) {
        second = family;
      }
    }
    std::size_t agree = 0;
    std::size_t agree_both = 0;
    std::size_t quiet = 0;
    for (std::size_t i = 0; i < replicates; ++i) {
      agree += resampled_.top[i] == top;
      quiet += resampled_.top[i] == Family::healthy;
      agree_both +=
          resampled_.top[i] == top || (second != Family::healthy && resampled_.top[i] == second);
    }
    if (!chosen.alike.empty()) {
      take_finding(diagnosis_, chosen.finding);
      verdict.families = chosen.alike;
      verdict.cause = Cause::none;
      verdict.family = Family::inconclusive;
      verdict.confidence = share_of(agree, replicates);
      recover(first);
      return;
    }
    if (second != Family::healthy) {
      verdict.confidence = share_of(agree_both, replicates);
      if (verdict.confidence >= kSupport) {
        verdict.family = Family::mixed;
        verdict.families = {top, second};
        take_finding(diagnosis_, chosen.finding);
        const Finding& other = context_.found[leader(second)].finding;
        facts_.insert(facts_.end(), other.facts.begin(), other.facts.end());
        recover(first);
        return;
      }
    }
    // Resamples in which nothing is material doubt the size, not the family: they lower the
    // confidence. Resamples that name another family leave the question open.
    verdict.confidence = share_of(agree, replicates);
    if (share_of(agree + quiet, replicates) < kSupport) {
      facts_.emplace_back(FactKind::below_materiality, point_.loss[first],
                          point_.loss[first] / point_.step, 0, 0, std::string(to_string(top)));
      abstain(top);
      return;
    }
    verdict.family = top;
    verdict.confidence = std::min(verdict.confidence, chosen.most_confidence);
    take_finding(diagnosis_, chosen.finding);
    if (std::any_of(facts_.begin(), facts_.end(),
                    [](const Fact& fact) { return fact.kind == FactKind::jitter_or_work; })) {
      verdict.confidence = std::min(verdict.confidence, kUnsplitConfidence);
    }
    if (top == Family::stall && context_.model.attribution().waits_in_stall &&
        !context_.model.attribution().host_bound) {
      facts_.emplace_back(FactKind::waits_unsplit);
      verdict.confidence = std::min(verdict.confidence, kUnsplitConfidence);
    }
    recover(first);
    if (unexplained_share() >= kMostUnexplained) add_unexplained();
  }

  // What is left of the step once `saved` seconds of it are; `left`: the same of the resamples.
  [[nodiscard]] Recoverable recoverable(double saved, std::span<const double> left) const {
    Recoverable recoverable;
    recoverable.step_seconds = point_.step - saved;
    recoverable.step_seconds_ci = interval_of(left);
    // The steps tell how much they differ, not how wrong the replay is.
    const double wrong =
        limits::kSavingWrong * std::max(0.0, saved) + limits::kReplayWrong * point_.step;
    recoverable.step_seconds_ci.lo = std::max(0.0, recoverable.step_seconds_ci.lo - wrong);
    recoverable.step_seconds_ci.hi += wrong;
    if (diagnosis_.headline.mfu && recoverable.step_seconds > 0.0) {
      recoverable.mfu = *diagnosis_.headline.mfu * point_.step / recoverable.step_seconds;
    }
    return recoverable;
  }

  void recover(std::size_t k) {
    Verdict& verdict = diagnosis_.verdict;
    verdict.recoverable = recoverable(point_.alone[k], resampled_.left[k]);
    for (const Family family : verdict.families) {
      const std::size_t its = verdict.family == Family::mixed ? leader(family) : k;
      const bool balancing = family == Family::imbalance && !context_.found[its].balanced.empty();
      verdict.recoverable_by_reading.push_back(
          balancing ? recoverable(point_.balanced[its], resampled_.left_balanced[its])
                    : recoverable(point_.alone[its], resampled_.left[its]));
    }
  }

  RuleContext& context_;
  Diagnosis& diagnosis_;
  std::vector<Finding>& findings_ = diagnosis_.detail->findings;
  std::vector<Fact>& facts_ = diagnosis_.detail->verdict_facts;  // the verdict's evidence
  Resampled resampled_;
  Standing point_;
};

}  // namespace

void judge(RuleContext& context, Diagnosis& diagnosis) { Judge(context, diagnosis).run(); }

}  // namespace mfu::diagnosis
