// How large a batch may be.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace mfu {

enum class BatchLaw {
  kaplan_2020,   // B* / L^(1/alpha_B)
  inverse_loss,  // rule of thumb: as 1/L; needs a measured batch at a known loss
};
[[nodiscard]] std::string_view to_string(BatchLaw law) noexcept;
inline constexpr double kKaplanBatchTokens = 2e8;  // B*, Kaplan et al. 2020
inline constexpr double kKaplanBatchPower = 0.21;  // alpha_B

struct BatchInput {
  std::optional<double> noise_scale;       // tokens: the gradient noise scale, as measured
  std::optional<double> noise_scale_loss;  // the loss that it was measured at; nothing: at `loss`
  std::optional<double> loss;              // at which the batch is wanted, nats per token
  BatchLaw law = BatchLaw::kaplan_2020;
  std::optional<double> batch;   // tokens of a step, whole job
  std::optional<double> tokens;  // of the plan
  std::optional<double> seq_len;
  std::optional<double> gpus;
  std::optional<double> mfu;
};

struct BatchRow {
  double batch = 0.0;              // tokens
  double share = 0.0;              // of the critical batch
  double tokens_over_least = 0.0;  // 1 + B/B_crit
  double steps_over_least = 0.0;   // 1 + B_crit/B
  std::optional<double> tokens;    // for the loss that the plan reaches at its own batch
  std::optional<double> steps;
  std::optional<double> even_mfu;  // that makes this batch as fast as the plan's own
  bool own = false;
};

struct BatchPlan {
  BatchInput input;
  double critical = 0.0;                  // tokens
  bool measured = false;                  // the noise scale itself, not a law
  std::optional<double> steps;            // of the plan at its batch
  std::vector<BatchRow> rows;             // by batch
  std::optional<double> most_replicas;    // data-parallel, one sequence each, at the critical batch
  std::optional<double> least_gpus_each;  // GPUs that must then share a replica
};

// S = S_min (1 + B_crit/B), E = E_min (1 + B/B_crit) (McCandlish et al. 2018; Kaplan et al.
// 2020). Nothing where neither a noise scale nor a loss is
// known, or inverse_loss lacks its anchor.
[[nodiscard]] std::optional<BatchPlan> plan_batch(const BatchInput& input);

}  // namespace mfu
