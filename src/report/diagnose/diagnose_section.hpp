// A diagnosis as a report holds it: numbers and finished sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/side.hpp"
#include "compare/term_spread.hpp"
#include "diagnose/detail.hpp"
#include "measure/fingerprint.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/model.hpp"
#include "mfu/timings.hpp"
#include "report/diagnose/trace_section.hpp"
#include "report/diagnose/worth_section.hpp"
#include "report/measure/references_section.hpp"

namespace mfu {

// A finding with its words.
struct FindingText {
  std::string code;  // "straggler/rank/steady"
  std::vector<std::string> evidence;
  std::vector<std::string> health;  // one for each fact of the finding's health
  std::vector<std::string> actions;
  std::string owner;
  std::string verify;  // the command that tells afterwards whether it helped
};

// What the devices' telemetry says, in words.
struct HealthTexts {
  std::vector<std::string> facts;    // one for each fact of the verdict's health
  std::vector<std::string> checked;  // the same, short: what speaks against, what was not measured
  std::string clock;                 // the split of single-GPU efficiency; empty: no clock
  std::vector<std::string> remarks;  // one for each of health.remarks
  std::string two_modes;             // steps of two kinds; empty: they are of one
};

// What nobody recorded, on which ranks, and how that is known.
struct Unmeasured {
  std::string what, where, why;
};

// One row of the table of parts.
struct PartText {
  std::string label;                         // "waiting for slower ranks"
  std::optional<double> factor;              // the factor of the product that this part is
  std::optional<double> efficiency_without;  // MFU (else parallel efficiency) if the part were 0
  bool blamed = false;                       // the verdict points at it
};

struct DiagnoseSection {
  Diagnosis diagnosis;
  std::string title;                            // model, GPUs, peak
  std::string steps_line;                       // which steps
  CalcStatus status = CalcStatus::no_model;     // no_model: no work
  std::vector<std::string> impossible_because;  // an MFU over 1: what explains it, likeliest first
  std::vector<PartText> part_texts;             // one for each of diagnosis.parts
  Fingerprint fingerprint;
  std::optional<double> hfu;     // MFU x hardware / model FLOPs, where recomputation is known
  std::optional<double> params;  // of the model that the work was counted from
  std::optional<double> active_params;  // of these, what one token goes through
  std::string mfu_missing;              // why there is no MFU, and what would give it; else empty
  std::string recoverable_missing;      // why the verdict has no recoverable step; else empty
  std::string verdict_line;             // "stall (input), all ranks, steady; confidence 0.98"
  std::string one_line;                 // "stall all ranks steady -23.1 % of the step conf 0.98"
  std::vector<std::string> also;        // other material findings, one line each
  std::vector<std::string> why;         // evidence of the verdict
  std::string worth;                    // "9.4 MFU points (31.4 -> 40.8 %), 12.90 -> 9.92 s a step"
  std::vector<std::string> actions;
  std::string owner;
  std::vector<std::string> reading_owners;  // one for each of the verdict's families
  std::string verify;  // the command that tells afterwards whether it helped; empty: nothing to do
  std::string refuted_by;
  std::vector<FindingText> finding_texts;          // one for each the findings
  std::string measured, derived, assumed, unseen;  // how sure
  std::vector<Unmeasured> unmeasured;
  std::optional<WorthSection> worth_table;
  HealthTexts health;
  std::optional<TermSpread> spread;     // how sure the mean step and the factors are
  std::vector<SideCount> counts;        // FLOPs of a token, where they are known
  std::optional<ModelShape> shape;      // that the work was counted from
  std::optional<ReplaySection> replay;  // where the run comes from a timeline
  std::optional<TraceSection> trace;    // where the run comes from traces
  std::optional<ReferencesSection> references;
};

// Words and numbers of a diagnosis. Pure.
[[nodiscard]] DiagnoseSection describe_diagnose(Diagnosis diagnosis, const RunTimings& run,
                                                const WorthAsk& ask = {});

}  // namespace mfu
