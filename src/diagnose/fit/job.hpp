// Job: a run as the diagnosis sees it. Which steps count, where each rank is logically
// (stage, pipeline, transfer groups) and physically (node), and samples without holes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mfu/diagnose.hpp"
#include "mfu/timings.hpp"

namespace mfu::diagnosis {

// Ranks that take part in one collective, as indices into RunTimings::ranks.
struct Group {
  std::vector<std::size_t> ranks;
  int stage = 0;
  std::string name;
};

class Job {
 public:
  // Drops what cannot be used (steps that most ranks lack, ranks without samples), fills single
  // missing samples with the rank's own median, and notes both. `run` must outlive it.
  Job(const RunTimings& run, Notes& notes);
  Job(const RunTimings&& run, Notes& notes) = delete;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const RunTimings& run() const noexcept { return run_; }
  [[nodiscard]] std::size_t steps() const noexcept { return used_.size(); }
  [[nodiscard]] std::size_t ranks() const noexcept { return run_.ranks.size(); }
  [[nodiscard]] std::int64_t step_id(std::size_t s) const { return run_.steps[used_[s]]; }

  // Samples of used step s, one a rank, without holes.
  [[nodiscard]] std::span<const double> compute(std::size_t s) const { return row(*compute_, s); }
  [[nodiscard]] std::span<const double> comm(std::size_t s) const { return row(*comm_, s); }
  [[nodiscard]] std::span<const double> stall(std::size_t s) const { return row(*stall_, s); }
  // The rank's own values over the used steps, holes left out.
  [[nodiscard]] std::vector<double> series(const Column& column, std::size_t rank) const;
  // Row of any column of the run, holes as they are (NaN).
  [[nodiscard]] std::span<const double> raw(const Column& column, std::size_t s) const {
    return row(column, s);
  }

  // The job's step: the median over ranks of the rank's wall time (its `step`, or the sum of its
  // buckets). The ranks of a synchronous job agree except for the moment at which each reads its
  // clock.
  [[nodiscard]] const std::vector<double>& step_seconds() const noexcept { return step_seconds_; }
  [[nodiscard]] double mean_step() const noexcept { return mean_step_; }
  // Median over the steps of (largest - smallest) / median of the ranks' wall times.
  [[nodiscard]] double step_spread() const noexcept { return step_spread_; }

  // Leading steps that are not like the rest are left out from here on. See warmup.cpp.
  std::vector<std::int64_t> drop_warmup(Notes& notes);

  [[nodiscard]] int stages() const noexcept { return stages_; }
  [[nodiscard]] int stage_of(std::size_t rank) const { return stage_of_[rank]; }
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& stage_ranks() const noexcept {
    return stage_ranks_;
  }
  [[nodiscard]] int pipelines() const noexcept { return pipelines_; }
  [[nodiscard]] int pipeline_of(std::size_t rank) const { return pipeline_of_[rank]; }
  // Microbatches x model chunks a rank; 0 when the number of microbatches is not known.
  [[nodiscard]] double microbatch_chunks() const noexcept { return chunks_; }

  // Index into nodes(), -1: not known.
  [[nodiscard]] int node_of(std::size_t rank) const { return node_of_[rank]; }
  struct Node {
    std::string name;
    std::vector<std::size_t> ranks;
  };
  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }

  // Groups of ranks that differ in `axis` alone.
  [[nodiscard]] std::vector<Group> groups_along(Axis axis) const;

 private:
  [[nodiscard]] std::span<const double> row(const Column& column, std::size_t s) const {
    return column.row(used_[s]);
  }
  void place_ranks();
  void choose_steps(Notes& notes);
  void fill_holes(Notes& notes);
  void measure_steps();

  const RunTimings& run_;
  std::vector<std::size_t> used_;  // indices into run_.steps
  const Column* compute_;
  const Column* comm_;
  const Column* stall_;
  Column own_compute_, own_comm_, own_stall_;  // copies, only where holes were filled
  std::vector<double> step_seconds_;
  double mean_step_ = 0.0;
  double step_spread_ = 0.0;
  int stages_ = 1;
  int pipelines_ = 1;
  double chunks_ = 0.0;
  std::vector<int> stage_of_, pipeline_of_, node_of_;
  std::vector<std::vector<std::size_t>> stage_ranks_;
  std::vector<Node> nodes_;
};

// Ranks that the recorded layout should have: the product of the sizes, without the tensor-parallel
// axis where one rank of each tensor-parallel group was recorded; without sizes, hardware.count.
[[nodiscard]] std::int64_t expected_ranks(const RunTimings& run);
// One rank of several: its waiting for the others cannot be told from anything else.
[[nodiscard]] bool waits_unknown(const Job& job);

}  // namespace mfu::diagnosis
