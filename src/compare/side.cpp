// A diagnosed run as one side of a comparison.
#include "compare/side.hpp"

#include <string>
#include <utility>

#include "diagnose/detail.hpp"
#include "diagnose/setup.hpp"
#include "mfu/compare.hpp"

namespace mfu {
namespace {

SideFactor factor_of(const Factor& factor) {
  SideFactor out;
  out.id = std::string(to_string(factor.id));
  out.value = factor.value;
  out.seconds = factor.loss_seconds;
  for (const Factor& part : factor.parts) out.parts.push_back(factor_of(part));
  return out;
}

}  // namespace

Side side_of(const Diagnosis& diagnosis) {
  const Setup& setup = diagnosis.detail->setup;
  const Headline& headline = diagnosis.headline;
  Side side;
  side.measure = Measure::run;
  side.status = headline.impossible ? CalcStatus::impossible : CalcStatus::ok;
  side.peak_flops_per_gpu = setup.peak_flops_per_gpu;
  side.reference = setup.reference == Reference::median ? "median" : "mean";
  side.split = to_string(diagnosis.detail->split);
  side.job = setup.job;
  side.model = setup.model;
  side.chip = setup.chip_id.empty() ? setup.chip_name : setup.chip_id;
  if (setup.recompute) side.recompute = to_string(*setup.recompute);
  side.seq_len = setup.seq_len;
  side.global_batch = setup.global_batch;
  side.tokens_per_step = setup.tokens_per_step;
  side.flops_per_step = setup.flops_per_step;
  if (setup.gpus > 0) side.gpus = static_cast<double>(setup.gpus);
  if (setup.nodes > 0) side.nodes = static_cast<double>(setup.nodes);
  if (setup.microbatches) side.microbatches = *setup.microbatches;
  side.stages = setup.stages;
  for (const Axis axis : kAxes) {
    if (const std::optional<int>& size = setup.parallelism[axis]) {
      side.layout[std::string(to_string(axis))] = *size;
    }
  }
  side.mfu = headline.mfu;
  side.step_seconds = headline.step_seconds;
  if (headline.tokens_per_second && setup.gpus > 0) {
    side.tokens_per_second_per_gpu = *headline.tokens_per_second / static_cast<double>(setup.gpus);
  }
  if (!headline.mfu) {
    // What the ranks compute, in seconds: its own speed, up to a constant.
    SideFactor compute;
    compute.id = std::string(to_string(FactorId::single_gpu));
    for (const Part& part : diagnosis.parts) {
      if (part.id == PartId::compute) compute.seconds = part.seconds;
    }
    side.factors.push_back(std::move(compute));
  }
  for (const Factor& factor : diagnosis.factors) {
    // Of one rank of several the balance is not known: it is the same on both sides then.
    if (factor.id == FactorId::own_stall && diagnosis.detail->waits_unknown) {
      side.factors.push_back(factor_of({FactorId::balance, 1.0, 0.0, {}}));
    }
    side.factors.push_back(factor_of(factor));
  }
  for (const Part& part : diagnosis.parts) {
    side.parts.push_back({std::string(to_string(part.id)), part.seconds});
  }
  side.steps = static_cast<std::int64_t>(diagnosis.detail->steps_used.size());
  side.terms = diagnosis.detail->terms;
  return side;
}

}  // namespace mfu
