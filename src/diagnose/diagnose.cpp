#include "mfu/diagnose.hpp"

#include <algorithm>
#include <cmath>

#include "base/note_code.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/devices/health.hpp"
#include "diagnose/fit/factors.hpp"
#include "diagnose/fit/setup.hpp"
#include "diagnose/verdict.hpp"
#include "diagnose/worth/end_state.hpp"
#include "diagnose/worth/fix_chain.hpp"
#include "diagnose/worth/placement.hpp"

namespace mfu {

namespace {

using namespace diagnosis;

constexpr double kBucketTolerance = 0.02;  // between a rank's step and the sum of its buckets
constexpr double kStepSpread = 0.05;       // between the ranks' steps

// The rules in the order in which their fixes are applied: single places first, then what all
// share, then uneven work, last the kernels. A new rule is one function and one line here.
using Rule = void (*)(RuleContext&);
constexpr Rule kRules[] = {
    find_slow_compute,      find_slow_link,    find_slow_stall,
    find_microbatch_spread, find_common_stall, find_imbalance,
    find_exposed_transfer,  find_slowdown,     find_low_efficiency,
};

void note_sums(const Job& job, Notes& notes) {
  const RunTimings& run = job.run();
  if (job.step_spread() > kStepSpread) {
    notes.add(NoteCode::uneven_steps,
              "the ranks' own step times differ by more than 5 %; the median rank's is used");
  }
  if (run.step.empty()) return;
  std::int64_t off = 0;
  std::string first;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const double wall = job.raw(run.step, s)[r];
      double sum = job.compute(s)[r] + job.comm(s)[r] + job.stall(s)[r];
      if (!run.wait.empty()) sum += job.raw(run.wait, s)[r];
      if (std::isnan(wall) || std::isnan(sum) || std::fabs(wall - sum) <= kBucketTolerance * wall) {
        continue;
      }
      if (off++ == 0) {
        first = "rank " + std::to_string(run.ranks[r].rank) + ", step " +
                std::to_string(job.step_id(s));
      }
    }
  }
  if (off > 0) {
    notes.add(NoteCode::unattributed_time,
              "the buckets do not add up to the step within 2 %; the difference is shown as "
              "unattributed",
              Place{.what = first}, off);
  }
}

// Ranks (numbers) without any compute in a job that computes: their kernels were not recorded.
std::vector<std::int64_t> ranks_without_kernels(const RunTimings& run) {
  std::vector<std::int64_t> lost;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    bool computes = false;
    for (std::size_t s = 0; s < run.steps.size() && !computes; ++s) {
      computes = run.compute.at(s, r) > 0.0;
    }
    if (!computes) lost.push_back(run.ranks[r].rank);
  }
  if (lost.size() == run.ranks.size()) lost.clear();
  return lost;
}

// The run without them, as a job that has them all the same.
RunTimings without_ranks(const RunTimings& run, const std::vector<std::int64_t>& lost,
                         Notes& notes) {
  Selection selection;
  std::string names;
  for (const RankInfo& info : run.ranks) {
    if (std::find(lost.begin(), lost.end(), info.rank) == lost.end()) {
      selection.ranks.push_back(info.rank);
    } else {
      names += (names.empty() ? "rank " : ", ") + std::to_string(info.rank);
    }
  }
  RunTimings rest = select(run, selection, notes);
  if (!rest.hardware.count) rest.hardware.count = static_cast<std::int64_t>(run.ranks.size());
  notes.add(NoteCode::ranks_without_kernels,
            "no compute was recorded on some ranks: they are left out, as ranks that nobody sees",
            Place{.what = names}, static_cast<std::int64_t>(lost.size()));
  return rest;
}

}  // namespace

const DiagnosisDetail& detail_of(const Diagnosis& diagnosis) {
  if (!diagnosis.detail) {
    throw Error(ErrorKind::usage, "this diagnosis was not made by diagnose()", {},
                "only the whole result of diagnose() can be described and compared");
  }
  return *diagnosis.detail;
}

Diagnosis diagnose(const RunTimings& run, const DiagnoseOptions& options, Notes& notes) {
  if (const auto lost = ranks_without_kernels(run); !lost.empty()) {
    Diagnosis rest = diagnose(without_ranks(run, lost, notes), options, notes);
    rest.detail->without_compute = lost;
    return rest;
  }
  Diagnosis result;
  DiagnosisDetail& detail = result.detail.emplace();
  detail.setup = resolve_setup(run, options, notes);
  detail.target_efficiency = options.target_efficiency;
  detail.materiality = options.materiality;
  detail.communication_materiality = options.communication_materiality;
  detail.waits_in = run.waits_in;

  Job job(run, notes);
  if (options.drop_warmup) detail.warmup_steps = job.drop_warmup(notes);
  note_sums(job, notes);
  detail.setup.stages = job.stages();
  for (std::size_t s = 0; s < job.steps(); ++s) detail.steps_used.push_back(job.step_id(s));

  PipelineForm form(job);
  const Attribution attribution = attribute(job, form);
  detail.split = attribution.method;
  detail.waits_unknown = waits_unknown(job);
  if (attribution.waits_elsewhere) {
    notes.add(NoteCode::waits_elsewhere,
              run.waits_in == WaitsIn::comm ? "waits_in says comm, but the idle time is in stall: "
                                              "the waits are read from stall"
                                            : "waits_in says stall, but the idle time is in comm: "
                                              "the waits are read from comm",
              Place{.what = "waits_in"});
  }
  if (waits_unknown(job)) {
    notes.add(NoteCode::waits_unknown,
              "one rank of several was recorded: whom it waits for, and how long, is not known; "
              "waiting is in exposed transfer",
              Place{.what = "rank " + std::to_string(run.ranks.front().rank)});
  }
  StepModel model(job, attribution, form);
  RuleContext context{model, options, detail.setup, detail.steps_used, model.measured(),
                      {},    {},      0.0};
  for (const Rule rule : kRules) rule(context);
  price_alone(context);
  add_health_evidence(context);
  mark_what_is_gone(context);
  count_from_onset(context);

  Accounts accounts = account(model, detail.setup);
  result.factors = std::move(accounts.factors);
  result.parts = std::move(accounts.parts);
  detail.terms = std::move(accounts.terms);
  result.headline = accounts.headline;
  judge(context, result);
  detail.placement = placement_of(job);
  detail.worth = worth_of_fixes(context, result.headline);
  if (detail.worth) detail.end_state = end_state_of(context, result.headline);
  detail.health = survey(job, detail.setup, detail.findings);
  return result;
}

}  // namespace mfu
