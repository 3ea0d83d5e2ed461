#include "diagnose/worth/fix_chain.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "diagnose/worth/end_state.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr std::array kChainFamilies{Family::straggler, Family::stall, Family::communication,
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

bool is_gone(const Candidate& candidate) { return candidate.finding.gone_since_step.has_value(); }

// Bursts come back, whether or not the last steps hold one: they count as over the whole run.
bool comes_back(const Candidate& candidate) {
  return candidate.finding.persistence == Persistence::bursts && !is_gone(candidate);
}

// Worth of the fixes over the steps from `first` on.
class Worth {
 public:
  Worth(RuleContext& context, std::size_t first) : context_(context), first_(first) {}

  // Seconds of a step as it is.
  [[nodiscard]] double step_seconds() const {
    Sum step;
    step.add(mean_of(context_.job().step_seconds()));
    for (const Candidate& candidate : context_.found) {
      if (candidate.fix || !comes_back(candidate)) continue;
      step.add(mean(candidate.loss) - mean_of(candidate.loss));
    }
    return step.value();
  }
  [[nodiscard]] std::optional<FixWorth> of_all(double actual, const std::optional<double>& mfu);

 private:
  [[nodiscard]] double mean_of(std::span<const double> series) const {
    return mean(series.subspan(first_));
  }
  [[nodiscard]] double loss_of(const Candidate& candidate) const {
    return comes_back(candidate) && !candidate.fix ? mean(candidate.loss) : mean_of(candidate.loss);
  }

  [[nodiscard]] Fixes of_family(Family family) const {
    Fixes fixes;
    for (const Candidate& candidate : context_.found) {
      // What is gone needs no fix.
      if (first_ > 0 && is_gone(candidate)) continue;
      if (candidate.finding.family == family) fixes.push_back(&candidate);
    }
    return fixes;
  }

  [[nodiscard]] bool is_material(const Candidate& candidate) const {
    return loss_of(candidate) >= candidate.materiality * step_seconds();
  }

  [[nodiscard]] bool in_order(const Candidate& candidate) const {
    const bool own_cost = candidate.finding.family == Family::communication &&
                          candidate.finding.persistence == Persistence::steady;
    return !own_cost || is_material(candidate);
  }

  [[nodiscard]] double seconds_of(const Fixes& fixes) const {
    Sum total;
    for (const Candidate* fix : fixes) total.add(loss_of(*fix));
    return total.value();
  }

  [[nodiscard]] double saved_between(const Scenario& before, const Scenario& after) const {
    return mean_of(
        difference(context_.model.steps_under(before), context_.model.steps_under(after)));
  }

  // Seconds of a step that `fixes` take off as such, since they change no compute.
  [[nodiscard]] double plain_seconds(const Fixes& fixes) const {
    Fixes plain;
    for (const Candidate* candidate : fixes) {
      if (!candidate->fix) plain.push_back(candidate);
    }
    return seconds_of(plain);
  }

  static void apply(const Fixes& fixes, Scenario& scenario) {
    for (const Candidate* candidate : fixes) {
      if (candidate->fix) candidate->fix(scenario);
    }
  }

  [[nodiscard]] double balance_alone(const Fixes& fixes) const;
  [[nodiscard]] double compute_level(const Scenario& scenario) const;
  void apply_gpu_fixes(const Fixes& fixes, Scenario& scenario) const;
  [[nodiscard]] double gpu_alone(const Fixes& fixes) const;
  [[nodiscard]] double gpu_after_balance(const Fixes& fixes) const;

  [[nodiscard]] double saved_alone(Family family, const Fixes& fixes) const {
    if (family == Family::imbalance) return balance_alone(fixes);
    if (family == Family::single_gpu_efficiency) return gpu_alone(fixes);
    return seconds_of(fixes);
  }
  [[nodiscard]] double saved_in_order(Family family, const Fixes& fixes) const {
    return family == Family::single_gpu_efficiency ? gpu_after_balance(fixes) : seconds_of(fixes);
  }

  RuleContext& context_;
  std::size_t first_;
};

// Balancing while a slow place stays slow: work is moved, but what the slow place adds stays.
// The rule itself looks at a job whose slow places are put right.
double Worth::balance_alone(const Fixes& fixes) const {
  const std::size_t local = context_.local_fixed.compute.size();
  if (local == 0) return seconds_of(fixes);
  Scenario even = context_.local_fixed;
  apply(fixes, even);
  Scenario alone = context_.model.measured();
  alone.spread = even.spread;
  alone.compute.push_back([edits = std::move(even.compute), local, work = std::vector<double>()](
                              std::size_t step, std::span<double> row) mutable {
    work.assign(row.begin(), row.end());
    for (std::size_t i = 0; i < local; ++i) edits[i](step, work);
    for (std::size_t r = 0; r < row.size(); ++r) row[r] -= work[r];  // what the slow place adds
    for (std::size_t i = local; i < edits.size(); ++i) edits[i](step, work);
    for (std::size_t r = 0; r < row.size(); ++r) row[r] += work[r];
  });
  return saved_between(context_.model.measured(), alone) + plain_seconds(fixes);
}

