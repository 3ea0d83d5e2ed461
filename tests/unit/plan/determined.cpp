// Any set of statements: what it determines is found, what it does not is left open, what differs
// is named. Over all sets of the seven quantities, with failures of every kind.
#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mfu/plan.hpp"
#include "unit/plan/example.hpp"

namespace {

using mfu::Plan;
using mfu::PlanInput;
using mfu::PlanQuantity;
using enum mfu::PlanQuantity;
using mfu::plan_example::of;
using mfu::plan_example::small;

// Which quantities a set of given ones determines: the rank of the equations in logarithms. Where
// failures grow with the GPUs, goodput is a power of their number as far as this question goes.
class Oracle {
 public:
  explicit Oracle(bool failures_grow) {
    const double slope = failures_grow ? 0.37 : 0.0;
    // tokens = mfu + gpu_seconds - slope gpus; gpu_seconds = gpus + seconds; cost = price + ...
    add({1.0, slope, 0.0, -1.0, -1.0, 0.0, 0.0});
    add({0.0, -1.0, -1.0, 0.0, 1.0, 0.0, 0.0});
    add({0.0, 0.0, 0.0, 0.0, -1.0, -1.0, 1.0});
  }
  void give(PlanQuantity quantity) { add(unit(quantity)); }
  [[nodiscard]] bool determines(PlanQuantity quantity) const {
    return rest_of(unit(quantity)) == 7;
  }

 private:
  using Row = std::array<double, 7>;
  static Row unit(PlanQuantity quantity) {
    Row row{};
    row[static_cast<std::size_t>(quantity)] = 1.0;
    return row;
  }
  // The column that is left after the rows so far are taken off; 7: none.
  [[nodiscard]] std::size_t rest_of(Row row, Row* left = nullptr) const {
    for (const auto& [pivot, known] : rows_) {
      const double factor = row[pivot];
      for (std::size_t i = 0; i < row.size(); ++i) row[i] -= factor * known[i];
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::fabs(row[i]) < 1e-9) continue;
      if (left != nullptr) *left = row;
      return i;
    }
    return 7;
  }
  void add(const Row& given) {
    Row row{};
    const std::size_t pivot = rest_of(given, &row);
    if (pivot == 7) return;
    const double lead = row[pivot];
    for (double& value : row) value /= lead;
    rows_.emplace_back(pivot, row);
  }
  std::vector<std::pair<std::size_t, Row>> rows_;
};

constexpr std::array kAll{tokens, gpus, seconds, mfu::PlanQuantity::mfu, gpu_seconds, price, cost};

// Failures of a kind: 0 none, 1 a measured goodput, 2 of the job, 3 of each GPU.
void add_failures(PlanInput& input, int kind, double gpu_count, bool own_interval) {
  if (kind == 1) input.goodput = 0.83;
  if (kind < 2) return;
  const double job = 90.0 * 3600.0;
  input.failures = mfu::FailureRate{kind == 3 ? job * gpu_count : job, kind == 3, 240.0, 900.0, {}};
  if (own_interval) input.failures->interval_s = 3600.0;
}

}  // namespace

