// Chinchilla's rule and fits, and where a model stands.
#include "plan/optimal.hpp"

#include <cmath>

#include "catch.hpp"
#include "mfu/error.hpp"
#include "mfu/plan.hpp"

namespace {

const mfu::LossFit& hoffmann() { return mfu::find_loss_fit("hoffmann-2022"); }
const mfu::LossFit& besiroglu() { return mfu::find_loss_fit("besiroglu-2024"); }

}  // namespace

TEST_CASE("20 tokens a parameter at Chinchilla's budget") {
  const mfu::Optimal found = mfu::plan_optimal(5.76e23, 70e9, 1.4e12, hoffmann());
  REQUIRE(found.sizes.size() == 3);
  CHECK(found.sizes[0].fit == nullptr);
  CHECK(found.sizes[0].params == Approx(69.3e9).epsilon(0.01));
  CHECK(found.sizes[0].tokens == Approx(1.386e12).epsilon(0.01));
  CHECK(found.trained == mfu::Trained::near);
  CHECK(*found.tokens_for_params == 1.4e12);
  CHECK(found.beyond_fit);
}

TEST_CASE("the fits: no other split of the budget has a lower loss") {
  for (const mfu::LossFit* fit : {&hoffmann(), &besiroglu()}) {
    for (const double flops : {1e18, 1e21, 5.76e23, 1e26}) {
      const mfu::Optimal found = mfu::plan_optimal(flops, {}, {}, *fit);
      const mfu::OptimalSize& best = found.sizes[fit == &hoffmann() ? 1 : 2];
      CHECK(best.fit == fit);
      CHECK(6.0 * best.params * best.tokens == Approx(flops));
      for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
        CHECK(mfu::loss_of(*fit, best.params * factor, best.tokens / factor) > best.loss);
      }
    }
  }
}

TEST_CASE("the corrected fit agrees with the rule of 20, the printed one does not") {
  const mfu::Optimal found = mfu::plan_optimal(5.76e23, {}, {}, besiroglu());
  const double printed = found.sizes[1].tokens / found.sizes[1].params;
  const double corrected = found.sizes[2].tokens / found.sizes[2].params;
  CHECK(corrected == Approx(20.0).epsilon(0.2));
  CHECK(printed > 50.0);
}

TEST_CASE("losses as the fits predict them") {
  // Chinchilla: 1.69 + 406.4/70e9^0.34 + 410.7/1.4e12^0.28
  CHECK(mfu::loss_of(hoffmann(), 70e9, 1.4e12) == Approx(1.9366).epsilon(1e-3));
  CHECK(mfu::loss_of(besiroglu(), 70e9, 1.4e12) == Approx(1.9737).epsilon(1e-3));
}

TEST_CASE("over-trained and under-trained, and what the same loss would cost at the best size") {
  const mfu::Optimal llama = mfu::plan_optimal(6.0 * 8e9 * 15e12, 8e9, 15e12, besiroglu());
  CHECK(llama.trained == mfu::Trained::over);
  REQUIRE(llama.flops_for_same_loss);
  CHECK(*llama.flops_for_same_loss < llama.flops);
  CHECK(*llama.flops_for_same_loss > 0.05 * llama.flops);
  const mfu::Optimal gpt3 = mfu::plan_optimal(6.0 * 175e9 * 300e9, 175e9, 300e9, besiroglu());
  CHECK(gpt3.trained == mfu::Trained::under);
  // At the best size itself there is nothing to save.
  const mfu::OptimalSize best = mfu::plan_optimal(1e22, {}, {}, besiroglu()).sizes[2];
  const mfu::Optimal own = mfu::plan_optimal(1e22, best.params, best.tokens, besiroglu());
  CHECK(*own.flops_for_same_loss == Approx(1e22).epsilon(1e-4));
}

TEST_CASE("a fit that is not there") {
  CHECK_THROWS_AS(mfu::find_loss_fit("hofmann-2022"), mfu::Error);
}
