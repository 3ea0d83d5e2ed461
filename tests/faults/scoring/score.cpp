#include "faults/scoring/score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"

namespace mfu::faults {

namespace {

bool nobody(const Culprits& culprits) {
  return culprits.ranks.empty() && culprits.nodes.empty() && culprits.stages.empty() &&
         culprits.groups.empty();
}

constexpr double kMaterial = 0.06;  // surely above DiagnoseOptions::materiality

// An abstention, or a hedged verdict, that says what the data lack.
bool says_why(const Diagnosis& diagnosis) {
  constexpr std::array kReasons{
      FactKind::coincides,         FactKind::few_steps,     FactKind::few_ranks,
      FactKind::one_rank,          FactKind::waits_unsplit, FactKind::slow_everywhere,
      FactKind::unexplained,       FactKind::overexplained, FactKind::not_judged,
      FactKind::below_materiality, FactKind::many_slow,     FactKind::missing_ranks,
      FactKind::unmeasured};
  const auto& facts = diagnosis.detail->verdict_facts;
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    return std::find(kReasons.begin(), kReasons.end(), fact.kind) != kReasons.end();
  });
}

bool prices_jitter(const Diagnosis& diagnosis) {
  const auto& findings = diagnosis.detail->findings;
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.cause == Cause::jitter && finding.loss_seconds > 0.0 && nobody(finding.culprits);
  });
}

// The index that a group's name gives for an axis ("dp group of tp=3 pp=0"); -1: none.
int index_in(const std::string& group, Axis axis) {
  const std::string key = std::string(to_string(axis)) + "=";
  const std::size_t at = group.find(key);
  return at == std::string::npos ? -1 : std::atoi(group.c_str() + at + key.size());
}

std::set<std::int64_t> told_ranks(const Culprits& told, const Job& job) {
  std::set<std::int64_t> ranks(told.ranks.begin(), told.ranks.end());
  if (!ranks.empty()) return ranks;
  for (const RankInfo& info : job.run.ranks) {
    bool in = told.groups.empty() &&
              std::find(told.nodes.begin(), told.nodes.end(), info.node) != told.nodes.end();
    for (const std::string& group : told.groups) {
      bool all = true;
      for (const Axis axis : kAxes) {
        const int index = index_in(group, axis);
        all = all && (index < 0 || index == info.coords[axis]);
      }
      in = in || all;
    }
    if (in) ranks.insert(info.rank);
  }
  return ranks;
}

}  // namespace

bool names(const Culprits& told, const Job& job) {
  const Culprits& truth = job.truth.culprits;
  if (!truth.stages.empty()) return told.stages == truth.stages;
  if (truth.ranks.empty()) return nobody(told);
  const std::set<std::int64_t> wanted(truth.ranks.begin(), truth.ranks.end());
  return told_ranks(told, job) == wanted;
}

bool counts(const Truth& truth) {
  constexpr double kLeastLoss = 0.06;
  const bool fault = truth.family != Family::healthy && truth.family != Family::inconclusive;
  return truth.decidable && fault && truth.loss_share >= kLeastLoss;
}

bool has_culprit(const Truth& truth) {
  if (!counts(truth) || truth.family == Family::mixed) return false;
  if (truth.cause == Cause::data_shard || truth.cause == Cause::expert_load) return false;
  return !nobody(truth.culprits);
}

Score score(const Diagnosis& diagnosis, const Job& job) {
  const Truth& truth = job.truth;
  const Verdict& verdict = diagnosis.verdict;
  Score out;
  out.family = std::find(truth.accepted.begin(), truth.accepted.end(), verdict.family) !=
               truth.accepted.end();
  out.family_exact = verdict.family == truth.family;
  out.abstained = verdict.family == Family::inconclusive;
  out.reasoned = says_why(diagnosis);
  const bool sick = !out.abstained && verdict.family != Family::healthy;
  out.false_alarm = truth.family == Family::healthy && !out.family && sick;
  // Jitter that costs something has its price among the findings, and nobody's name.
  if (truth.cause == Cause::jitter && truth.loss_share >= kMaterial) {
    out.family = out.family && prices_jitter(diagnosis);
    out.family_exact = out.family;
  }
  // Where the data cannot tell, an answer that names another accepted family has its own culprits,
  // and an abstention may name suspects. Uneven shards may be pointed at, or not.
  const bool free = !truth.decidable || truth.cause == Cause::data_shard ||
                    truth.cause == Cause::expert_load || truth.family == Family::mixed;
  if (verdict.family == Family::healthy) {
    out.culprit = nobody(verdict.culprits);
  } else if (out.family_exact && !free) {
    out.culprit = names(verdict.culprits, job);
  } else {
    out.culprit = out.family;
  }
  // Pauses of single ranks come in most steps, each time somewhere else: several words fit.
  out.persistence =
      !out.family_exact || truth.cause == Cause::gc || verdict.persistence == truth.persistence;
  if (verdict.recoverable && out.family_exact && sick) {
    out.step_known = true;
    out.step_error = std::fabs(verdict.recoverable->step_seconds / truth.fixed_step_seconds - 1.0);
  }
  return out;
}

}  // namespace mfu::faults
