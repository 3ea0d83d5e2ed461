// N of the closed forms: stated by the user, else stated with the model, else derived from the
// shape.
#pragma once

#include <string_view>

#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace mfu {

enum class ParamsTaken {
  active,                 // all that a token meets: top_k of the experts, both embeddings
  total,                  // all, experts included
  without_positions,      // active, less the learned position table
  without_input_table,    // active, less the input table unless the output shares it
  without_embeddings,     // active, less every table: Kaplan's non-embedding N
  without_token_table,    // active, less h V once, tied or not
  total_without_lookup,   // all, less nn.Embedding weights: input and position tables, tied or not
  active_without_lookup,  // active, less input and position tables, tied or not
};

// A stated N is of the whole model, both embeddings included; tables are taken off it by the shape.
// A stated N of the run (Work::params) is taken as active. Throws Error{insufficient} naming what
// the shape lacks, and that `params` would do where it would.
[[nodiscard]] double params_taken(const ModelShape& model, const Work& work, ParamsTaken taken,
                                  std::string_view who);

}  // namespace mfu
