// Model size and tokens for a budget of compute.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mfu {

// L(N, D) = E + A / N^alpha + B / D^beta, nats per token.
struct LossFit {
  std::string_view id;  // also of its term in `mfu explain`
  std::string_view name;
  double e, a, b, alpha, beta;
};
[[nodiscard]] std::span<const LossFit> loss_fits() noexcept;
// Throws Error{usage} with the nearest.
[[nodiscard]] const LossFit& find_loss_fit(std::string_view id);
[[nodiscard]] double loss_of(const LossFit& fit, double params, double tokens);

inline constexpr double kTokensPerParam = 20.0;  // Hoffmann et al. 2022

struct OptimalSize {
  const LossFit* fit = nullptr;  // nothing: kTokensPerParam
  double params = 0.0;
  double tokens = 0.0;
  double loss = 0.0;  // by the chosen fit
};

enum class Trained { under, near, over };

struct Optimal {
  double flops = 0.0;  // 6 N D
  const LossFit* fit = nullptr;
  std::vector<OptimalSize> sizes;  // the rule, then each fit
  // The plan's own model:
  std::optional<double> params, tokens, loss;
  std::optional<double> tokens_for_params;  // kTokensPerParam of them
  Trained trained = Trained::near;          // tokens a parameter against the rule, a factor of 1.5
  // Compute with which a model of the best size (by the fit) would reach the same loss.
  std::optional<double> flops_for_same_loss;
  bool beyond_fit = false;  // sizes or tokens that the fit has not seen
};
// Sizes that the fits were made on (Hoffmann et al. 2022): 70M to 16B parameters, 5B to
// 500B tokens.
inline constexpr double kFitFewestParams = 70e6, kFitMostParams = 16e9;
inline constexpr double kFitFewestTokens = 5e9, kFitMostTokens = 500e9;

// `flops`: 6 N D of the delivered budget.
[[nodiscard]] Optimal plan_optimal(double flops, std::optional<double> params,
                                   std::optional<double> tokens, const LossFit& fit);

}  // namespace mfu
