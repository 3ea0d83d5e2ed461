#include "flops/stated_params.hpp"

#include <optional>
#include <string>

#include "flops/required.hpp"
#include "mfu/error.hpp"

namespace mfu {
namespace {

// What is taken off the whole N, from the shape alone.
double taken_off(const ModelShape& model, ParamsTaken taken, std::string_view who) {
  const auto positions =
      static_cast<double>(model.learned_positions) * static_cast<double>(model.hidden);
  const auto table = static_cast<double>(model.vocab) * static_cast<double>(model.hidden);
  if (taken == ParamsTaken::active || taken == ParamsTaken::total) return 0.0;
  Missing missing;
  if (taken != ParamsTaken::without_positions || model.learned_positions > 0) {
    missing.need("hidden", model.hidden);
  }
  if (taken != ParamsTaken::without_positions) missing.need("vocab", model.vocab);
  missing.check(who);
  switch (taken) {
    case ParamsTaken::active:
    case ParamsTaken::total:
      return 0.0;
    case ParamsTaken::without_positions:
      return positions;
    case ParamsTaken::without_input_table:
      return model.tied_embeddings ? 0.0 : table;
    case ParamsTaken::without_embeddings:
      return (model.tied_embeddings ? table : 2.0 * table) + positions;
    case ParamsTaken::without_token_table:
      return table;
    case ParamsTaken::total_without_lookup:
    case ParamsTaken::active_without_lookup:
      return table + positions;
  }
  return 0.0;
}

}  // namespace

double params_taken(const ModelShape& model, const Work& work, ParamsTaken taken,
                    std::string_view who) {
  const bool whole = taken == ParamsTaken::total || taken == ParamsTaken::total_without_lookup;
  std::optional<double> stated = work.params;
  // What stands beside a MoE shape is its total, experts included.
  if (!stated && model.given_params && (model.experts == 0 || whole)) stated = model.given_params;
  if (stated) return *stated - taken_off(model, taken, who);

  Missing missing;
  require_layers(model, missing);
  missing.need("vocab", model.vocab);
  if (!missing.empty()) missing.add("or params");
  missing.check(who);
  const ParameterCount count = count_parameters(model);
  return (whole ? count.total : count.active) - taken_off(model, taken, who);
}

}  // namespace mfu
