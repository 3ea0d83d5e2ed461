#include "flops/closed_forms.hpp"

#include <string>

#include "flops/exact.hpp"
#include "flops/required.hpp"
#include "flops/switches.hpp"
#include "mfu/error.hpp"

namespace mfu {
namespace {

std::string named(std::string_view id) { return "the convention '" + std::string(id) + "'"; }

// Forward and backward of N parameters and an attention term that has none.
double passes(double params, double attention, Trainable trainable) {
  switch (trainable) {
    case Trainable::all:
      return 6.0 * params + 3.0 * attention;
    case Trainable::lora:  // the gradient of a frozen weight itself is not made
      return 4.0 * params + 3.0 * attention;
    case Trainable::none:
      return 2.0 * params + attention;
  }
  return 0.0;
}

}  // namespace

double attention_forward(const ModelShape& model, const Work& work, const Switches& resolved,
                         const ParamsForm& form) {
  const AttentionCount attention = resolved.attention.value_or(AttentionCount::full);
  if (attention == AttentionCount::none) return 0.0;
  Missing missing;
  if (model.pattern.empty()) missing.need("layers", model.layers);
  const bool own_width = model.head_dim > 0 || model.mla.has_value();
  if (form.width_is_hidden || !own_width) missing.need("hidden", model.hidden);
  if (!form.width_is_hidden) missing.need("heads", model.heads);
  missing.need_seq_len(work, form.ignores_packing);
  missing.check(named(form.id));

  const LayerCounts layers = count_layers(model);
  const double width = form.width_is_hidden ? 2.0 * static_cast<double>(model.hidden)
                                            : attention_widths(model, false).core();
  const auto context = [&](double window) {
    return mean_context(work, attention, window, WindowCount::pairs, form.ignores_packing);
  };
  const double local = resolved.honour_window.value_or(false) ? layers.local : 0.0;
  const double keys = (layers.attention - local) * context(0.0) +
                      local * context(static_cast<double>(model.window));
  return 2.0 * width * keys;
}

FlopCount params_count(const ModelShape& model, const Work& work, const Switches& resolved,
                       const ParamsForm& form) {
  const RecomputeCount recompute = resolved.recompute.value_or(RecomputeCount::none);
  if (form.full_recompute_only && recompute != RecomputeCount::none &&
      recompute != RecomputeCount::full) {
    refuse(form.id, recompute);
  }
  FlopCount count;
  count.params = params_taken(model, work, form.taken, named(form.id));
  const double attention = attention_forward(model, work, resolved, form);
  const Trainable trainable = resolved.trainable.value_or(Trainable::all);
  double again = 0.0;
  switch (recompute) {
    case RecomputeCount::none:
      break;
    case RecomputeCount::selective:
    case RecomputeCount::palm_attention:  // 6N + 16 L H Q T
      again = attention;
      break;
    case RecomputeCount::full:  // 8N + 16 L H Q T
      again = 2.0 * count.params + attention;
      break;
    case RecomputeCount::palm:  // 7.5N + 16 L H Q T
      again = 1.5 * count.params + attention;
      break;
  }
  if (trainable == Trainable::none) again = 0.0;  // nothing is recomputed for no backward pass
  const double model_flops = passes(count.params, attention, trainable);
  count.model_flops = model_flops;
  count.hardware_flops = model_flops + again;
  return count;
}

FlopCount params_only(const ModelShape& model, const Work& work, const Switches& resolved,
                      std::string_view id, ParamsTaken taken) {
  Switches without = resolved;
  without.attention = AttentionCount::none;
  return params_count(model, work, without,
                      {.id = id, .taken = taken, .full_recompute_only = true});
}

SquareForm square_form(const ModelShape& model, const Work& work, std::string_view id) {
  if (model.experts > 0 || !model.pattern.empty()) {
    throw Error(ErrorKind::unsupported,
                named(id) + " counts a dense stack only; this model has " +
                    (model.pattern.empty() ? "experts" : "a layer pattern"));
  }
  Missing missing;
  missing.need("layers", model.layers);
  missing.need("hidden", model.hidden);
  missing.need("vocab", model.vocab);
  missing.need_seq_len(work, true);
  missing.check(named(id));
  const auto layers = static_cast<double>(model.layers);
  const auto hidden = static_cast<double>(model.hidden);
  return {24.0 * layers * hidden * hidden, 4.0 * layers * hidden * work.seq_len,
          2.0 * hidden * static_cast<double>(model.vocab)};
}

}  // namespace mfu