TEST_CASE("every set of statements gives all that it determines, and no more") {
  for (int kind = 0; kind < 4; ++kind) {
    for (const bool own_interval : {false, true}) {
      if (own_interval && kind < 2) continue;
      PlanInput base;
      base.flops_per_token = 6.0 * 8e9;
      base.peak_flops = 989.4e12;
      add_failures(base, kind, 777.0, own_interval);
      PlanInput forward = base;
      forward.tokens = 3e12;
      forward.gpus = 777.0;
      forward.mfu = 0.41;
      forward.price = 2.5 / 3600.0;
      const Plan whole = mfu::plan_compute(forward);
      for (unsigned set = 0; set < 128; ++set) {
        Oracle oracle(kind == 3);
        PlanInput input = base;
        PlanInput limited = base;  // the same by a deadline and a budget
        for (const PlanQuantity quantity : kAll) {
          if ((set >> static_cast<unsigned>(quantity) & 1U) == 0) continue;
          oracle.give(quantity);
          of(input, quantity) = of(whole, quantity);
          if (quantity == seconds) {
            limited.deadline_s = whole.seconds;
          } else if (quantity == cost) {
            limited.budget = whole.cost;
          } else {
            of(limited, quantity) = of(whole, quantity);
          }
        }
        for (const PlanInput& one : {input, limited}) {
          const Plan back = mfu::plan_compute(one);
          CHECK(back.contradictions.empty());
          CHECK_FALSE(back.late);
          CHECK_FALSE(back.dear);
          for (const PlanQuantity quantity : kAll) {
            INFO("failures " << kind << own_interval << ", set " << set << ", "
                             << mfu::to_string(quantity) << ", limits " << (&one != &input));
            const bool found = of(back, quantity).has_value();
            CHECK(found == oracle.determines(quantity));
            if (found) CHECK(std::fabs(*of(back, quantity) / *of(whole, quantity) - 1.0) < 1e-9);
          }
          // What would settle the rest does.
          for (const PlanQuantity settling : back.settling) {
            Oracle more = oracle;
            more.give(settling);
            for (const PlanQuantity open : back.open) {
              INFO("failures " << kind << ", set " << set << ", " << mfu::to_string(settling)
                               << " settles " << mfu::to_string(open));
              CHECK(more.determines(open));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("GPU-hours, or a budget, of GPUs that fail say how many GPUs there can be") {
  PlanInput input = small();
  input.failures = mfu::FailureRate{2000.0 * 3600.0, true, 60.0, 600.0, {}};
  const Plan forward = mfu::plan_compute(input);
  input.gpus.reset();
  input.gpu_seconds = forward.gpu_seconds;
  const Plan hours = mfu::plan_compute(input);
  REQUIRE(hours.gpus);
  CHECK(hours.gpus_at_most);
  CHECK(std::fabs(*hours.gpus / 512.0 - 1.0) < 1e-9);
  CHECK(*hours.gpus * *hours.seconds == Approx(*input.gpu_seconds).epsilon(1e-12));
  CHECK(hours.solved.front() == gpus);
  CHECK(hours.open.empty());
  // Fewer hours than one GPU would take: nothing does it.
  input.gpus = 1.0;
  input.gpu_seconds.reset();
  const double least = *mfu::plan_compute(input).gpu_seconds;
  input.gpus.reset();
  input.gpu_seconds = least * 0.98;
  const Plan few = mfu::plan_compute(input);
  CHECK_FALSE(few.gpus);
  REQUIRE(few.contradictions.size() == 1);
  CHECK(few.contradictions[0].quantity == gpu_seconds);
  CHECK(few.contradictions[0].follows_at_least);
  CHECK(few.contradictions[0].follows == Approx(least));
  // A cost says the same; a budget is a limit, and its verdict is not lost.
  input.gpu_seconds.reset();
  input.price = 0.001;
  input.cost = least * 0.001 * 0.98;
  const Plan cheap = mfu::plan_compute(input);
  REQUIRE(cheap.contradictions.size() == 1);
  CHECK(cheap.contradictions[0].quantity == cost);
  input.budget = input.cost;
  input.cost.reset();
  const Plan limited = mfu::plan_compute(input);
  CHECK(limited.contradictions.empty());
  REQUIRE(limited.dear);
  CHECK(*limited.least_cost == Approx(least * 0.001));
  CHECK_FALSE(limited.budget_taken);
  // The remedy holds it: fewer tokens, with one GPU.
  PlanInput fewer = input;
  fewer.tokens = *limited.dear->tokens;
  const Plan held = mfu::plan_compute(fewer);
  CHECK_FALSE(held.dear);
  CHECK(*held.gpus == Approx(1.0));
}

TEST_CASE("a time that two numbers of GPUs take: the fewest, and the other is named") {
  PlanInput input = small();
  input.failures = mfu::FailureRate{2000.0 * 3600.0, true, 60.0, 600.0, {}};
  input.seconds = mfu::plan_compute(input).seconds;
  input.gpus.reset();
  const Plan plan = mfu::plan_compute(input);
  REQUIRE(plan.gpus);
  CHECK(*plan.gpus == Approx(512.0));
  REQUIRE(plan.gpus_too);
  CHECK(*plan.gpus_too > 1.5 * *plan.gpus);
  PlanInput other = input;
  other.gpus = plan.gpus_too;
  other.seconds.reset();
  CHECK(*mfu::plan_compute(other).seconds == Approx(*input.seconds).epsilon(1e-9));
  input.failures.reset();
  CHECK_FALSE(mfu::plan_compute(input).gpus_too);
}

TEST_CASE("no two statements that differ pass in silence") {
  std::mt19937_64 random(77);
  for (int round = 0; round < 20000; ++round) {
    PlanInput base;
    base.flops_per_token = 6.0 * 8e9;
    base.peak_flops = 989.4e12;
    add_failures(base, round % 4, 777.0, round % 8 >= 4);
    PlanInput forward = base;
    forward.tokens = 3e12;
    forward.gpus = 777.0;
    forward.mfu = 0.41;
    forward.price = 2.5 / 3600.0;
    const Plan whole = mfu::plan_compute(forward);
    const unsigned set = static_cast<unsigned>(random() % 128);
    PlanInput input = base;
    Oracle oracle(round % 4 == 3);
    bool said_twice = false;
    for (const PlanQuantity quantity : kAll) {
      if ((set >> static_cast<unsigned>(quantity) & 1U) == 0) continue;
      said_twice = said_twice || oracle.determines(quantity);
      oracle.give(quantity);
      const double off = std::exp(std::uniform_real_distribution<double>(-0.6, 0.6)(random));
      of(input, quantity) = *of(whole, quantity) * off;
    }
    const Plan plan = mfu::plan_compute(input);
    // Whatever is given or found obeys the equations, or the contradiction is named.
    const auto differs = [](double one, double other) {
      return std::fabs(one / other - 1.0) > 0.0101;
    };
    bool wrong = false;
    if (plan.gpus && plan.seconds && plan.gpu_seconds) {
      wrong = wrong || differs(*plan.gpus * *plan.seconds, *plan.gpu_seconds);
    }
    if (plan.price && plan.cost && plan.gpu_seconds) {
      wrong = wrong || differs(*plan.price * *plan.gpu_seconds, *plan.cost);
    }
    if (plan.tokens && plan.mfu && plan.gpu_seconds && plan.goodput) {
      wrong = wrong || differs(*base.peak_flops * *plan.goodput / *base.flops_per_token *
                                   *plan.mfu * *plan.gpu_seconds,
                               *plan.tokens);
    }
    INFO("round " << round << ", set " << set);
    if (wrong) CHECK_FALSE(plan.contradictions.empty());
    if (!said_twice && !plan.no_gpus_suffice) {
      for (const auto& one : plan.contradictions) CHECK(one.follows_at_least);
    }
  }
}
