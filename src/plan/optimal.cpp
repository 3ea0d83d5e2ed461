// The best size and tokens for a compute budget, and where a model stands.
#include "plan/optimal.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "base/nearest.hpp"
#include "mfu/error.hpp"
#include "mfu/plan.hpp"

namespace mfu {
namespace {

// The constants stand in `mfu explain` as well; a test holds the two together.
constexpr std::array kFits{
    // Hoffmann et al. 2022, arXiv:2203.15556, as printed.
    LossFit{"hoffmann-2022", "Hoffmann 2022 fit", 1.69, 406.4, 410.7, 0.34, 0.28},
    // Besiroglu et al. 2024, arXiv:2404.10102: the same data, fitted again.
    LossFit{"besiroglu-2024", "Besiroglu 2024 fit", 1.8172, 482.01, 2085.43, 0.3478, 0.3658},
};

// The least loss at 6 N D = flops: the derivative of the fit along that line is 0.
OptimalSize best_of(const LossFit& fit, double flops) {
  const double sum = fit.alpha + fit.beta;
  const double ratio = std::pow(fit.alpha * fit.a / (fit.beta * fit.b), 1.0 / sum);
  OptimalSize best;
  best.fit = &fit;
  best.params = ratio * std::pow(flops / 6.0, fit.beta / sum);
  best.tokens = flops / 6.0 / best.params;
  best.loss = loss_of(fit, best.params, best.tokens);
  return best;
}

double flops_for_loss(const LossFit& fit, double loss, double at_most) {
  double low = std::log(1.0);
  double high = std::log(at_most);
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (best_of(fit, std::exp(middle)).loss > loss ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace

std::span<const LossFit> loss_fits() noexcept { return kFits; }

const LossFit& find_loss_fit(std::string_view id) {
  std::vector<std::string_view> names;
  for (const LossFit& fit : kFits) {
    if (fit.id == id) return fit;
    names.push_back(fit.id);
  }
  throw Error(ErrorKind::usage, "unknown fit '" + std::string(id.substr(0, 80)) + "'", {},
              name_hint(id, names));
}

double loss_of(const LossFit& fit, double params, double tokens) {
  return fit.e + fit.a / std::pow(params, fit.alpha) + fit.b / std::pow(tokens, fit.beta);
}

Optimal plan_optimal(double flops, std::optional<double> params, std::optional<double> tokens,
                     const LossFit& fit) {
  Optimal found;
  found.flops = flops;
  found.fit = &fit;
  OptimalSize rule;
  rule.params = std::sqrt(flops / (6.0 * kTokensPerParam));
  rule.tokens = kTokensPerParam * rule.params;
  rule.loss = loss_of(fit, rule.params, rule.tokens);
  found.sizes.push_back(rule);
  for (const LossFit& each : kFits) {
    OptimalSize best = best_of(each, flops);
    best.loss = loss_of(fit, best.params, best.tokens);  // one scale for all rows
    found.sizes.push_back(best);
  }
  found.params = params;
  found.tokens = tokens;
  if (params) found.tokens_for_params = kTokensPerParam * *params;
  if (params && tokens) {
    constexpr double kNear = 1.5;
    const double over = *tokens / *params / kTokensPerParam;
    found.trained = over > kNear         ? Trained::over
                    : over < 1.0 / kNear ? Trained::under
                                         : Trained::near;
    found.loss = loss_of(fit, *params, *tokens);
    found.flops_for_same_loss = flops_for_loss(fit, *found.loss, flops);
    found.beyond_fit = *params > kFitMostParams || *params < kFitFewestParams ||
                       *tokens > kFitMostTokens || *tokens < kFitFewestTokens;
  } else {
    found.beyond_fit = rule.params > kFitMostParams || rule.params < kFitFewestParams ||
                       rule.tokens > kFitMostTokens || rule.tokens < kFitFewestTokens;
  }
  return found;
}

}  // namespace mfu
