// Two measurements under one convention and against one peak, from what they hold.
#include <algorithm>
#include <cmath>

#include "compare/comparison.hpp"
#include "compare/setup.hpp"
#include "compare/side.hpp"
#include "mfu/flops.hpp"

namespace mfu::comparison {
namespace {

using Value = std::optional<double>;

bool has(const std::vector<Reason>& reasons, Obstacle obstacle) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const Reason& reason) { return reason.obstacle == obstacle; });
}

std::optional<ModelShape> shape_of(const Side& side) {
  if (side.shape) return side.shape;
  if (side.model.empty()) return {};
  try {
    return find_model(side.model);
  } catch (const Error&) {
    return {};
  }
}

// FLOPs per token of this side under a convention: as it was counted, or counted now.
Value count_of(const Side& side, const SideCount& wanted) {
  for (const SideCount& count : side.counts) {
    if (count.convention == wanted.convention && count.settings == wanted.settings) {
      return count.flops_per_token;
    }
  }
  const std::optional<ModelShape> shape = shape_of(side);
  if (!shape || !side.seq_len) return {};
  try {
    Work work;
    work.seq_len = *side.seq_len;
    work.params = side.params;
    const FlopCount count = count_flops(*shape, work, find_convention(wanted.convention));
    // Switches that were set by hand are not in the name of a convention.
    if (count.settings != wanted.settings) return {};
    return count.model_flops;
  } catch (const Error&) {
    return {};
  }
}

bool same_model(const Side& before, const Side& after) {
  const bool named = !before.model.empty() && before.model == after.model;
  const bool sized =
      before.params && after.params && same_number(*before.params, *after.params, 1e-6);
  const bool length = before.seq_len == after.seq_len;
  return length && (named || (sized && (before.model.empty() || after.model.empty())));
}

// Empty: nobody says how.
std::string named_counting(const Fingerprint& fingerprint) {
  return is_unnamed(fingerprint) ? std::string() : counted_by(fingerprint);
}

void set_ratio(Restated& result, double before, double after) {
  result.log_ratio = std::log(after) - std::log(before);
}

}  // namespace

std::optional<Restated> restate(const Side& before, const Side& after,
                                const std::vector<Reason>& reasons) {
  for (const Obstacle fatal : {Obstacle::impossible, Obstacle::unmeasured}) {
    if (has(reasons, fatal)) return {};
  }
  const bool recount = has(reasons, Obstacle::convention) || has(reasons, Obstacle::formula);
  const Value peak =
      after.peak_flops_per_gpu ? after.peak_flops_per_gpu : before.peak_flops_per_gpu;
  const Value& rate_before = before.tokens_per_second_per_gpu;
  const Value& rate_after = after.tokens_per_second_per_gpu;

  // FLOP/s of a GPU, as counted: what differs is the peak, the GPUs or the batch.
  if (!recount && !has(reasons, Obstacle::work) && before.mfu && after.mfu &&
      before.peak_flops_per_gpu && after.peak_flops_per_gpu) {
    Restated result;
    result.how = Restatement::flops;
    result.convention = named_counting(after.fingerprint);
    result.before_scale = *before.peak_flops_per_gpu / *peak;
    result.after_scale = *after.peak_flops_per_gpu / *peak;
    result.mfu_before = *before.mfu * result.before_scale;
    result.mfu_after = *after.mfu * result.after_scale;
    set_ratio(result, *result.mfu_before, *result.mfu_after);
    return result;
  }
  if (!rate_before || !rate_after) return {};

  // Counted under one convention: after's where it can be, else before's.
  if (peak) {
    std::vector<SideCount> wanted;
    if (!after.counts.empty()) wanted.push_back(after.counts.front());
    if (!before.counts.empty()) wanted.push_back(before.counts.front());
    for (const SideCount& count : wanted) {
      const Value each_before = count_of(before, count);
      const Value each_after = count_of(after, count);
      if (!each_before || !each_after) continue;
      // One name, two numbers: one of them is not what the name says.
      if (has(reasons, Obstacle::formula) && same_model(before, after) &&
          !same_number(*each_before, *each_after, 1e-6)) {
        continue;
      }
      Restated result;
      result.how = Restatement::counts;
      result.convention = count.convention;
      result.mfu_before = *each_before * *rate_before / *peak;
      result.mfu_after = *each_after * *rate_after / *peak;
      if (before.mfu) result.before_scale = *result.mfu_before / *before.mfu;
      if (after.mfu) result.after_scale = *result.mfu_after / *after.mfu;
      set_ratio(result, *result.mfu_before, *result.mfu_after);
      return result;
    }
  }

  // The same model on the same sequences: a token is the same work before and after, whatever it is
  // counted as. Where neither side says the model, the tokens of a step must be the same.
  const bool same_tokens =
      before.tokens_per_step && after.tokens_per_step && !has(reasons, Obstacle::tokens) &&
      (before.model.empty() || after.model.empty() || before.model == after.model);
  if (!same_model(before, after) && !same_tokens) return {};
  Restated result;
  result.how = Restatement::tokens;
  result.convention = named_counting(after.mfu ? after.fingerprint : before.fingerprint);
  set_ratio(result, *rate_before, *rate_after);
  const double ratio = *rate_after / *rate_before;
  if (after.mfu) {
    result.mfu_after = after.mfu;
    result.mfu_before = *after.mfu / ratio;
  } else if (before.mfu) {
    result.mfu_before = before.mfu;
    result.mfu_after = *before.mfu * ratio;
  }
  if (before.mfu && result.mfu_before) result.before_scale = *result.mfu_before / *before.mfu;
  if (after.mfu && result.mfu_after) result.after_scale = *result.mfu_after / *after.mfu;
  return result;
}

}  // namespace mfu::comparison
