// A hand-made diagnosis: the numbers of a 64-GPU job that waits for its input.
#pragma once

#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/report.hpp"
#include "mfu/timings.hpp"
#include "report/diagnose/diagnose_section.hpp"

namespace mfu::example {

// T = 12.90 s; model math, kernels, balance, stall, transfer, dependency in that order.
inline Diagnosis stalled_by_input() {
  Diagnosis d;
  d.detail.emplace();
  d.detail->setup.model = "llama-3.1-8b";
  d.detail->setup.chip_id = "h100-sxm5-80gb";
  d.detail->setup.chip_name = "H100 SXM";
  d.detail->setup.gpus = 64;
  d.detail->setup.recorded_ranks = 64;
  d.detail->setup.expected_ranks = 64;
  d.detail->setup.precision = "bf16";
  d.detail->setup.peak_flops_per_gpu = 989.4e12;
  d.detail->setup.clock_mhz = 1830.0;
  d.detail->setup.convention = "palm";
  d.detail->setup.tokens_per_step = 4194304.0;

  const double step = 12.9;
  const double seconds[] = {4.0472, 2.2913, 1.4041, 2.9771, 1.3502, 0.4001, 0.43};
  const PartId ids[] = {PartId::model_math,  PartId::kernels_below_peak, PartId::imbalance_wait,
                        PartId::own_stall,   PartId::exposed_transfer,   PartId::pipeline_bubble,
                        PartId::unattributed};
  for (int i = 0; i < 7; ++i) d.parts.push_back({ids[i], seconds[i], seconds[i] / step});
  const double a0 = seconds[0] + seconds[1];
  const double a1 = a0 + seconds[2];
  const double a2 = a1 + seconds[3];
  const double a3 = a2 + seconds[4];
  const double a4 = a3 + seconds[5];
  d.factors = {{FactorId::single_gpu, seconds[0] / a0, seconds[1], {}},
               {FactorId::balance,
                a0 / a1,
                seconds[2],
                {{FactorId::persistent, 0.9, 0.9, {}}, {FactorId::moving, a0 / a1 / 0.9, 0.5, {}}}},
               {FactorId::own_stall, a1 / a2, seconds[3], {}},
               {FactorId::transfer, a2 / a3, seconds[4], {}},
               {FactorId::dependency,
                a3 / step,
                seconds[5] + seconds[6],
                {{FactorId::schedule_bubble, a3 / a4, seconds[5], {}},
                 {FactorId::dependency_rest, a4 / step, seconds[6], {}}}}};
  d.headline.mfu = seconds[0] / step;
  d.headline.parallel_efficiency = a0 / step;
  d.headline.step_seconds = step;
  d.headline.p95_seconds = 13.71;
  d.headline.tokens_per_second = 4194304.0 / step;

  Finding stall;
  stall.family = Family::stall;
  stall.locality = Locality::all;
  stall.persistence = Persistence::steady;
  stall.cause = Cause::input;
  stall.loss_seconds = 2.98;
  stall.loss_ci = {2.9, 3.05};
  stall.material = true;
  stall.facts = {{FactKind::common_stall, 2.7, 3.3, 471, 480, ""}};
  Finding slow;
  slow.family = Family::straggler;
  slow.locality = Locality::rank;
  slow.culprits.ranks = {13};
  slow.culprits.nodes = {"n1"};
  slow.persistence = Persistence::steady;
  slow.loss_seconds = 0.9;
  slow.material = true;
  slow.facts = {{FactKind::compute_excess, 5.1, 4.2, 470, 480, ""}};
  d.detail->findings = {stall, slow};

  d.verdict.family = Family::stall;
  d.verdict.locality = Locality::all;
  d.verdict.persistence = Persistence::steady;
  d.verdict.cause = Cause::input;
  d.verdict.confidence = 0.98;
  d.verdict.recoverable = Recoverable{9.92, {9.8, 10.1}, 0.408};
  d.detail->verdict_facts = stall.facts;
  for (int s = 21; s <= 500; ++s) d.detail->steps_used.push_back(s);
  d.detail->warmup_steps = {19, 20};
  return d;
}

// The same job with neither work nor peak.
inline Diagnosis without_mfu() {
  Diagnosis d = stalled_by_input();
  d.detail->setup.peak_flops_per_gpu.reset();
  d.detail->setup.clock_mhz.reset();
  d.detail->setup.chip_id.clear();
  d.detail->setup.chip_name.clear();
  d.headline.mfu.reset();
  d.headline.missing_work = true;
  d.headline.missing_peak = true;
  d.factors.erase(d.factors.begin());
  d.parts[1].id = PartId::compute;
  d.parts[1].seconds += d.parts[0].seconds;
  d.parts[1].share += d.parts[0].share;
  d.parts.erase(d.parts.begin());
  d.verdict.recoverable->mfu.reset();
  return d;
}

inline RunTimings bare_run() {
  RunTimings run;
  run.ranks.resize(64);
  for (std::size_t r = 0; r < 64; ++r) run.ranks[r].rank = static_cast<std::int64_t>(r);
  return run;
}

inline Report report_on(Diagnosis diagnosis, const RunTimings& run = bare_run()) {
  Report report;
  report.tool_version = "0.0.0-test";
  report.command = "diagnose";
  report.inputs = {{"run.json", "mfu.run/1 json", 1234}};
  report.diagnose = describe_diagnose(std::move(diagnosis), run);
  return report;
}

}  // namespace mfu::example
