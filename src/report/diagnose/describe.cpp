// A diagnosis in words: which sentence stands where. The sentences are in wording.cpp and
// advice.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/time_scale.hpp"
#include "compare/term_spread.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/setup.hpp"
#include "flops/counted_work.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/certainty.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/health_wording.hpp"
#include "report/diagnose/instrument.hpp"
#include "report/diagnose/replay_wording.hpp"
#include "report/diagnose/trace_wording.hpp"
#include "report/diagnose/verdict_wording.hpp"
#include "report/diagnose/worth_section.hpp"
#include "report/diagnose/worth_wording.hpp"
#include "report/measure/impossible.hpp"
#include "report/measure/references.hpp"
#include "report/report_of.hpp"
#include "report/wording.hpp"

namespace mfu {
namespace {

std::string title_of(const Setup& setup, const RunTimings& run) {
  std::string model = shortened(setup.model);
  if (model.empty()) {
    const auto name = run.job.find("name");
    model = name != run.job.end() && !name->second.empty() ? shortened(name->second)
                                                           : "model not named";
  }
  std::string text =
      fmt::format("{}   {} {}", model, setup.gpus,
                  setup.chip_name.empty() ? std::string(setup.gpus == 1 ? "GPU" : "GPUs")
                                          : "x " + shortened(setup.chip_name));
  if (setup.peak_flops_per_gpu) {
    text += ",";
    if (!setup.precision.empty()) text += " " + setup.precision + " dense";
    text += fmt::format(" {:.5g} TFLOP/s", *setup.peak_flops_per_gpu / 1e12);
    if (setup.peak_given) text += " as given";
  }
  return text;
}

std::string steps_line_of(const Diagnosis& diagnosis) {
  const std::vector<std::int64_t>& steps = diagnosis.detail->steps_used;
  if (steps.empty()) return "no steps";
  if (steps.size() == 1) return fmt::format("step {}", steps.front());
  const std::size_t warmup = diagnosis.detail->warmup_steps.size();
  return fmt::format("steps {}..{} ({}{})", steps.front(), steps.back(), steps.size(),
                     warmup > 0 ? fmt::format(" after {} of warm-up", warmup) : "");
}

std::string mfu_missing_of(const Headline& headline) {
  if (headline.mfu) return "";
  const std::string_view work =
      "the work per step (workload.flops_per_step: FLOPs of the whole job; or a known model with "
      "seq_len and global_batch)";
  const std::string_view peak =
      "the peak (hardware.chip and hardware.precision, or hardware.peak_tflops)";
  if (headline.missing_work && headline.missing_peak) {
    return fmt::format("MFU needs {} and {}", work, peak);
  }
  if (headline.missing_peak) return fmt::format("MFU needs {}", peak);
  return fmt::format("MFU needs {}", work);
}

const Factor* find_factor(const std::vector<Factor>& factors, FactorId id) {
  for (const Factor& factor : factors) {
    if (factor.id == id) return &factor;
    if (const Factor* part = find_factor(factor.parts, id)) return part;
  }
  return nullptr;
}

// The dependency factor is split only where a schedule is known; else it is the rest as a whole.
const Factor* factor_of(const Diagnosis& diagnosis, PartId part) {
  const auto find = [&](FactorId id) { return find_factor(diagnosis.factors, id); };
  switch (part) {
    case PartId::model_math:
    case PartId::compute:
    case PartId::recomputation:
      return nullptr;
    case PartId::kernels_below_peak:
      return find(FactorId::single_gpu);
    case PartId::imbalance_wait:
      return find(FactorId::balance);
    case PartId::own_stall:
      return find(FactorId::own_stall);
    case PartId::exposed_transfer:
      return find(FactorId::transfer);
    case PartId::pipeline_bubble:
      return find(FactorId::schedule_bubble);
    case PartId::unattributed: {
      const Factor* rest = find(FactorId::dependency_rest);
      return rest != nullptr ? rest : find(FactorId::dependency);
    }
  }
  return nullptr;
}

// The row of the table in which a finding's loss lies.
PartId part_of(Family family, const std::vector<Fact>& facts, Locality locality, bool has_mfu) {
  switch (family) {
    case Family::single_gpu_efficiency:
      return has_mfu ? PartId::kernels_below_peak : PartId::compute;
    case Family::stall:
      return PartId::own_stall;
    case Family::communication:
      return PartId::exposed_transfer;
    case Family::straggler:
      for (const Fact& fact : facts) {
        if (fact.kind == FactKind::compute_excess) return PartId::imbalance_wait;
        if (fact.kind == FactKind::stall_excess) return PartId::own_stall;
        if (fact.kind == FactKind::link_excess) return PartId::exposed_transfer;
      }
      return locality == Locality::link ? PartId::exposed_transfer : PartId::imbalance_wait;
    case Family::imbalance:
    case Family::healthy:
    case Family::mixed:
    case Family::inconclusive:
      break;
  }
  return PartId::imbalance_wait;
}

std::vector<PartId> blamed_parts(const Diagnosis& diagnosis) {
  const Verdict& verdict = diagnosis.verdict;
  const bool has_mfu = diagnosis.headline.mfu.has_value();
  std::vector<PartId> parts;
  if (verdict.family == Family::healthy || verdict.family == Family::inconclusive) return parts;
  if (verdict.family != Family::mixed) {
    parts.push_back(
        part_of(verdict.family, diagnosis.detail->verdict_facts, verdict.locality, has_mfu));
    return parts;
  }
  for (const Family family : verdict.families) {
    const Finding* finding = finding_for(diagnosis, family);
    parts.push_back(finding != nullptr ? part_of(family, finding->facts, finding->locality, has_mfu)
                                       : part_of(family, diagnosis.detail->verdict_facts,
                                                 verdict.locality, has_mfu));
  }
  return parts;
}

std::vector<PartText> part_texts_of(const Diagnosis& diagnosis) {
  const std::vector<PartId> blamed = blamed_parts(diagnosis);
  const double step = diagnosis.headline.step_seconds;
  const double efficiency = diagnosis.headline.mfu.value_or(diagnosis.headline.parallel_efficiency);
  std::vector<PartText> texts;
  for (const Part& part : diagnosis.parts) {
    PartText text;
    text.label = part_label(part.id);
    if (const Factor* factor = factor_of(diagnosis, part.id)) text.factor = factor->value;
    const bool useful = part.id == PartId::model_math || part.id == PartId::compute;
    if (!useful && part.seconds > 0 && part.seconds < step) {
      text.efficiency_without = efficiency * step / (step - part.seconds);
    }
    text.blamed = std::find(blamed.begin(), blamed.end(), part.id) != blamed.end();
    texts.push_back(std::move(text));
  }
  return texts;
}

WordingContext context_for(const Diagnosis& diagnosis, Locality locality, Culprits culprits) {
  // The verdict line already says where a rank is.
  if (locality == Locality::rank) culprits.nodes.clear();
  return {subject_of(locality, culprits, diagnosis.detail->setup.stages), locality,
          diagnosis.detail->setup.recorded_ranks, diagnosis.detail->materiality,
          diagnosis.detail->communication_materiality};
}

std::vector<std::string> sentences(const std::vector<Fact>& facts, const WordingContext& context) {
  std::vector<std::string> lines;
  for (const Fact& fact : facts) lines.push_back(fact_sentence(fact, context));
  return lines;
}

// The factor of the product that a fix moves.
FactorId factor_aimed_at(PartId part) {
  switch (part) {
    case PartId::own_stall:
      return FactorId::own_stall;
    case PartId::exposed_transfer:
      return FactorId::transfer;
    case PartId::imbalance_wait:
      return FactorId::balance;
    default:
      return FactorId::single_gpu;
  }
}

// In advice a stage is named without the number of stages.
Subject doer_subject(Locality locality, const Culprits& culprits) {
  return subject_of(locality, culprits, 0);
}

FindingText text_of(const Diagnosis& diagnosis, const Finding& finding, const Conditions& of_job) {
  const Conditions conditions = conditions_for(of_job, finding.facts, finding.health);
  const WordingContext context = context_for(diagnosis, finding.locality, finding.culprits);
  const Advice advice =
      advice_for(finding.family, finding.cause, finding.locality, finding.persistence,
                 doer_subject(finding.locality, finding.culprits), conditions);
  FindingText text;
  text.code = std::string(to_string(finding.family));
  text.code += "/" + std::string(to_string(finding.locality));
  if (finding.persistence != Persistence::none) {
    text.code += "/" + std::string(to_string(finding.persistence));
  }
  text.evidence = sentences(finding.facts, context);
  for (const HealthFact& fact : finding.health) {
    text.health.push_back(
        health_sentence(fact, context.subject, finding.locality == Locality::all));
    if (fact.stance == Stance::supports) text.evidence.push_back(text.health.back());
  }
  text.actions = advice.actions;
  text.owner = advice.owner;
  text.verify = verify_command(factor_aimed_at(part_of(
      finding.family, finding.facts, finding.locality, diagnosis.headline.mfu.has_value())));
  return text;
}

void append_missing(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& line : from) {
    if (std::find(to.begin(), to.end(), line) == to.end()) to.push_back(line);
  }
}

// Mixed: the words of each family's own finding, since their places differ.
void describe_mixed(DiagnoseSection& section, const Diagnosis& diagnosis,
                    const Conditions& conditions) {
  const Verdict& verdict = diagnosis.verdict;
  for (const Family family : verdict.families) {
    const Finding* finding = finding_for(diagnosis, family);
    if (finding == nullptr) continue;
    const FindingText text = text_of(diagnosis, *finding, conditions);
    if (section.verify.empty()) section.verify = text.verify;
    append_missing(section.why, text.evidence);
    append_missing(section.actions, text.actions);
    if (section.owner.find(text.owner) == std::string::npos) {
      section.owner += (section.owner.empty() ? "" : "; ") + text.owner;
    }
    const Advice advice =
        advice_for(family, finding->cause, finding->locality, finding->persistence,
                   doer_subject(finding->locality, finding->culprits),
                   conditions_for(conditions, finding->facts, finding->health));
    section.refuted_by += (section.refuted_by.empty() ? "" : "; or ") + advice.refuted_by;
  }
}

void describe_verdict(DiagnoseSection& section, const Diagnosis& diagnosis,
                      const Conditions& conditions) {
  const Verdict& verdict = diagnosis.verdict;
  section.verdict_line = verdict_line_of(diagnosis);
  section.one_line = one_line_of(diagnosis);
  section.worth = worth_of(diagnosis);
  section.also = also_of(diagnosis);
  if (verdict.family == Family::mixed) describe_mixed(section, diagnosis, conditions);
  const WordingContext context = context_for(diagnosis, verdict.locality, verdict.culprits);
  section.health = health_texts(diagnosis, context.subject);
  if (section.why.empty()) {
    section.why = sentences(diagnosis.detail->verdict_facts, context);
    for (std::size_t i = 0; i < diagnosis.detail->verdict_health.size(); ++i) {
      if (diagnosis.detail->verdict_health[i].stance == Stance::supports) {
        section.why.push_back(section.health.facts[i]);
      }
    }
  }
  for (const Family family : verdict.families) {
    section.reading_owners.push_back(
        advice_for(family, Cause::none, verdict.locality, verdict.persistence,
                   doer_subject(verdict.locality, verdict.culprits), conditions)
            .owner);
  }
  if (verdict.family == Family::inconclusive) {
    section.actions = deciding_measurements(diagnosis.detail->verdict_facts);
    section.owner = "measurement";
    section.recoverable_missing = "no verdict, so nothing to recover yet";
  } else if (verdict.family == Family::healthy) {
    if (!diagnosis.headline.mfu) section.actions = {section.mfu_missing};
    section.refuted_by = "the recorded steps or ranks are not representative of the run";
    section.recoverable_missing = "nothing material to recover";
  } else if (verdict.family != Family::mixed) {
    const Advice advice =
        advice_for(verdict.family, verdict.cause, verdict.locality, verdict.persistence,
                   doer_subject(verdict.locality, verdict.culprits),
                   conditions_for(conditions, diagnosis.detail->verdict_facts,
                                  diagnosis.detail->verdict_health));
    section.verify = verify_command(
        factor_aimed_at(part_of(verdict.family, diagnosis.detail->verdict_facts, verdict.locality,
                                diagnosis.headline.mfu.has_value())));
    section.actions = advice.actions;
    section.owner = advice.owner;
    section.refuted_by = advice.refuted_by;
  }
  if (verdict.recoverable) {
    section.recoverable_missing.clear();
  } else if (section.recoverable_missing.empty()) {
    section.recoverable_missing = "the data do not allow a counterfactual";
  }
}

// For the words alone: the reader of a slow rank's name wants to know where it is.
Diagnosis with_nodes(Diagnosis diagnosis, const RunTimings& run) {
  const auto add_nodes = [&run](Locality locality, Culprits& culprits) {
    if (locality != Locality::rank || !culprits.nodes.empty()) return;
    for (const std::int64_t rank : culprits.ranks) {
      const auto found = std::lower_bound(
          run.ranks.begin(), run.ranks.end(), rank,
          [](const RankInfo& info, std::int64_t wanted) { return info.rank < wanted; });
      if (found == run.ranks.end() || found->rank != rank || found->node.empty()) continue;
      if (std::find(culprits.nodes.begin(), culprits.nodes.end(), found->node) ==
          culprits.nodes.end()) {
        culprits.nodes.push_back(found->node);
      }
    }
  };
  add_nodes(diagnosis.verdict.locality, diagnosis.verdict.culprits);
  for (Finding& finding : diagnosis.detail->findings) add_nodes(finding.locality, finding.culprits);
  return diagnosis;
}

}  // namespace

