// What a job is before anything goes wrong with it: where its ranks are, how they work together,
// and how long things take. Seconds and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"

namespace second {

// A table of rows x columns with int indices.
template <class T>
class Table {
 public:
  Table() = default;
  Table(int rows, int columns, T value = T{})
      : columns_(columns),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), value) {}
  T& operator()(int row, int column) { return values_[index(row, column)]; }
  const T& operator()(int row, int column) const { return values_[index(row, column)]; }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(column);
  }
  int columns_ = 0;
  std::vector<T> values_;
};

// vector[int] without a cast at every place.
template <class T>
T& at(std::vector<T>& values, int index) {
  return values[static_cast<std::size_t>(index)];
}
template <class T>
const T& at(const std::vector<T>& values, int index) {
  return values[static_cast<std::size_t>(index)];
}
template <class T>
int count_of(const std::vector<T>& values) {
  return static_cast<int>(values.size());
}

// Ranks are numbered with tensor parallelism innermost, then context, expert, data, pipeline.
struct Layout {
  int ranks = 8;
  int per_node = 8;
  int per_rack = 0;  // nodes; 0: racks are not recorded
  int tp = 1, cp = 1, ep = 1, dp = 8, pp = 1;
  std::vector<std::string> node_names;

  int nodes() const { return (ranks + per_node - 1) / per_node; }
  int node_of(int rank) const { return rank / per_node; }
  int racks() const { return per_rack == 0 ? 0 : (nodes() + per_rack - 1) / per_rack; }
  int tp_of(int rank) const { return rank % tp; }
  int cp_of(int rank) const { return rank / tp % cp; }
  int ep_of(int rank) const { return rank / (tp * cp) % ep; }
  int dp_of(int rank) const { return rank / (tp * cp * ep) % dp; }
  int pp_of(int rank) const { return rank / (tp * cp * ep * dp); }
  int per_stage() const { return ranks / pp; }
  // Ranks that work on the same samples within a stage.
  int per_replica() const { return tp * cp; }
  int replicas() const { return per_stage() / per_replica(); }
  int replica_of(int rank) const { return rank % per_stage() / per_replica(); }
  std::vector<int> ranks_of(const std::vector<int>& nodes) const;
};

enum class Shape { sharded, hybrid, ddp, expert, ring, pipeline };

struct Setting {
  std::uint64_t seed = 0;
  Shape shape = Shape::sharded;
  Layout layout;
  int steps = 20;
  int warmup = 0;                // first steps that are slow on all ranks, and not counted
  int blocks = 8;                // layer blocks of a rank, coarse
  int accumulation = 1;          // microbatches of a rank without a pipeline
  int microbatches = 8;          // of a pipeline
  int virtual_stages = 1;        // of a rank
  double compute_s = 1.0;        // of a rank and step: forward, backward, optimizer
  double launch_share = 0.2;     // host time to launch a block, as a share of the block's kernels
  double transfer_share = 0.3;   // of a block's collective, as a share of its forward kernels
  double exchange_share = 0.02;  // blocking exchanges (tensor, expert) likewise
  double latency_s = 2e-5;       // of a transfer
  double speed_spread = 0.003;   // lasting differences between devices, standard deviation
  double noise = 0.004;          // of a pass of a rank and step
  double fetch_s = 0.002;        // own stall of every rank and step, typical
  double length_spread = 0.0;    // of a microbatch's work, healthy
  bool grows_over_nodes = true;  // groups cross nodes: NICs carry the collectives
};

std::string shape_name(const Setting& setting);
// Any of the shapes in `allowed`; how many ranks follows the dice, few jobs are large.
Setting draw_setting(std::uint64_t seed, Random& random, const std::vector<Shape>& allowed);

}  // namespace second
