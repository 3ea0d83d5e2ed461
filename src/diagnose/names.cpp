#include <algorithm>

#include "diagnose/places/place.hpp"
#include "diagnose/step_terms.hpp"
#include "diagnose/worth/fix_worth.hpp"
#include "mfu/diagnose.hpp"

namespace mfu {

std::string_view to_string(Family family) noexcept {
  switch (family) {
    case Family::imbalance:
      return "imbalance";
    case Family::single_gpu_efficiency:
      return "single-gpu-efficiency";
    case Family::straggler:
      return "straggler";
    case Family::stall:
      return "stall";
    case Family::communication:
      return "communication";
    case Family::healthy:
      return "healthy";
    case Family::mixed:
      return "mixed";
    case Family::inconclusive:
      return "inconclusive";
  }
  return "";
}

std::string_view to_string(Locality locality) noexcept {
  switch (locality) {
    case Locality::rank:
      return "rank";
    case Locality::node:
      return "node";
    case Locality::link:
      return "link";
    case Locality::group:
      return "group";
    case Locality::stage:
      return "stage";
    case Locality::all:
      return "all";
    case Locality::none:
      return "none";
  }
  return "";
}

std::string_view to_string(Persistence persistence) noexcept {
  switch (persistence) {
    case Persistence::none:
      return "";
    case Persistence::steady:
      return "steady";
    case Persistence::bursts:
      return "bursts";
    case Persistence::onset:
      return "onset";
    case Persistence::ended:
      return "ended";
    case Persistence::once:
      return "once";
    case Persistence::drift:
      return "drift";
    case Persistence::moving:
      return "moving";
  }
  return "";
}

std::string_view to_string(Cause cause) noexcept {
  switch (cause) {
    case Cause::none:
      return "";
    case Cause::thermal:
      return "thermal";
    case Cause::power:
      return "power";
    case Cause::hardware:
      return "hardware";
    case Cause::link:
      return "link";
    case Cause::stage_partition:
      return "stage-partition";
    case Cause::data_lengths:
      return "data-lengths";
    case Cause::data_shard:
      return "data-shard";
    case Cause::expert_load:
      return "expert-load";
    case Cause::input:
      return "input";
    case Cause::checkpoint:
      return "checkpoint";
    case Cause::gc:
      return "gc";
    case Cause::kernels:
      return "kernels";
    case Cause::schedule:
      return "schedule";
    case Cause::jitter:
      return "jitter";
    case Cause::clocks:
      return "clocks";
    case Cause::ecc:
      return "ecc";
    case Cause::xid:
      return "xid";
  }
  return "";
}

std::string_view to_string(FixStage stage) noexcept {
  switch (stage) {
    case FixStage::actual:
      return "actual";
    case FixStage::bursts_and_links:
      return "bursts_and_links";
    case FixStage::balanced:
      return "balanced";
    case FixStage::gpu_at_target:
      return "gpu_at_target";
  }
  return "";
}

std::string_view to_string(FactorId id) noexcept {
  switch (id) {
    case FactorId::single_gpu:
      return "single_gpu";
    case FactorId::clock:
      return "clock";
    case FactorId::kernels:
      return "kernels";
    case FactorId::balance:
      return "balance";
    case FactorId::persistent:
      return "persistent";
    case FactorId::moving:
      return "moving";
    case FactorId::stage:
      return "stage";
    case FactorId::within_stage:
      return "within_stage";
    case FactorId::own_stall:
      return "own_stall";
    case FactorId::transfer:
      return "transfer";
    case FactorId::dependency:
      return "dependency";
    case FactorId::schedule_bubble:
      return "schedule_bubble";
    case FactorId::dependency_rest:
      return "dependency_rest";
  }
  return "";
}

std::string_view to_string(PartId id) noexcept {
  switch (id) {
    case PartId::model_math:
      return "model_math";
    case PartId::compute:
      return "compute";
    case PartId::kernels_below_peak:
      return "kernels_below_peak";
    case PartId::recomputation:
      return "recomputation";
    case PartId::imbalance_wait:
      return "imbalance_wait";
    case PartId::own_stall:
      return "own_stall";
    case PartId::exposed_transfer:
      return "exposed_transfer";
    case PartId::pipeline_bubble:
      return "pipeline_bubble";
    case PartId::unattributed:
      return "unattributed";
  }
  return "";
}

std::string_view to_string(SplitMethod split) noexcept {
  switch (split) {
    case SplitMethod::separate:
      return "separate";
    case SplitMethod::groups:
      return "groups";
    case SplitMethod::step_minimum:
      return "step-minimum";
    case SplitMethod::pipeline_model:
      return "pipeline-model";
  }
  return "";
}

namespace diagnosis {

namespace {

constexpr std::size_t kMostNamed = 8;  // ranks or nodes in one name

// "node n1", "ranks 2, 5, 6 and 4 more".
std::string in_words(std::string_view what, const std::vector<std::string>& names) {
  std::string text = std::string(what) + (names.size() > 1 ? "s " : " ");
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kMostNamed) {
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  }
  return text;
}

}  // namespace

std::string place_name(const Culprits& culprits) {
  if (!culprits.nodes.empty()) return in_words("node", culprits.nodes);
  if (!culprits.groups.empty()) {
    return culprits.groups.size() == 1 ? culprits.groups.front()
                                       : in_words("group", culprits.groups);
  }
  std::vector<std::string> ranks;
  for (const std::int64_t rank : culprits.ranks) ranks.push_back(std::to_string(rank));
  return ranks.empty() ? std::string() : in_words("rank", ranks);
}

std::string rank_names(const std::vector<std::int64_t>& ranks) {
  Culprits culprits;
  culprits.ranks = ranks;
  return place_name(culprits);
}

std::string index_names(const LogicalPlace& place) {
  std::string names;
  for (const int index : place.indices) {
    names += (names.empty() ? "" : ", ") + std::string(to_string(place.axis)) + "=" +
             std::to_string(index);
  }
  return names;
}

}  // namespace diagnosis

}  // namespace mfu
