// The critical batch, and what a batch costs in tokens and saves in steps.
#include "plan/batch.hpp"

#include <algorithm>
#include <cmath>

#include "mfu/plan.hpp"

namespace mfu {
namespace {

// Growth of the critical batch from one loss to another.
double growth(BatchLaw law, double from_loss, double to_loss) {
  const double power = law == BatchLaw::kaplan_2020 ? 1.0 / kKaplanBatchPower : 1.0;
  return std::pow(from_loss / to_loss, power);
}

std::optional<double> critical_batch(const BatchInput& input) {
  if (input.noise_scale) {
    if (!input.noise_scale_loss || !input.loss) return input.noise_scale;
    return *input.noise_scale * growth(input.law, *input.noise_scale_loss, *input.loss);
  }
  // 1/L alone is a proportion: without a measured batch it gives no number.
  if (!input.loss || input.law == BatchLaw::inverse_loss) return {};
  return kKaplanBatchTokens / std::pow(*input.loss, 1.0 / kKaplanBatchPower);
}

}  // namespace

std::string_view to_string(BatchLaw law) noexcept {
  return law == BatchLaw::kaplan_2020 ? "kaplan-2020" : "inverse-loss";
}

std::optional<BatchPlan> plan_batch(const BatchInput& input) {
  const std::optional<double> critical = critical_batch(input);
  if (!critical || !(*critical > 0.0) || !std::isfinite(*critical)) return {};
  BatchPlan plan;
  plan.input = input;
  plan.critical = *critical;
  plan.measured = input.noise_scale && !(input.noise_scale_loss && input.loss);
  if (input.tokens && input.batch) plan.steps = *input.tokens / *input.batch;
  std::vector<double> batches;
  constexpr double kSame = 0.1;  // a row that is this close to the plan's own says nothing new
  for (const double share : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0}) {
    const double batch = share * *critical;
    if (!input.batch || std::fabs(batch / *input.batch - 1.0) > kSame) batches.push_back(batch);
  }
  if (input.batch) batches.push_back(*input.batch);
  std::sort(batches.begin(), batches.end());
  const double own = input.batch ? 1.0 + *input.batch / *critical : 1.0;
  for (const double batch : batches) {
    BatchRow row;
    row.batch = batch;
    row.share = batch / *critical;
    row.tokens_over_least = 1.0 + row.share;
    row.steps_over_least = 1.0 + 1.0 / row.share;
    row.own = input.batch && batch == *input.batch;
    if (input.batch && input.tokens) {
      row.tokens = *input.tokens * row.tokens_over_least / own;
      row.steps = *row.tokens / batch;
    }
    // The time of the same GPUs is tokens over MFU.
    if (input.batch && input.mfu) row.even_mfu = *input.mfu * row.tokens_over_least / own;
    plan.rows.push_back(row);
  }
  if (input.seq_len) {
    plan.most_replicas = std::floor(*critical / *input.seq_len);
    if (input.gpus && *plan.most_replicas >= 1.0) {
      plan.least_gpus_each = std::max(1.0, std::ceil(*input.gpus / *plan.most_replicas));
    }
  }
  return plan;
}

}  // namespace mfu
