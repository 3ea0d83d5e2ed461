// The three equations of a plan (see mfu/plan.hpp), solved for whatever is not given.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "mfu/plan.hpp"
#include "plan/parts.hpp"

namespace mfu {
namespace {

using enum PlanQuantity;

constexpr std::size_t index(PlanQuantity quantity) { return static_cast<std::size_t>(quantity); }
constexpr unsigned bit(PlanQuantity quantity) { return 1U << index(quantity); }
constexpr PlanQuantity quantity_at(std::size_t i) { return static_cast<PlanQuantity>(i); }

// left = constant x first x second.
struct Product {
  PlanQuantity left, first, second;
  [[nodiscard]] unsigned all() const { return bit(left) | bit(first) | bit(second); }
};
constexpr Product kWork{tokens, mfu, gpu_seconds};
constexpr Product kSpan{gpu_seconds, gpus, seconds};
constexpr Product kMoney{cost, price, gpu_seconds};

// What was asked for, before what comes along.
constexpr std::array kAsked{tokens, mfu, gpus, price, seconds, gpu_seconds, cost};
// The order in which a contradiction is pinned on one of its inputs.
constexpr std::array kDoubted{seconds, gpu_seconds, cost, mfu, tokens, gpus, price};

struct State {
  std::array<double, kPlanQuantities> value{};
  std::array<unsigned, kPlanQuantities> from{};  // the inputs that it follows from
  unsigned known = 0;
  bool no_gpus_suffice = false;
  bool gpus_at_most = false;
  std::optional<double> gpus_too;
  // The GPU-seconds that one GPU takes: more than those that are known, so no number of GPUs does.
  std::optional<double> least_gpu_seconds;
  unsigned least_from = 0;