DiagnoseSection describe_diagnose(Diagnosis diagnosis, const RunTimings& run, const WorthAsk& ask) {
  (void)detail_of(diagnosis);  // throws
  DiagnoseSection section;
  const Diagnosis d = with_nodes(diagnosis, run);
  section.diagnosis = std::move(diagnosis);
  section.title = title_of(d.detail->setup, run);
  section.steps_line = steps_line_of(d);
  section.status = status_of(d.headline);
  section.impossible_because = explain_impossible(d);
  section.part_texts = part_texts_of(d);
  section.fingerprint = fingerprint_of(d.detail->setup);
  section.counts = counts_of(d.detail->setup);
  if (const Boxed<CountedWork>& counted = d.detail->setup.counted) {
    section.params = counted->params;
    section.active_params = counted->active_params;
    section.shape = counted->shape;
    const std::optional<double>& mfu = d.headline.mfu;
    if (mfu && counted->hardware_share) section.hfu = *mfu * *counted->hardware_share;
  }
  section.mfu_missing = mfu_missing_of(d.headline);
  const Conditions conditions = conditions_of(d, run);
  for (const Finding& finding : d.detail->findings) {
    section.finding_texts.push_back(text_of(d, finding, conditions));
  }
  describe_verdict(section, d, conditions);
  const Certainty certainty = certainty_of(d, run);
  section.measured = certainty.measured;
  section.derived = certainty.derived;
  section.assumed = certainty.assumed;
  section.unseen = certainty.unseen;
  section.unmeasured = unmeasured_of(d);
  section.worth_table = describe_worth(d, ask);
  section.spread = spread_of(section.diagnosis.detail->terms);
  section.trace = describe_trace(run);
  section.replay = describe_replay(run, section.diagnosis);
  return section;
}

Report describe(const Diagnosis& diagnosis, const RunTimings& run) {
  Report report = report_of("diagnose");
  report.diagnose = describe_diagnose(diagnosis, run);
  report.diagnose->references = placed_among_references(*report.diagnose);
  return report;
}

}  // namespace mfu
