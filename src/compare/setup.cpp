#include "compare/setup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mfu::comparison {
namespace {

using Value = std::optional<double>;

// Tokens of packed or padded data differ a little from run to run, and so does their work.
constexpr double kSameTokens = 1e-3;
// One formula on one shape gives one number.
constexpr double kSameFormula = 1e-6;

// A rate and a step time that a log prints are rounded apart from one another.
constexpr double kSameDelivered = 1e-2;

bool differ(const Value& a, const Value& b, double tolerance) {
  return a && b && !same_number(*a, *b, tolerance);
}

Reason texts(Obstacle obstacle, const std::string& before, const std::string& after) {
  Reason reason;
  reason.obstacle = obstacle;
  reason.before_text = before;
  reason.after_text = after;
  return reason;
}

Reason numbers(Obstacle obstacle, const Value& before, const Value& after) {
  Reason reason;
  reason.obstacle = obstacle;
  reason.before = before;
  reason.after = after;
  return reason;
}

// FLOPs of a token: of a step's, or as the MFU and the tokens a second have it.
Value flops_per_token(const Side& side) {
  if (side.flops_per_step && side.tokens_per_step && *side.tokens_per_step > 0) {
    return *side.flops_per_step / *side.tokens_per_step;
  }
  if (side.mfu && side.peak_flops_per_gpu && side.tokens_per_second_per_gpu) {
    return *side.mfu * *side.peak_flops_per_gpu / *side.tokens_per_second_per_gpu;
  }
  return {};
}

// FLOPs of a step, as the MFU and the step time have it; of a GPU where their number is not known.
Value delivered_in_a_step(const Side& side) {
  if (!side.mfu || !side.peak_flops_per_gpu || !side.step_seconds) return {};
  return *side.mfu * *side.peak_flops_per_gpu * *side.step_seconds * side.gpus.value_or(1.0);
}

void check_work(const Side& before, const Side& after, std::vector<Reason>& reasons) {
  if (differ(before.tokens_per_step, after.tokens_per_step, kSameTokens)) {
    reasons.push_back(numbers(Obstacle::tokens, before.tokens_per_step, after.tokens_per_step));
  }
  const Value each_before = flops_per_token(before);
  const Value each_after = flops_per_token(after);
  const bool of_steps = before.flops_per_step && before.tokens_per_step && after.flops_per_step &&
                        after.tokens_per_step;
  if (each_before && each_after) {
    // What is worked back from a rate is rounded as the rate is.
    if (!differ(each_before, each_after, of_steps ? kSameFormula : kSameTokens)) return;
    const bool same_tokens =
        of_steps && !differ(before.tokens_per_step, after.tokens_per_step, kSameTokens);
    reasons.push_back(same_tokens
                          ? numbers(Obstacle::formula, before.flops_per_step, after.flops_per_step)
                          : numbers(Obstacle::formula, each_before, each_after));
  } else if (before.flops_per_step && after.flops_per_step) {
    if (!differ(before.flops_per_step, after.flops_per_step, kSameFormula)) return;
    reasons.push_back(numbers(Obstacle::work, before.flops_per_step, after.flops_per_step));
  } else if (before.gpus == after.gpus) {
    const Value work_before = delivered_in_a_step(before);
    const Value work_after = delivered_in_a_step(after);
    if (!differ(work_before, work_after, kSameDelivered)) return;
    reasons.push_back(numbers(Obstacle::work, work_before, work_after));
  }
}

bool measured(const Side& side) { return side.mfu || side.step_seconds; }

struct NumberKey {
  std::string_view key, cause;
  Value Side::*member;
};
struct TextKey {
  std::string_view key, cause;
  const std::string& (*of)(const Side& side);
};
template <std::string Side::*member>
const std::string& text_of(const Side& side) {
  return side.*member;
}
const std::string& precision_of(const Side& side) { return side.fingerprint.precision; }
constexpr std::array kTexts{TextKey{"model", "model", text_of<&Side::model>},
                            TextKey{"chip", "chip", text_of<&Side::chip>},
                            TextKey{"precision", "precision", precision_of},
                            TextKey{"recompute", "recomputation", text_of<&Side::recompute>}};
constexpr std::array kNumbers{NumberKey{"gpus", "scale", &Side::gpus},
                              NumberKey{"nodes", "scale", &Side::nodes},
                              NumberKey{"params", "model", &Side::params},
                              NumberKey{"seq_len", "sequence", &Side::seq_len},
                              NumberKey{"global_batch", "batch", &Side::global_batch},
                              NumberKey{"tokens_per_step", "batch", &Side::tokens_per_step},
                              NumberKey{"flops_per_step", "", &Side::flops_per_step},
                              NumberKey{"microbatches", "microbatches", &Side::microbatches},
                              NumberKey{"stages", "layout", &Side::stages}};

double size_of(const Side& side, const std::string& axis) {
  const auto at = side.layout.find(axis);
  return at == side.layout.end() ? 1.0 : static_cast<double>(at->second);
}

}  // namespace

