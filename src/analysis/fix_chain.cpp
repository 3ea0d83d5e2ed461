#include "analysis/fix_chain.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/robust.hpp"

namespace mfu::analysis {

namespace {

constexpr std::array kFamilies{Family::straggler, Family::stall, Family::communication,
                               Family::imbalance, Family::single_gpu_efficiency};

FixStage stage_of(Family family) {
  switch (family) {
    case Family::imbalance:
      return FixStage::balanced;
    case Family::single_gpu_efficiency:
      return FixStage::gpu_at_target;
    default:
      return FixStage::bursts_and_links;
  }
}

using Fixes = std::vector<const Candidate*>;

Fixes of_family(const RuleContext& context, Family family) {
  Fixes fixes;
  for (const Candidate& candidate : context.found) {
    if (candidate.finding.family == family) fixes.push_back(&candidate);
  }
  return fixes;
}

bool is_material(const RuleContext& context, const Candidate& candidate) {
  return mean(candidate.loss) >= candidate.materiality * context.mean_step();
}

bool in_order(const RuleContext& context, const Candidate& candidate) {
  const bool own_cost = candidate.finding.family == Family::communication &&
                        candidate.finding.persistence == Persistence::steady;
  return !own_cost || is_material(context, candidate);
}

double seconds_of(const Fixes& fixes) {
  Sum total;
  for (const Candidate* fix : fixes) total.add(mean(fix->loss));
  return total.value();
}

double saved_between(RuleContext& context, const Scenario& before, const Scenario& after) {
  return mean(difference(context.model.steps_under(before), context.model.steps_under(after)));
}

// Seconds of a step that `fixes` take off as such, since they change no compute.
double plain_seconds(const Fixes& fixes) {
  Fixes plain;
  for (const Candidate* candidate : fixes) {
    if (!candidate->fix) plain.push_back(candidate);
  }
  return seconds_of(plain);
}

void apply(const Fixes& fixes, Scenario& scenario) {
  for (const Candidate* candidate : fixes) {
    if (candidate->fix) candidate->fix(scenario);
  }
}

// Evening while a slow place stays slow: the work is moved, what the slow place adds stays with it.
// The rule itself looks at a job whose slow places are put right.
double balance_alone(RuleContext& context, const Fixes& fixes) {
  const std::size_t local = context.local_fixed.compute.size();
  if (local == 0) return seconds_of(fixes);
  Scenario even = context.local_fixed;
  apply(fixes, even);
  Scenario alone = context.model.measured();
  alone.spread = even.spread;
  alone.compute.push_back([edits = std::move(even.compute), local, work = std::vector<double>()](
                              std::size_t step, std::span<double> row) mutable {
    work.assign(row.begin(), row.end());
    for (std::size_t i = 0; i < local; ++i) edits[i](step, work);
    for (std::size_t r = 0; r < row.size(); ++r) row[r] -= work[r];  // what the slow place adds
    for (std::size_t i = local; i < edits.size(); ++i) edits[i](step, work);
    for (std::size_t r = 0; r < row.size(); ++r) row[r] += work[r];
  });
  return saved_between(context, context.model.measured(), alone) + plain_seconds(fixes);
}

// Mean over the steps of the median rank's compute.
double compute_level(RuleContext& context, const Scenario& scenario) {
  Sum total;
  for (std::size_t s = 0; s < context.job().steps(); ++s) {
    total.add(median(context.model.compute_row(scenario, s)));
  }
  return total.value() / static_cast<double>(context.job().steps());
}

// A run that slows down and has slow kernels as well is not made faster than its target by both
// fixes: each further one only goes as far as its own level asks for.
void apply_gpu_fixes(RuleContext& context, const Fixes& fixes, Scenario& scenario) {
  Scenario so_far = context.local_fixed;
  bool first = true;
  for (const Candidate* candidate : fixes) {
    if (!candidate->fix) continue;
    if (std::exchange(first, false)) {
      candidate->fix(so_far);
      candidate->fix(scenario);
      continue;
    }
    Scenario alone = context.local_fixed;
    candidate->fix(alone);
    const double asked = compute_level(context, alone);
    const double reached = compute_level(context, so_far);
    if (!(asked < reached)) continue;
    const RowEdit rest = [factor = asked / reached](std::size_t, std::span<double> row) {
      for (double& value : row) value *= factor;
    };
    so_far.compute.push_back(rest);
    scenario.compute.push_back(rest);
  }
}

double gpu_alone(RuleContext& context, const Fixes& fixes) {
  if (fixes.size() == 1) return seconds_of(fixes);
  Scenario alone = context.model.measured();
  apply_gpu_fixes(context, fixes, alone);
  return mean(context.loss_under(alone)) + plain_seconds(fixes);
}

double saved_alone(RuleContext& context, Family family, const Fixes& fixes) {
  if (family == Family::imbalance) return balance_alone(context, fixes);
  if (family == Family::single_gpu_efficiency) return gpu_alone(context, fixes);
  return seconds_of(fixes);
}

// What the GPUs at their target save when stalls are gone and the work is even.
double gpu_after_balance(RuleContext& context, const Fixes& balance, const Fixes& fixes) {
  Scenario even = context.local_fixed;
  apply(balance, even);
  even.own_stall.push_back(
      [](std::size_t, std::span<double> row) { std::fill(row.begin(), row.end(), 0.0); });
  Scenario at_target = even;
  apply_gpu_fixes(context, fixes, at_target);
  return saved_between(context, even, at_target) + plain_seconds(fixes);
}

double saved_in_order(RuleContext& context, Family family, const Fixes& fixes) {
  if (family == Family::single_gpu_efficiency) {
    return gpu_after_balance(context, of_family(context, Family::imbalance), fixes);
  }
  return seconds_of(fixes);
}

}  // namespace

std::optional<FixWorth> worth_of_fixes(RuleContext& context, const Headline& headline) {
  FixWorth worth;
  const double actual = headline.step_seconds;
  const auto mfu_at = [&](double step) -> std::optional<double> {
    if (!headline.mfu) return std::nullopt;
    return *headline.mfu * (actual / step);
  };
  constexpr std::array kStages{FixStage::actual, FixStage::bursts_and_links, FixStage::balanced,
                               FixStage::gpu_at_target};
  std::array<double, 4> saved{};
  for (std::size_t k = 0; k < kStages.size(); ++k) worth.chain[k].stage = kStages[k];

  for (const Family family : kFamilies) {
    const Fixes fixes = of_family(context, family);
    if (fixes.empty()) continue;
    Fixes ordered;
    std::copy_if(fixes.begin(), fixes.end(), std::back_inserter(ordered),
                 [&](const Candidate* candidate) { return in_order(context, *candidate); });
    FamilyWorth entry;
    entry.family = family;
    // Evening the others can lengthen the slow place's step: then nobody would do that alone.
    entry.step_seconds = actual - std::max(0.0, saved_alone(context, family, fixes));
    if (!(entry.step_seconds > 0.0)) return std::nullopt;
    entry.mfu = mfu_at(entry.step_seconds);
    entry.material = std::any_of(fixes.begin(), fixes.end(), [&](const Candidate* candidate) {
      return is_material(context, *candidate);
    });
    if (!ordered.empty()) {
      entry.in_order_seconds = std::max(0.0, saved_in_order(context, family, ordered));
      const auto k = static_cast<std::size_t>(stage_of(family));
      saved[k] += entry.in_order_seconds;
      worth.chain[k].families.push_back(family);
    }
    worth.alone.push_back(entry);
  }
  std::stable_sort(
      worth.alone.begin(), worth.alone.end(),
      [](const FamilyWorth& a, const FamilyWorth& b) { return a.step_seconds < b.step_seconds; });

  double step = actual;
  for (std::size_t k = 0; k < worth.chain.size(); ++k) {
    ChainStep& link = worth.chain[k];
    const double before = step;
    step -= saved[k];
    if (!(step > 0.0)) return std::nullopt;
    link.step_seconds = step;
    link.ratio = step / before;
    link.mfu = mfu_at(step);
  }
  return worth;
}

}  // namespace mfu::analysis

namespace mfu {

Cost cost_of(double saved_seconds, const CostBasis& basis) noexcept {
  constexpr double kHour = 3600.0;
  Cost cost;
  const auto gpus = static_cast<double>(basis.gpus);
  if (basis.step_seconds > 0.0) {
    cost.gpu_hours_a_day = 24.0 * gpus * (saved_seconds / basis.step_seconds);
  }
  if (basis.steps_left) {
    cost.seconds_left = saved_seconds * *basis.steps_left;
    cost.gpu_hours_left = *cost.seconds_left * gpus / kHour;
  }
  if (basis.price_per_gpu_hour) {
    cost.money_a_day = cost.gpu_hours_a_day * *basis.price_per_gpu_hour;
    if (cost.gpu_hours_left) cost.money_left = *cost.gpu_hours_left * *basis.price_per_gpu_hour;
  }
  return cost;
}

}  // namespace mfu
