// What each command measured, as one side of a comparison.
#include "report/compare/sides.hpp"

#include <utility>

#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "diagnose/detail.hpp"
#include "measure/log_summary.hpp"
#include "mfu/compare.hpp"
#include "mfu/report.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/instrument.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/log_section.hpp"

namespace mfu {
namespace {

using Value = std::optional<double>;

void take_setup(Side& side, const CalcSection& section) {
  const Calculation& c = section.calculation;
  const CalcInput& input = c.input;
  side.status = section.status;
  side.fingerprint = section.fingerprint;
  if (input.peak) {
    side.peak_flops_per_gpu = input.peak->flops;
    if (input.peak->chip != nullptr) side.chip = std::string(input.peak->chip->id);
  }
  if (input.model) {
    side.model = input.model->name;
    side.shape = input.model;
  }
  side.params = input.params;
  if (!side.params && c.parameters) side.params = c.parameters->total;
  side.seq_len = input.seq_len;
  side.global_batch = input.batch;
  side.tokens_per_step = c.tokens_per_step;
  side.gpus = input.gpus;
  side.microbatches = input.accumulation;
  if (input.switches.recompute) {
    switch (*input.switches.recompute) {
      case RecomputeCount::none:
        side.recompute = "none";
        break;
      case RecomputeCount::selective:
        side.recompute = "selective";
        break;
      default:
        side.recompute = "full";
    }
  }
  for (const ConventionResult& result : c.results) {
    if (!result.flops_per_token) continue;
    side.counts.push_back(
        {std::string(result.convention->id), result.settings, *result.flops_per_token});
  }
  if (!c.results.empty() && c.results.front().flops_per_token && c.tokens_per_step) {
    side.flops_per_step = *c.results.front().flops_per_token * *c.tokens_per_step;
  }
}

}  // namespace

Side side_of(const DiagnoseSection& section, std::string name) {
  Side side = side_of(section.diagnosis);
  side.name = std::move(name);
  side.status = section.status;
  side.fingerprint = section.fingerprint;
  side.params = section.params;
  side.counts = section.counts;
  side.shape = section.shape;
  if (section.spread) {
    side.relative_ci = section.spread->step;
    for (std::size_t k = 0; k < side.factors.size() && k < section.spread->factors.size(); ++k) {
      side.factors[k].relative_ci = section.spread->factors[k];
    }
  }
  return side;
}

Side side_of(const CalcSection& section, std::string name) {
  const Calculation& c = section.calculation;
  Side side;
  side.name = std::move(name);
  side.measure = Measure::single;
  take_setup(side, section);
  side.mfu = c.mfu();
  side.step_seconds = c.step_seconds;
  side.tokens_per_second_per_gpu = c.tokens_per_second_per_gpu;
  side.steps = 1;
  return side;
}

Side side_of(const LogSection& section, std::string name) {
  const Calculation& c = section.calc.calculation;
  const LogSummary& s = section.summary;
  Side side;
  side.name = std::move(name);
  side.measure = Measure::log;
  take_setup(side, section.calc);
  for (const auto& [axis, size] : section.parallel) side.layout[axis] = size;
  side.steps = s.used;
  // The calculation is that of the headline's statistic; what the job gets is the mean.
  const auto at = [&](const Value& headline, double cost) {
    return headline ? Value(*headline * s.cost / cost) : Value{};
  };
  side.mfu = at(c.mfu(), s.mean_cost);
  side.tokens_per_second_per_gpu = at(c.tokens_per_second_per_gpu, s.mean_cost);
  side.statistic = s.statistic;
  side.headline_mfu = c.mfu();
  side.headline_step_seconds = section.headline_seconds;
  side.headline_relative = section.headline_relative;
  side.step_seconds = section.mean_seconds;
  side.usual_step_seconds = section.p50_seconds;
  const double usual = section.p50_seconds.value_or(s.median_cost);
  const double mean = section.mean_seconds.value_or(s.mean_cost);
  SideFactor usual_step;
  usual_step.id = "usual_step";
  usual_step.value = at(c.mfu(), s.median_cost);
  usual_step.seconds = usual;
  usual_step.relative_ci = s.median_relative();
  SideFactor slow_steps;
  slow_steps.id = "slow_steps";
  slow_steps.value = s.median_cost / s.mean_cost;
  slow_steps.seconds = mean - usual;
  if (section.spread) {
    slow_steps.relative_ci = section.spread->slow_steps;
    side.relative_ci = section.spread->mean;
  }
  side.factors = {std::move(usual_step), std::move(slow_steps)};
  side.costs = s.costs;
  side.weights = s.weights;
  return side;
}

Comparison compare(const Diagnosis& before, const Diagnosis& after, const CompareOptions& options) {
  const auto side = [](const Diagnosis& diagnosis, std::string name) {
    const Setup& setup = detail_of(diagnosis).setup;
    Side made = side_of(diagnosis);
    made.name = std::move(name);
    made.status = status_of(diagnosis.headline);
    made.fingerprint = fingerprint_of(setup);
    made.counts = counts_of(setup);
    if (setup.counted) {
      made.params = setup.counted->params;
      made.shape = setup.counted->shape;
    }
    return made;
  };
  return compare(side(before, "before"), side(after, "after"), options);
}

}  // namespace mfu
