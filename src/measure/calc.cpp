// From the inputs of one measurement to MFU: what is missing, what disagrees, what it gives.
#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/disagreement.hpp"
#include "measure/work_of.hpp"
#include "mfu/error.hpp"
#include "mfu/measure.hpp"

namespace mfu {
namespace {

void add_disagreement(Calculation& calculation, Disagreement found) {
  if (!calculation.disagreements) calculation.disagreements.emplace();
  calculation.disagreements->push_back(std::move(found));
}

using Value = std::optional<double>;

// One statement of a quantity, from the inputs that it needs.
struct Statement {
  double value = 0.0;
  std::vector<Quantity> from;
};

FactorGuess guess_factor(const CalcInput& input, std::int64_t factor) {
  if (factor == 0) return FactorGuess::none;
  const auto is = [&](const Value& value) {
    return value && std::llround(*value) == factor && *value > 1;
  };
  if (is(input.gpus)) return FactorGuess::gpus;
  if (is(input.accumulation)) return FactorGuess::accumulation;
  if (factor == 8) return FactorGuess::node;
  return FactorGuess::copies;
}

class Solver {
 public:
  explicit Solver(const CalcInput& input) : input_(input) { result_.input = input; }

  Calculation solve() {
    tokens_per_step();
    tokens_per_second();
    parameters();
    find_missing();
    return std::move(result_);
  }

 private:
  // The value that is used, after every other statement of it was checked against the first.
  Value settle(const std::vector<Statement>& statements) {
    if (statements.empty()) return {};
    const Statement& first = statements.front();
    for (std::size_t i = 1; i < statements.size(); ++i) {
      const Statement& other = statements[i];
      const double larger = std::max(first.value, other.value);
      const double smaller = std::min(first.value, other.value);
      if (larger - smaller <= kAgreement * smaller) continue;
      // Said from the side of a single input, where one of the two is a single input.
      const bool swap = first.from.size() > 1 && other.from.size() == 1;
      const Statement& left = swap ? other : first;
      const Statement& right = swap ? first : other;
      Disagreement found;
      found.left = left.from.front();
      found.left_value = left.value;
      found.right_value = right.value;
      found.from = right.from;
      found.factor = whole_factor(larger / smaller);
      found.left_is_larger = left.value > right.value;
      found.guess = guess_factor(input_, found.factor);
      add_disagreement(result_, std::move(found));
    }
    return first.value;
  }

  void tokens_per_step() {
    std::vector<Statement> statements;
    if (input_.tokens_per_step) {
      statements.push_back({*input_.tokens_per_step, {Quantity::tokens_per_step}});
    }
    if (input_.batch && input_.seq_len) {
      statements.push_back({*input_.batch * *input_.seq_len, {Quantity::batch, Quantity::seq_len}});
    }
    result_.tokens_per_step = settle(statements);
  }

  void tokens_per_second() {
    std::vector<Statement> statements;
    if (input_.tokens_per_second) {
      statements.push_back({*input_.tokens_per_second, {Quantity::tokens_per_second}});
    }
    if (input_.step_seconds && result_.tokens_per_step) {
      std::vector<Quantity> from{Quantity::step_seconds};
      if (input_.tokens_per_step) {
        from.push_back(Quantity::tokens_per_step);
      } else {
        from.push_back(Quantity::batch);
        from.push_back(Quantity::seq_len);
      }
      statements.push_back({*result_.tokens_per_step / *input_.step_seconds, std::move(from)});
    }
    const Value& each = input_.tokens_per_second_per_gpu;
    if (each && input_.gpus) {
      statements.push_back({*each * *input_.gpus, {Quantity::tokens_per_second_per_gpu}});
    }
    result_.tokens_per_second = settle(statements);
    result_.tokens_per_second_per_gpu = each;
    if (result_.tokens_per_second && input_.gpus && !each) {
      result_.tokens_per_second_per_gpu = *result_.tokens_per_second / *input_.gpus;
    }
    derive_times();
  }

