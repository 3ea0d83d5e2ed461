#include "flops/switches.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "mfu/error.hpp"

namespace mfu {
namespace {

std::string_view name(AttentionCount attention) {
  switch (attention) {
    case AttentionCount::none:
      return "none";
    case AttentionCount::full:
      return "full";
    case AttentionCount::causal:
      return "causal";
    case AttentionCount::exact:
      return "exact";
  }
  return "";
}

std::string_view name(RecomputeCount recompute) {
  switch (recompute) {
    case RecomputeCount::none:
      return "none";
    case RecomputeCount::selective:
      return "selective";
    case RecomputeCount::full:
      return "full";
    case RecomputeCount::palm:
      return "palm";
    case RecomputeCount::palm_attention:
      return "palm-attention";
  }
  return "";
}

std::string_view name(Trainable trainable) {
  switch (trainable) {
    case Trainable::all:
      return "all";
    case Trainable::lora:
      return "lora";
    case Trainable::none:
      return "none";
  }
  return "";
}

[[noreturn]] void no_meaning(const Convention& convention, std::string_view option) {
  throw Error(ErrorKind::unsupported,
              std::string(option) + " has no meaning for the convention '" +
                  std::string(convention.id) + "'",
              {}, "its formula is " + std::string(convention.formula));
}

template <typename Value>
std::optional<Value> resolve(const Convention& convention, std::string_view option,
                             const std::optional<Value>& standing,
                             const std::optional<Value>& wanted) {
  if (!wanted) return standing;
  if (!standing) no_meaning(convention, option);
  return wanted;
}

[[noreturn]] void refuse_value(std::string_view convention, std::string_view option,
                               std::string_view value) {
  throw Error(ErrorKind::unsupported, std::string(option) + " " + std::string(value) +
                                          " is not defined for the convention '" +
                                          std::string(convention) + "'");
}

void append(std::string& text, std::string_view key, std::string_view value) {
  if (!text.empty()) text += ' ';
  text += key;
  text += '=';
  text += value;
}

}  // namespace

Switches resolve_switches(const Convention& convention, const Switches& overrides) {
  const Switches& standing = convention.defaults;
  Switches resolved;
  resolved.attention = resolve(convention, "--attention", standing.attention, overrides.attention);
  resolved.honour_window =
      resolve(convention, "--window", standing.honour_window, overrides.honour_window);
  resolved.count_router =
      resolve(convention, "--router", standing.count_router, overrides.count_router);
  resolved.recompute = resolve(convention, "--recompute", standing.recompute, overrides.recompute);
  resolved.trainable = resolve(convention, "--trainable", standing.trainable, overrides.trainable);
  return resolved;
}

std::string describe_switches(const Switches& resolved) {
  std::string text;
  if (resolved.attention) append(text, "attention", name(*resolved.attention));
  if (resolved.honour_window) append(text, "window", *resolved.honour_window ? "honour" : "ignore");
  if (resolved.count_router) append(text, "router", *resolved.count_router ? "count" : "skip");
  if (resolved.recompute) append(text, "recompute", name(*resolved.recompute));
  if (resolved.trainable) append(text, "trainable", name(*resolved.trainable));
  return text;
}

void refuse(std::string_view convention, RecomputeCount recompute) {
  refuse_value(convention, "--recompute", name(recompute));
}

void refuse(std::string_view convention, Trainable trainable) {
  refuse_value(convention, "--trainable", name(trainable));
}

}  // namespace mfu