  [[nodiscard]] bool has(PlanQuantity quantity) const { return (known & bit(quantity)) != 0; }
  [[nodiscard]] double at(PlanQuantity quantity) const { return value[index(quantity)]; }
  [[nodiscard]] std::optional<double> get(PlanQuantity quantity) const {
    return has(quantity) ? std::optional(at(quantity)) : std::nullopt;
  }
  void give(PlanQuantity quantity, const std::optional<double>& given) {
    if (!given) return;
    set(quantity, *given, bit(quantity));
  }
  void set(PlanQuantity quantity, double found, unsigned sources) {
    value[index(quantity)] = found;
    from[index(quantity)] = sources;
    known |= bit(quantity);
  }
  void forget(PlanQuantity quantity) { known &= ~bit(quantity); }
};

// Failures of each GPU: the goodput is known only with their number.
bool goodput_needs_gpus(const PlanInput& input) {
  return !input.goodput && input.failures && input.failures->per_gpu;
}

std::optional<double> goodput_for(const PlanInput& input, const std::optional<double>& count) {
  if (input.goodput) return input.goodput;
  if (!input.failures) return 1.0;
  if (input.failures->per_gpu && !count) return {};
  return goodput_of(*input.failures, count.value_or(1.0)).useful;
}

// Tokens of a GPU-second at an MFU of 1.
std::optional<double> work_constant(const PlanInput& input, const State& state) {
  if (!input.flops_per_token || !input.peak_flops) return {};
  const std::optional<double> goodput = goodput_for(input, state.get(gpus));
  if (!goodput || !(*goodput > 0.0)) return {};
  return *input.peak_flops * *goodput / *input.flops_per_token;
}

// The one that is not known, out of the two that are; false: it is not just one.
bool solve(State& state, const Product& product, double constant) {
  const unsigned missing = product.all() & ~state.known;
  unsigned sources = 0;
  for (const PlanQuantity part : {product.left, product.first, product.second}) {
    if (state.has(part)) sources |= state.from[index(part)];
  }
  if (missing == bit(product.left)) {
    state.set(product.left, constant * state.at(product.first) * state.at(product.second), sources);
  } else if (missing == bit(product.first)) {
    state.set(product.first, state.at(product.left) / constant / state.at(product.second), sources);
  } else if (missing == bit(product.second)) {
    state.set(product.second, state.at(product.left) / constant / state.at(product.first), sources);
  } else {
    return false;
  }
  return true;
}

// The number of GPUs, where their failures depend on it: out of tokens, MFU and time, or
// GPU-seconds.
bool solve_gpus(const PlanInput& input, State& state) {
  if (!goodput_needs_gpus(input) || !input.flops_per_token || !input.peak_flops) return false;
  if (state.has(gpus) || !state.has(tokens) || !state.has(mfu)) return false;
  const unsigned work = state.from[index(tokens)] | state.from[index(mfu)];
  // GPU-seconds without failures.
  const double useful =
      *input.flops_per_token * state.at(tokens) / (*input.peak_flops * state.at(mfu));
  if (state.has(gpu_seconds)) {
    if (state.least_gpu_seconds || state.no_gpus_suffice) return false;
    const std::optional<double> found =
        most_gpus_at(useful / state.at(gpu_seconds), *input.failures);
    if (!found) {
      const double best = goodput_of(*input.failures, 1.0).useful;
      state.no_gpus_suffice = !(best > kNothingDone);
      if (state.no_gpus_suffice) return false;
      state.least_gpu_seconds = useful / best;
      state.least_from = work;
      return false;
    }
    state.set(gpus, *found, work | state.from[index(gpu_seconds)]);
    state.gpus_at_most = true;
    return true;
  }
  if (!state.has(seconds) || state.no_gpus_suffice) return false;
  const std::optional<GpuCounts> found = gpus_for(useful / state.at(seconds), input);
  if (!found) {
    state.no_gpus_suffice = true;
    return false;
  }
  state.set(gpus, found->fewest, work | state.from[index(seconds)]);
  state.gpus_too = found->most;
  return true;
}

void propagate(const PlanInput& input, State& state) {
  bool found = true;
  while (found) {
    found = solve(state, kSpan, 1.0) || solve(state, kMoney, 1.0);
    if (found) continue;
    if (const std::optional<double> constant = work_constant(input, state)) {
      found = solve(state, kWork, *constant);
    }
    if (!found) found = solve_gpus(input, state);
  }
}

// Which would be known if those in `known`, the model and the peak were: propagate() without
// numbers.
unsigned closure(const PlanInput& input, unsigned known) {
  bool found = true;
  while (found) {
    found = false;
    const auto one = [&](const Product& product) {
      const unsigned missing = product.all() & ~known;
      if (missing == 0 || (missing & (missing - 1)) != 0) return;
      known |= missing;
      found = true;
    };
    one(kSpan);
    one(kMoney);
    if (!goodput_needs_gpus(input) || (known & bit(gpus)) != 0) one(kWork);
    const unsigned work = bit(tokens) | bit(mfu);
    // As solve_gpus().
    const unsigned length = bit(seconds) | (goodput_needs_gpus(input) ? bit(gpu_seconds) : 0U);
    if ((known & work) == work && (known & length) != 0 && (known & bit(gpus)) == 0) {
      known |= bit(gpus);
      found = true;
    }
  }
  return known;
}

State given_state(const PlanInput& input) {
  State state;
  state.give(tokens, input.tokens);
  state.give(gpus, input.gpus);
  state.give(seconds, input.seconds);
  state.give(mfu, input.mfu);
  state.give(gpu_seconds, input.gpu_seconds);
  state.give(price, input.price);
  state.give(cost, input.cost);
  return state;
}

bool holds(double value, double limit) { return value <= limit * (1.0 + 1e-9); }

// Failures per GPU, and a deadline that no number of GPUs holds: false where nothing gets done in
// any time.
bool find_fastest(const PlanInput& input, const State& state, Plan& plan) {
  const FastestGpus fastest = fastest_gpus(*input.failures);
  if (!(fastest.useful_gpus > kNothingDone * fastest.gpus)) return false;
  plan.fastest_gpus = fastest.gpus;
  plan.least_seconds = *input.flops_per_token * state.at(tokens) /
                       (*input.peak_flops * state.at(mfu)) / fastest.useful_gpus;
  return true;
}

// Limits stand in for what is open: the tighter of the two where one would do.
State solve_with_limits(const PlanInput& input, Plan& plan) {
  State exact = given_state(input);
  propagate(input, exact);
  const bool by_time = input.deadline_s && !exact.has(seconds);
  const bool by_money = input.budget && !exact.has(cost);
  State timed = exact;
  if (by_time) {
    timed.give(seconds, input.deadline_s);
    propagate(input, timed);
  }
  State paid = exact;
  if (by_money) {
    paid.give(cost, input.budget);
    propagate(input, paid);
  }
  if (by_money && !by_time && paid.least_gpu_seconds) {
    // Judged, as a limit that was not needed is.
    plan.least_cost = *paid.least_gpu_seconds * paid.at(price);
    return exact;
  }
  // Judged as well. A budget that says how many GPUs there are says how long they take, too.
  if (by_time && timed.no_gpus_suffice && by_money && paid.has(gpus)) {
    plan.budget_taken = true;
    return paid;
  }
  if (by_time && timed.no_gpus_suffice && find_fastest(input, timed, plan)) {
    if (paid.least_gpu_seconds) plan.least_cost = *paid.least_gpu_seconds * paid.at(price);
    return exact;
  }
  if (by_time && by_money) {
    if (!timed.has(cost)) {
      // Each says something of its own.
      timed.give(cost, input.budget);
      propagate(input, timed);
      plan.deadline_taken = plan.budget_taken = true;
      return timed;
    }
    if (!holds(timed.at(cost), *input.budget) && paid.has(seconds) &&
        holds(paid.at(seconds), *input.deadline_s)) {
      plan.budget_taken = true;
      return paid;
    }
  }
  plan.deadline_taken = by_time;
  plan.budget_taken = by_money && !by_time;
  return by_time ? timed : paid;
}

std::vector<PlanQuantity> quantities_in(unsigned set) {
  std::vector<PlanQuantity> all;
  for (std::size_t i = 0; i < kPlanQuantities; ++i) {
    if ((set >> i & 1U) != 0) all.push_back(quantity_at(i));
  }
  return all;
}

// GPU-seconds, given or paid for, that not even one GPU can do with.
void find_too_few(const State& state, Plan& plan) {
  if (!state.least_gpu_seconds) return;
  const bool paid = state.from[index(gpu_seconds)] != bit(gpu_seconds);
  const PlanQuantity doubted = paid ? cost : gpu_seconds;
  const double scale = paid ? state.at(price) : 1.0;
  plan.contradictions.push_back({doubted, state.at(doubted), *state.least_gpu_seconds * scale,
                                 quantities_in(state.least_from | (paid ? bit(price) : 0U)), true});
}

void find_contradictions(const PlanInput& input, const State& state, Plan& plan) {
  const auto off = [&](const Product& product, double constant) {
    if ((product.all() & ~state.known) != 0) return false;
    const double follows = constant * state.at(product.first) * state.at(product.second);
    return std::fabs(follows / state.at(product.left) - 1.0) > kPlanAgreement;
  };
  const std::optional<double> constant = work_constant(input, state);
  const std::array<bool, 3> wrong{off(kSpan, 1.0), off(kMoney, 1.0),
                                  constant && off(kWork, *constant)};
  if (std::none_of(wrong.begin(), wrong.end(), [](bool one) { return one; })) return;
  for (const PlanQuantity doubted : kDoubted) {
    State without = given_state(input);
    // A limit that was taken is a statement like the others.
    if (plan.deadline_taken) without.give(seconds, input.deadline_s);
    if (plan.budget_taken) without.give(cost, input.budget);
    if (!without.has(doubted)) continue;
    const double given = without.at(doubted);
    without.forget(doubted);
    propagate(input, without);
    if (!without.has(doubted)) continue;
    const double follows = without.at(doubted);
    if (std::fabs(follows / given - 1.0) <= kPlanAgreement) continue;
    plan.contradictions.push_back(
        {doubted, given, follows, quantities_in(without.from[index(doubted)])});
    return;
  }
}

// Neither given nor found, and what would settle all of it.
void name_open(const PlanInput& input, const State& state, Plan& plan) {
  for (const PlanQuantity quantity : {tokens, gpus, seconds, mfu}) {
    if (!state.has(quantity)) plan.open.push_back(quantity);
  }
  if (input.price && !state.has(cost)) plan.open.push_back(cost);
  if ((input.cost || input.budget) && !state.has(price)) plan.open.push_back(price);
  if (plan.open.empty()) return;
  unsigned wanted = 0;
  for (const PlanQuantity quantity : plan.open) wanted |= bit(quantity);
  const auto settles = [&](unsigned more) {
    return (closure(input, state.known | more) & wanted) == wanted;
  };
  constexpr unsigned kSets = 1U << kPlanQuantities;
  plan.needed = kPlanQuantities;
  for (unsigned more = 0; more < kSets; ++more) {
    if ((more & state.known) == 0 && settles(more)) {
      plan.needed = std::min(plan.needed, std::popcount(more));
    }
  }
  if (plan.needed != 1) return;
  // A budget that is too small is there already, and a deadline that is too short.
  const bool budget_in_vain = plan.least_cost.has_value();
  const bool deadline_in_vain = plan.least_seconds.has_value();
  for (const PlanQuantity quantity : {tokens, gpus, seconds, mfu, gpu_seconds, cost, price}) {
    if (quantity == cost && budget_in_vain) continue;
    if (quantity == seconds && deadline_in_vain) continue;
    if (!state.has(quantity) && settles(bit(quantity))) plan.settling.push_back(quantity);
  }
}

struct Speed {
  double flops;  // of the run
  double peak;   // of one GPU
  const PlanInput& input;
  [[nodiscard]] double seconds_at(double utilization, double count) const {
    return flops / (utilization * peak * count * *goodput_for(input, count));
  }
  [[nodiscard]] PlanVariant variant(PlanVariant::Change change, double utilization, double count,
                                    const std::optional<double>& money) const {
    PlanVariant made{change, utilization, count, seconds_at(utilization, count), 0.0, {}};
    made.gpu_seconds = count * made.seconds;
    if (money) made.cost = *money * made.gpu_seconds;
    return made;
  }
};

void add_variants(Plan& plan) {
  const PlanInput& input = plan.input;
  if (!plan.tokens || !plan.gpus || !plan.mfu || !plan.seconds || !plan.total_flops ||
      !input.peak_flops || plan.impossible) {
    return;
  }
  using Change = PlanVariant::Change;
  const Speed speed{*plan.total_flops, *input.peak_flops, input};
  const double now = *plan.mfu;
  const double count = *plan.gpus;
  const auto add = [&](Change change, double utilization, double of) {
    plan.variants.push_back(speed.variant(change, utilization, of, plan.price));
  };
  add(Change::none, now, count);
  if (input.target_mfu) {
    const double target = *input.target_mfu;
    add(Change::target_mfu, target, count);
    const double useful = count * plan.goodput.value_or(1.0) * target / now;
    if (const std::optional<GpuCounts> more = gpus_for(useful, input)) {
      add(Change::target_by_gpus, now, more->fewest);
    }
  } else if (now + 0.01 <= 1.0) {
    add(Change::point_of_mfu, now + 0.01, count);
  }
  if (goodput_for(input, 2.0 * count).value_or(0.0) > 0.0) {
    add(Change::twice_the_gpus, now, 2.0 * count);
  }
  if (2.0 * now <= kHighestMfu) add(Change::twice_the_mfu, 2.0 * now, count);
}

void add_remedies(Plan& plan) {
  const PlanInput& input = plan.input;
  const auto scaled = [](const std::optional<double>& value, double by) {
    return value ? std::optional<double>(*value * by) : std::nullopt;
  };
  const std::optional<double>& taken = plan.seconds ? plan.seconds : plan.least_seconds;
  if (input.deadline_s && taken && !holds(*taken, *input.deadline_s)) {
    PlanRemedies late;
    late.mfu = scaled(plan.mfu, *taken / *input.deadline_s);
    late.tokens = scaled(plan.tokens, *input.deadline_s / *taken);
    if (plan.mfu && plan.total_flops && input.peak_flops) {
      const std::optional<GpuCounts> found =
          gpus_for(*plan.total_flops / (*plan.mfu * *input.peak_flops) / *input.deadline_s, input);
      if (found) late.gpus = found->fewest;
    }
    plan.late = late;
  }
  const std::optional<double>& spent = plan.cost ? plan.cost : plan.least_cost;
  if (input.budget && spent && !holds(*spent, *input.budget)) {
    plan.dear = PlanRemedies{
        {}, scaled(plan.mfu, *spent / *input.budget), scaled(plan.tokens, *input.budget / *spent)};
  }
}

void add_figures(Plan& plan) {
  const PlanInput& input = plan.input;
  plan.goodput = goodput_for(input, plan.gpus);
  if (input.failures && (!input.failures->per_gpu || plan.gpus)) {
    plan.failures = goodput_of(*input.failures, plan.gpus.value_or(1.0));
  }
  if (plan.gpu_seconds && input.peak_flops) {
    plan.peak_total_flops = *plan.gpu_seconds * *input.peak_flops;
  }
  if (input.flops_per_token && plan.tokens) {
    plan.total_flops = *input.flops_per_token * *plan.tokens;
  } else if (plan.peak_total_flops && plan.mfu && plan.goodput) {
    plan.total_flops = *plan.peak_total_flops * *plan.mfu * *plan.goodput;
  }
  if (plan.total_flops && plan.seconds) {
    plan.delivered_flops_per_second = *plan.total_flops / *plan.seconds;
  }
  if (plan.seconds && plan.goodput) plan.step_seconds = *plan.seconds * *plan.goodput;
  if (plan.gpu_seconds && input.power_w) plan.energy_joules = *plan.gpu_seconds * *input.power_w;
  // More FLOPs than the GPUs' peak in that time, or an MFU over 1.
  plan.impossible = (plan.mfu && *plan.mfu > 1.0 + 1e-9) ||
                    (plan.total_flops && plan.peak_total_flops &&
                     *plan.total_flops > *plan.peak_total_flops * (1.0 + 1e-9));
}

// A product that overflowed or underflowed is not an answer.
bool overflowed(const Plan& plan) {
  for (const std::optional<double>* value :
       {&plan.tokens, &plan.gpus, &plan.seconds, &plan.mfu, &plan.gpu_seconds, &plan.price,
        &plan.cost, &plan.least_seconds, &plan.total_flops, &plan.peak_total_flops,
        &plan.delivered_flops_per_second, &plan.energy_joules}) {
    if (*value && (!std::isfinite(**value) || !(**value > 0.0))) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(PlanQuantity quantity) noexcept {
  switch (quantity) {
    case tokens:
      return "tokens";
    case gpus:
      return "gpus";
    case seconds:
      return "seconds";
    case mfu:
      return "mfu";
    case gpu_seconds:
      return "gpu_hours";
    case price:
      return "price";
    case cost:
      return "cost";
  }
  return "";
}

Plan plan_compute(const PlanInput& input) {
  Plan plan;
  plan.input = input;
  const State state = solve_with_limits(input, plan);
  plan.no_gpus_suffice = state.no_gpus_suffice;
  plan.gpus_at_most = state.gpus_at_most;
  plan.gpus_too = state.gpus_too;
  plan.tokens = state.get(tokens);
  plan.gpus = state.get(gpus);
  plan.seconds = state.get(seconds);
  plan.mfu = state.get(mfu);
  plan.gpu_seconds = state.get(gpu_seconds);
  plan.price = state.get(price);
  plan.cost = state.get(cost);
  State given = given_state(input);
  if (plan.deadline_taken) given.give(seconds, input.deadline_s);
  if (plan.budget_taken) given.give(cost, input.budget);
  for (const PlanQuantity quantity : kAsked) {
    if (state.has(quantity) && !given.has(quantity)) plan.solved.push_back(quantity);
  }
  find_contradictions(input, state, plan);
  find_too_few(state, plan);
  name_open(input, state, plan);
  add_figures(plan);
  plan.overflow = overflowed(plan);
  if (plan.overflow || !plan.contradictions.empty()) return plan;
  add_variants(plan);
  add_remedies(plan);
  return plan;
}

}  // namespace mfu