  void derive_times() {
    result_.step_seconds = input_.step_seconds;
    if (!result_.step_seconds && result_.tokens_per_step && result_.tokens_per_second) {
      result_.step_seconds = *result_.tokens_per_step / *result_.tokens_per_second;
    }
    if (!result_.tokens_per_step && result_.step_seconds && result_.tokens_per_second) {
      result_.tokens_per_step = *result_.step_seconds * *result_.tokens_per_second;
    }
  }

  void parameters() {
    if (input_.model && input_.model->layers > 0) {
      result_.parameters = count_parameters(*input_.model);
    }
  }

  void find_missing() {
    const auto miss = [&](MissingInput what) { result_.missing.push_back(what); };
    const bool has_model = input_.model.has_value() || input_.params.has_value();
    if (input_.achieved_flops) {
      // Achieved over peak needs nothing else; with a model it gives tokens a second too.
      if (!input_.peak && !has_model) miss(MissingInput::peak);
      if (has_model && !seq_len_known()) miss(MissingInput::seq_len);
      return;
    }
    if (!has_model) miss(MissingInput::model);
    const bool measured = input_.step_seconds || input_.tokens_per_second;
    const bool batch_alone = input_.batch && !input_.seq_len && !input_.tokens_per_step;
    const bool needs_tokens = !result_.tokens_per_second_per_gpu && input_.step_seconds &&
                              !input_.tokens_per_second && !result_.tokens_per_step;
    if ((has_model && !seq_len_known()) || (needs_tokens && batch_alone)) {
      miss(MissingInput::seq_len);
    }
    if (!result_.tokens_per_second_per_gpu) {
      if (!measured) miss(MissingInput::measurement);
      if (needs_tokens && !batch_alone) miss(MissingInput::tokens);
      if (!input_.gpus) miss(MissingInput::gpus);
    }
    if (!input_.peak && !result_.missing.empty()) miss(MissingInput::peak);
  }

  // Only closed forms in N alone can do without.
  [[nodiscard]] bool seq_len_known() const {
    return input_.seq_len || !input_.model || !input_.lengths.empty();
  }