bool same_number(double a, double b, double tolerance) noexcept {
  return a == b || std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

std::vector<Reason> obstacles_between(const Side& before, const Side& after) {
  std::vector<Reason> reasons;
  if (before.status == CalcStatus::impossible || after.status == CalcStatus::impossible) {
    reasons.push_back(numbers(Obstacle::impossible, before.mfu, after.mfu));
  }
  if (!measured(before) || !measured(after)) {
    reasons.push_back(texts(Obstacle::unmeasured, measured(before) ? "" : before.name,
                            measured(after) ? "" : after.name));
  }
  if (before.mfu.has_value() != after.mfu.has_value()) {
    reasons.push_back(numbers(Obstacle::missing_mfu, before.mfu, after.mfu));
  }
  const Fingerprint& was = before.fingerprint;
  const Fingerprint& is = after.fingerprint;
  if (was.convention != is.convention || was.settings != is.settings) {
    reasons.push_back(texts(Obstacle::convention, counted_by(was), counted_by(is)));
  }
  if (was.precision != is.precision) {
    reasons.push_back(texts(Obstacle::precision, was.precision, is.precision));
  }
  if (was.clock != is.clock) {
    reasons.push_back(texts(Obstacle::clock, to_text(was.clock), to_text(is.clock)));
  }
  if (before.peak_flops_per_gpu.has_value() != after.peak_flops_per_gpu.has_value() ||
      differ(before.peak_flops_per_gpu, after.peak_flops_per_gpu, 1e-9)) {
    reasons.push_back(numbers(Obstacle::peak, before.peak_flops_per_gpu, after.peak_flops_per_gpu));
  }
  if (differ(before.gpus, after.gpus, 1e-9)) {
    reasons.push_back(numbers(Obstacle::gpus, before.gpus, after.gpus));
  }
  check_work(before, after, reasons);
  if (before.measure == Measure::run && after.measure == Measure::run &&
      before.reference != after.reference) {
    reasons.push_back(texts(Obstacle::reference, before.reference, after.reference));
  }
  return reasons;
}

std::vector<Difference> differences_between(const Side& before, const Side& after) {
  std::vector<Difference> all;
  const bool scaled = differ(before.gpus, after.gpus, 1e-9);
  for (const TextKey& key : kTexts) {
    const std::string& a = key.of(before);
    const std::string& b = key.of(after);
    if (a.empty() || b.empty() || a == b) continue;
    all.push_back({std::string(key.key), std::string(key.cause), {}, {}, a, b});
  }
  for (const NumberKey& key : kNumbers) {
    const Value& a = before.*key.member;
    const Value& b = after.*key.member;
    if (!differ(a, b, kSameTokens)) continue;
    Difference difference{std::string(key.key), std::string(key.cause), a, b, {}, {}};
    // With the GPUs the batch may grow: then it is the same share of it that each has.
    if (difference.cause == "batch" && scaled &&
        same_number(*a / *before.gpus, *b / *after.gpus, kSameTokens)) {
      difference.cause.clear();
    }
    all.push_back(std::move(difference));
  }
  // A longer sequence is more tokens a step by itself.
  const bool longer = std::any_of(all.begin(), all.end(),
                                  [](const Difference& d) { return d.cause == "sequence"; });
  for (Difference& difference : all) {
    if (longer && difference.key == "tokens_per_step") difference.cause.clear();
  }
  if (!before.layout.empty() && !after.layout.empty()) {
    for (const char* axis : {"tp", "cp", "ep", "dp", "pp"}) {
      const double a = size_of(before, axis);
      const double b = size_of(after, axis);
      if (a == b) continue;
      // Replicas follow from the number of GPUs.
      const bool follows = scaled && std::string_view(axis) == "dp";
      all.push_back({axis, follows ? "" : "layout", a, b, {}, {}});
    }
  }
  return all;
}

}  // namespace mfu::comparison
