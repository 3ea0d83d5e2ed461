// Where the ranks of a synthetic job sit: logically (tp, ep, dp, pp) and physically (node).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mfu::faults {

// Lanes are the ranks that run in lock-step: the peers of one tensor-parallel or one
// expert-parallel group (at most one of tp and ep is above 1). A unit is one such group: (dp index,
// stage).
struct Layout {
  int tp = 1;
  int ep = 1;
  int dp = 8;
  int pp = 1;
  bool pipeline_inside = false;  // rank order tp-ep-pp-dp: a pipeline's stages are neighbours
  bool lanes_outside = false;    // one stage: rank order dp-ep, an expert's replicas are neighbours
  int gpus_per_node = 8;

  [[nodiscard]] int lanes() const noexcept { return tp * ep; }
  [[nodiscard]] int units() const noexcept { return dp * pp; }
  [[nodiscard]] int ranks() const noexcept { return lanes() * units(); }
  [[nodiscard]] int nodes() const noexcept { return (ranks() + gpus_per_node - 1) / gpus_per_node; }

  [[nodiscard]] int unit(int dp_index, int stage) const noexcept { return dp_index * pp + stage; }
  [[nodiscard]] int rank(int dp_index, int stage, int lane) const noexcept {
    const int outer = pipeline_inside ? dp_index * pp + stage : stage * dp + dp_index;
    return lanes_outside ? lane * units() + outer : outer * lanes() + lane;
  }
  [[nodiscard]] int lane_of(int rank) const noexcept {
    return lanes_outside ? rank / units() : rank % lanes();
  }
  [[nodiscard]] int outer_of(int rank) const noexcept {
    return lanes_outside ? rank % units() : rank / lanes();
  }
  [[nodiscard]] int dp_of(int rank) const noexcept {
    const int outer = outer_of(rank);
    return pipeline_inside ? outer / pp : outer % dp;
  }
  [[nodiscard]] int stage_of(int rank) const noexcept {
    const int outer = outer_of(rank);
    return pipeline_inside ? outer % pp : outer / dp;
  }
  [[nodiscard]] int node_of(int rank) const noexcept { return rank / gpus_per_node; }

  // Gradients are reduced over all ranks of a stage that hold the same weights: over dp for each
  // tensor-parallel lane; expert lanes share the dense weights, so they are one group.
  [[nodiscard]] int groups_per_stage() const noexcept { return tp; }
  [[nodiscard]] int dp_groups() const noexcept { return pp * groups_per_stage(); }
  [[nodiscard]] int dp_group_of(int rank) const noexcept {
    return stage_of(rank) * groups_per_stage() + (tp > 1 ? lane_of(rank) : 0);
  }

  // A stage that fills exactly one node: its slowness cannot be told from the node's.
  [[nodiscard]] bool stage_is_node() const noexcept {
    return pp > 1 && !pipeline_inside && dp * lanes() == gpus_per_node;
  }

  // A stage that fills some nodes, and nothing else does: work and hardware look the same there.
  [[nodiscard]] bool stage_is_nodes() const noexcept {
    const int together = pipeline_inside ? lanes() : dp * lanes();
    return pp > 1 && !lanes_outside && together % gpus_per_node == 0;
  }

  // All replicas of one expert fill exactly one node.
  [[nodiscard]] bool expert_is_node() const noexcept {
    return ep > 1 && lanes_outside && units() == gpus_per_node;
  }

  [[nodiscard]] std::vector<int> ranks_of_node(int node) const;
  [[nodiscard]] std::vector<int> ranks_of_unit(int unit) const;
  [[nodiscard]] std::vector<int> ranks_of_dp_group(int group) const;
  [[nodiscard]] std::string node_name(int node) const;
};

}  // namespace mfu::faults