  const CalcInput& input_;
  Calculation result_;
};

ConventionResult count_under(const CalcInput& input, const Convention& convention) {
  const ModelShape shape = input.model.value_or(ModelShape{});
  FlopCount count;
  try {
    count = count_flops(shape, work_of(input), convention, switches_for(input, convention));
  } catch (const Error&) {
    // This kind of recomputation is not defined for another convention: its MFU is.
    Switches without = switches_for(input, convention);
    if (&convention == input.convention || !without.recompute) throw;
    without.recompute.reset();
    count = count_flops(shape, work_of(input), convention, without);
    if (!convention.hardware_count) count.hardware_flops.reset();
  }
  ConventionResult result;
  result.convention = &convention;
  result.flops_per_token = count.model_flops;
  result.hardware_flops_per_token = count.hardware_flops;
  result.params = count.params;
  result.settings = count.settings;
  return result;
}

void hold_against_peak(ConventionResult& result, const Value& tokens_per_second_per_gpu,
                       const std::optional<PeakUsed>& peak) {
  if (!tokens_per_second_per_gpu) return;
  const double rate = *tokens_per_second_per_gpu;
  if (result.flops_per_token) result.flops_per_second = rate * *result.flops_per_token;
  if (result.hardware_flops_per_token) {
    result.hardware_flops_per_second = rate * *result.hardware_flops_per_token;
  }
  if (!peak) return;
  if (result.flops_per_second) result.mfu = *result.flops_per_second / peak->flops;
  if (result.hardware_flops_per_second) {
    result.hfu = *result.hardware_flops_per_second / peak->flops;
  }
}

// What the achieved figure of a GPU says about tokens, and whether the tokens agree with it.
void use_achieved(Calculation& calculation, const ConventionResult& chosen) {
  const CalcInput& input = calculation.input;
  const Value per_token =
      chosen.flops_per_token ? chosen.flops_per_token : chosen.hardware_flops_per_token;
  if (!input.achieved_flops || !per_token) return;
  const double implied = *input.achieved_flops / *per_token;
  Value& rate = calculation.tokens_per_second_per_gpu;
  if (!rate) {
    rate = implied;
    if (input.gpus) calculation.tokens_per_second = implied * *input.gpus;
    if (calculation.tokens_per_second && calculation.tokens_per_step) {
      calculation.step_seconds = *calculation.tokens_per_step / *calculation.tokens_per_second;
    }
    return;
  }
  const double from_tokens = *rate * *per_token;
  const double larger = std::max(from_tokens, *input.achieved_flops);
  const double smaller = std::min(from_tokens, *input.achieved_flops);
  if (larger - smaller <= kAgreement * smaller) return;
  Disagreement found;
  found.left = Quantity::achieved_flops;
  found.left_value = *input.achieved_flops;
  found.right_value = from_tokens;
  if (input.tokens_per_second_per_gpu) {
    found.from = {Quantity::tokens_per_second_per_gpu};
  } else if (input.tokens_per_second) {
    found.from = {Quantity::tokens_per_second};
  } else {
    found.from = {Quantity::step_seconds};
  }
  found.factor = whole_factor(larger / smaller);
  found.left_is_larger = *input.achieved_flops > from_tokens;
  found.guess = guess_factor(input, found.factor);
  add_disagreement(calculation, std::move(found));
}

CalcStatus status_of(const Calculation& calculation) {
  if (!calculation.input.peak) return CalcStatus::no_peak;
  const Value mfu = calculation.mfu();
  const Value hfu = calculation.results.empty() ? Value{} : Value(calculation.results.front().hfu);
  const double most = std::max(mfu.value_or(0.0), hfu.value_or(0.0));
  return most > 1.0 ? CalcStatus::impossible : CalcStatus::ok;
}

}  // namespace

std::string_view to_string(CalcStatus status) noexcept {
  switch (status) {
    case CalcStatus::ok:
      return "ok";
    case CalcStatus::impossible:
      return "impossible";
    case CalcStatus::no_peak:
      return "no-peak";
    case CalcStatus::no_model:
      return "no-model";
  }
  return "";
}

std::int64_t whole_factor(double ratio) noexcept {
  const double nearest = std::round(ratio);
  if (!(nearest >= 2.0) || nearest > 1e9) return 0;
  return std::fabs(ratio - nearest) <= kAgreement * nearest ? std::llround(nearest) : 0;
}

Switches switches_for(const CalcInput& input, const Convention& convention) {
  if (&convention == input.convention) return input.switches;
  Switches carried;
  if (convention.defaults.recompute && !convention.hardware_count) {
    carried.recompute = input.switches.recompute;
  }
  if (convention.defaults.trainable) carried.trainable = input.switches.trainable;
  return carried;
}

Calculation calculate(const CalcInput& input, std::span<const Convention* const> others) {
  Calculation calculation = Solver(input).solve();
  if (!calculation.missing.empty() || calculation.disagreements) return calculation;
  const bool has_model = input.model.has_value() || input.params.has_value();
  if (!has_model || input.convention == nullptr) {
    calculation.achieved_flops = input.achieved_flops;
    if (input.achieved_flops && input.peak) {
      calculation.ratio = *input.achieved_flops / input.peak->flops;
    }
    calculation.status = status_of(calculation);
    return calculation;
  }
  ConventionResult chosen = count_under(input, *input.convention);
  use_achieved(calculation, chosen);
  if (calculation.disagreements) return calculation;
  hold_against_peak(chosen, calculation.tokens_per_second_per_gpu, input.peak);
  calculation.achieved_flops =
      chosen.flops_per_second ? chosen.flops_per_second : chosen.hardware_flops_per_second;
  calculation.results.push_back(std::move(chosen));
  for (const Convention* other : others) {
    if (other == input.convention) continue;
    try {
      ConventionResult result = count_under(input, *other);
      hold_against_peak(result, calculation.tokens_per_second_per_gpu, input.peak);
      calculation.results.push_back(std::move(result));
    } catch (const Error& error) {
      calculation.left_out.push_back({other, error.message()});
    }
  }
  calculation.status = status_of(calculation);
  return calculation;
}

}  // namespace mfu
