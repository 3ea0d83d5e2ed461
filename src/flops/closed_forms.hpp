// Closed forms: c N + attention, and the dense stack with f = 4h written in squares of h.
#pragma once

#include <string_view>

#include "flops/stated_params.hpp"
#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace mfu {

// 6N + 6 x the attention width x the mean context, summed over layers (PaLM, arXiv:2204.02311,
// appendix B, where it reads 6N + 12 L H Q T).
struct ParamsForm {
  std::string_view id;
  ParamsTaken taken = ParamsTaken::active;
  bool width_is_hidden = false;      // 2h instead of H (d_qk + d_v)
  bool ignores_packing = false;      // T is the sequence length whatever the documents are
  bool full_recompute_only = false;  // knows no other recomputation than all of it
};
[[nodiscard]] FlopCount params_count(const ModelShape& model, const Work& work,
                                     const Switches& resolved, const ParamsForm& form);

// Forward FLOPs of scores and values over all layers, as such a form has them.
[[nodiscard]] double attention_forward(const ModelShape& model, const Work& work,
                                       const Switches& resolved, const ParamsForm& form);

// c N without attention.
[[nodiscard]] FlopCount params_only(const ModelShape& model, const Work& work,
                                    const Switches& resolved, std::string_view id,
                                    ParamsTaken taken);

// The terms of 24 B s L h^2 (1 + s/(6h) + V/(12 L h)) x 3, per token: layers, attention, logits of
// one forward pass of a dense stack with f = 4h, as many key/value heads as heads, and two matrices
// in the MLP (Narayanan 2021, arXiv:2104.04473, section 5.1 and appendix). Throws where the stack
// is of another kind: experts, hybrid.
struct SquareForm {
  double layers = 0.0;     // 24 L h^2
  double attention = 0.0;  // 4 L h s
  double logits = 0.0;     // 2 h V
};
[[nodiscard]] SquareForm square_form(const ModelShape& model, const Work& work,
                                     std::string_view id);

}  // namespace mfu