// Mean over the steps of the median rank's compute.
double Worth::compute_level(const Scenario& scenario) const {
  std::vector<double> levels;
  for (std::size_t s = first_; s < context_.job().steps(); ++s) {
    levels.push_back(median(context_.model.compute_row(scenario, s)));
  }
  return mean(levels);
}

// Low clocks and slow kernels are two factors of one efficiency, so their fixes multiply. A run
// that slows down and has slow kernels as well is not made faster than its target by both: each
// further one only goes as far as its own level asks for.
void Worth::apply_gpu_fixes(const Fixes& fixes, Scenario& scenario) const {
  std::vector<Fixes> kinds;
  Fixes steady;
  for (const Candidate* candidate : fixes) {
    if (!candidate->fix) continue;
    if (candidate->finding.persistence == Persistence::steady) {
      steady.push_back(candidate);
    } else {
      kinds.push_back({candidate});
    }
  }
  if (!steady.empty()) kinds.push_back(std::move(steady));
  Scenario so_far = context_.local_fixed;
  bool first = true;
  for (const Fixes& kind : kinds) {
    if (std::exchange(first, false)) {
      apply(kind, so_far);
      apply(kind, scenario);
      continue;
    }
    Scenario alone = context_.local_fixed;
    apply(kind, alone);
    const double asked = compute_level(alone);
    const double reached = compute_level(so_far);
    if (!(asked < reached)) continue;
    const RowEdit rest = [factor = asked / reached](std::size_t, std::span<double> row) {
      for (double& value : row) value *= factor;
    };
    so_far.compute.push_back(rest);
    scenario.compute.push_back(rest);
  }
}

double Worth::gpu_alone(const Fixes& fixes) const {
  if (fixes.size() == 1) return seconds_of(fixes);
  Scenario alone = context_.model.measured();
  apply_gpu_fixes(fixes, alone);
  return mean_of(context_.loss_under(alone)) + plain_seconds(fixes);
}

// What the GPUs at their target save when stalls are gone and the work is balanced.
double Worth::gpu_after_balance(const Fixes& fixes) const {
  Scenario even = context_.local_fixed;
  apply(of_family(Family::imbalance), even);
  even.own_stall.push_back(
      [](std::size_t, std::span<double> row) { std::fill(row.begin(), row.end(), 0.0); });
  Scenario at_target = even;
  apply_gpu_fixes(fixes, at_target);
  return saved_between(even, at_target) + plain_seconds(fixes);
}

std::optional<FixWorth> Worth::of_all(double actual, const std::optional<double>& mfu) {
  FixWorth worth;
  const auto mfu_at = [&](double step) -> std::optional<double> {
    if (!mfu) return std::nullopt;
    return *mfu * (actual / step);
  };
  constexpr std::array kStages{FixStage::actual, FixStage::bursts_and_links, FixStage::balanced,
                               FixStage::gpu_at_target};
  std::array<double, 4> saved{};
  for (std::size_t k = 0; k < kStages.size(); ++k) worth.chain[k].stage = kStages[k];

  for (const Family family : kChainFamilies) {
    const Fixes fixes = of_family(family);
    if (fixes.empty()) continue;
    Fixes ordered;
    std::copy_if(fixes.begin(), fixes.end(), std::back_inserter(ordered),
                 [&](const Candidate* candidate) { return in_order(*candidate); });
    FamilyWorth entry;
    entry.family = family;
    // Balancing the others can lengthen the slow place's step: then nobody would do it alone.
    entry.step_seconds = actual - std::max(0.0, saved_alone(family, fixes));
    if (!(entry.step_seconds > 0.0)) return std::nullopt;
    entry.mfu = mfu_at(entry.step_seconds);
    entry.material = std::any_of(fixes.begin(), fixes.end(), [&](const Candidate* candidate) {
      return is_material(*candidate);
    });
    if (!ordered.empty()) {
      entry.in_order_seconds = std::max(0.0, saved_in_order(family, ordered));
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

}  // namespace

std::optional<FixWorth> worth_of_fixes(RuleContext& context, const Headline& headline) {
  return Worth(context, 0).of_all(headline.step_seconds, headline.mfu);
}

std::optional<EndState> end_state_of(RuleContext& context, const Headline& headline) {
  const auto first = first_of_end_state(context);
  if (!first) return std::nullopt;
  Worth worth(context, *first);
  const double step = worth.step_seconds();
  if (!(step > 0.0)) return std::nullopt;
  std::optional<double> mfu;
  if (headline.mfu) mfu = *headline.mfu * (headline.step_seconds / step);
  const auto fixes = worth.of_all(step, mfu);
  if (!fixes) return std::nullopt;
  return EndState{context.step_ids[*first],
                  static_cast<std::int64_t>(context.step_ids.size() - *first), *fixes};
}

}  // namespace mfu::diagnosis

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
